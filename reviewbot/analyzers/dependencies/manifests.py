"""Read what a manifest asks for: the names of packages, and what it says of each."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from reviewbot.strict_json import a_dict, a_list


class Dependency(NamedTuple):
    """A package that a manifest asks for."""

    name: str
    spec: str
    """What it says of the version and the source, as one text."""


class Manifest(NamedTuple):
    """A kind of manifest: its ecosystem, and what reads it. It raises ValueError for a text that is none."""

    ecosystem: str
    read: Callable[[str], Iterator[Dependency]]


_REQUIREMENTS = re.compile(r"(?:^|/)(?:[\w.-]{0,60}requirements[\w.-]{0,60}|requirements/[\w.-]{1,60})\.(?:txt|in)$")
_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9][\w.-]{0,100})(?:\[[^\]]{0,100}\])?\s*([@=<>!~;].*|)$")
_GO = re.compile(
    r"^\s*(?:require\s+)?([\w.-]{1,80}\.[\w-]{1,20}/[^\s()]{1,200})\s+(v[^\s]{1,100})\s*(//.*)?$", re.MULTILINE
)
_GEM = re.compile(r"^\s*gem\s*\(?\s*[\"']([\w.-]{1,100})[\"']\s*(,(?:[^#\n]|#\{){0,400})?", re.MULTILINE)
_GEM_GOES_ON = re.compile(r",\s*\n\s*")


def manifest_of(path: str) -> Manifest | None:
    """The kind of manifest that a file of this name is."""
    name = path.rpartition("/")[2]
    found = _BY_NAME.get(name)
    return _BY_NAME["requirements.txt"] if found is None and _REQUIREMENTS.search(path) else found


def dependencies(manifest: Manifest, text: str | None) -> Mapping[str, Dependency]:
    """What a manifest asks for, by name; none where it cannot be read."""
    try:
        return {each.name: each for each in manifest.read(text or "")}
    except (ValueError, RecursionError):
        return {}


def _package_json(text: str) -> Iterator[Dependency]:
    table = json.loads(text)
    for section in ("dependencies", "devDependencies", "optionalDependencies"):
        yield from _pairs(a_dict(table).get(section))


def _pairs(table: object) -> Iterator[Dependency]:
    for name, spec in a_dict(table).items():
        yield Dependency(name, spec if isinstance(spec, str) else json.dumps(spec, default=str))


def _cargo(text: str) -> Iterator[Dependency]:
    table = tomllib.loads(text)
    for holder in (table, table.get("workspace"), *a_dict(table.get("target")).values()):
        for section in ("dependencies", "dev-dependencies", "build-dependencies"):
            for name, spec in _items(holder, section):
                real = spec.get("package", name) if isinstance(spec, dict) else name
                yield Dependency(str(real), spec if isinstance(spec, str) else json.dumps(spec, default=str))


def _pyproject(text: str) -> Iterator[Dependency]:
    table = tomllib.loads(text)
    project = table.get("project")
    lists = [each for _, each in (*_items(project, "optional-dependencies"), *_items(table, "dependency-groups"))]
    for listed in (a_dict(project).get("dependencies"), *lists):
        yield from _required(each for each in a_list(listed) if isinstance(each, str))
    poetry = dict(_items(table, "tool")).get("poetry")
    plain = _pairs(dict(_items(poetry, "dependencies")))
    yield from (each for each in plain if each.name != "python")
    for _, group in _items(poetry, "group"):
        yield from _pairs(a_dict(group).get("dependencies"))


def _items(table: object, key: str) -> Iterable[tuple[str, Any]]:
    return a_dict(a_dict(table).get(key)).items()


def _required(lines: Iterable[str]) -> Iterator[Dependency]:
    for line in lines:
        bare = line.partition(" #")[0]
        match = _REQUIREMENT.match(bare)
        if match:
            yield Dependency(match[1], match[2])
        elif re.match(r"\s*(?:-e\s+)?(?:git\+|https?://|git://)", bare):
            egg = re.search(r"#egg=([\w.-]+)|/([\w.-]+?)(?:\.git)?(?:@|$)", bare.strip())
            yield Dependency((egg[1] or egg[2]) if egg else bare.strip(), bare.strip())


def _gemfile(text: str) -> Iterator[Dependency]:
    for match in _GEM.finditer(_GEM_GOES_ON.sub(", ", text)):
        yield Dependency(match[1], match[2] or "")


def _go_mod(text: str) -> Iterator[Dependency]:
    replaced = "replace" in text
    for match in _GO.finditer(text):
        yield Dependency(match[1], f"{match[2]} {match[3] or ''}{' replace' if replaced else ''}")


_BY_NAME = {
    "package.json": Manifest("npm", _package_json),
    "Cargo.toml": Manifest("cargo", _cargo),
    "pyproject.toml": Manifest("pypi", _pyproject),
    "requirements.txt": Manifest("pypi", lambda text: _required(text.split("\n"))),
    "Gemfile": Manifest("gem", _gemfile),
    "go.mod": Manifest("go", _go_mod),
}
