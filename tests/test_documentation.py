"""The documents: every link leads somewhere, every path and command in them exists, every snippet can be read."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

import pytest
from markdown_it import MarkdownIt
from ruamel.yaml import YAML

from reviewbot.cli.arguments import build_parser
from reviewbot.config.providers import TIERS
from reviewbot.domain.errors import ExitCode
from reviewbot.hosts.registry import name_forms
from reviewbot.report.formats import FORMATS
from reviewbot.tables import packaged_table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markdown_it.token import Token

ROOT = Path(__file__).parent.parent
DOCUMENTS = sorted(
    path.relative_to(ROOT).as_posix()
    for pattern in ("*.md", "docs/**/*.md", "tests/*.md", "examples/**/*.md")
    for path in ROOT.glob(pattern)
)
HISTORY = ("CHANGELOG.md", "docs/decisions/")
"""They speak of what was there at their time."""
CURRENT = [name for name in DOCUMENTS if not name.startswith(HISTORY)]
PLACEHOLDERS = ("OWNER", "TOOL", "NAME", "DIR", "FILE", "<", "*", "...", "{")
NOT_HERE = {
    "workers/license.toml": "the worker that the page adds",
    "prompts/license.md": "the same",
    "reviewbot/trees": "below the cache folder of the machine",
}
PARSER = cache(build_parser)
_PATH = re.compile(r"[A-Za-z0-9_.-]+(?:/[A-Za-z0-9_.-]+)*/?")
_FOLDERS = ("reviewbot", "docs", "tests", "prompts", "workers", "benchmarks", "examples")


@cache
def tokens_of(name: str) -> tuple[Token, ...]:
    """A document's tokens of Markdown, those inside of paragraphs as well."""
    found: list[Token] = []
    for token in MarkdownIt("commonmark").enable("table").parse((ROOT / name).read_text(encoding="utf-8")):
        found += [token, *(token.children or ())]
    return tuple(found)


@cache
def anchors_of(name: str) -> frozenset[str]:
    """The anchors that GitHub gives to the headings of a document."""
    tokens = tokens_of(name)
    titles = [tokens[at + 1].content for at, token in enumerate(tokens) if token.type == "heading_open"]
    slugs = [re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles]
    return frozenset(
        slug if slugs[:at].count(slug) == 0 else f"{slug}-{slugs[:at].count(slug)}" for at, slug in enumerate(slugs)
    )


def links_of(name: str) -> Iterator[str]:
    """Targets of links and images."""
    for token in tokens_of(name):
        target = token.attrGet("href") or token.attrGet("src")
        if target is not None:
            yield str(target)


def broken_link(name: str, target: str) -> str:
    """Why a link leads nowhere; empty where it does, or where it leaves the repository."""
    if re.match(r"[a-z]+:", target):
        return ""
    path, _, anchor = unquote(target).partition("#")
    place = (ROOT / name).parent / path if path else ROOT / name
    if not place.exists():
        return f"{target}: there is no such file"
    inside = place.resolve().relative_to(ROOT).as_posix()
    if anchor and anchor not in anchors_of(inside):
        return f"{target}: {inside} has no such heading"
    return ""


def missing_path(name: str, code: str) -> str:
    """The path of this repository that inline code of a document names and that does not exist; empty where none is."""
    if code in NOT_HERE or ((ROOT / name).parent / code).exists():
        return ""
    if not _PATH.fullmatch(code) or any(each in code for each in PLACEHOLDERS):
        return ""
    first = code.split("/", maxsplit=1)[0]
    if first in _FOLDERS and "/" in code:
        return "" if (ROOT / code).exists() else code
    is_module = code.endswith(".py") and "/" in code
    return "" if not is_module or (ROOT / "reviewbot" / code).exists() else code


def commands_of(name: str) -> Iterator[list[str]]:
    """Each call of reviewbot in a block of code."""
    for token in tokens_of(name):
        if token.type in ("fence", "code_block") and token.info.strip() not in (
            "python",
            "toml",
            "yaml",
            "json",
            "mermaid",
        ):
            for line in token.content.replace("\\\n", " ").splitlines():
                yield from _calls(line)


def _calls(line: str) -> Iterator[list[str]]:
    command = re.split(r"\s{2,}#|\s#\s", line)[0]
    for part in re.split(r"\||&&|;", command):
        try:
            words = shlex.split(part)
        except ValueError:
            continue
        if words[:1] == ["$"]:
            words = words[1:]
        if words[:1] == ["reviewbot"] and "..." not in words:
            yield words[1 : words.index(">")] if ">" in words else words[1:]


def unusable(words: list[str]) -> bool:
    """Whether the command line refuses the words of a call."""
    try:
        PARSER().parse_args(words)
    except SystemExit as error:
        return bool(error.code)
    except Exception:  # noqa: BLE001 - whatever the parser raises for wrong arguments
        return True
    return False


@pytest.mark.parametrize("name", DOCUMENTS)
def test_links_lead_to_files_and_headings(name: str) -> None:
    assert [problem for target in links_of(name) if (problem := broken_link(name, target))] == []


@pytest.mark.parametrize("name", CURRENT)
def test_paths_in_the_text_exist(name: str) -> None:
    codes = [token.content for token in tokens_of(name) if token.type == "code_inline"]
    assert [missing for code in codes if (missing := missing_path(name, code))] == []


@pytest.mark.parametrize("name", CURRENT)
def test_commands_are_accepted_by_the_command_line(name: str) -> None:
    assert [words for words in commands_of(name) if unusable(words)] == []


@pytest.mark.parametrize("name", CURRENT)
def test_snippets_can_be_parsed(name: str) -> None:
    for token in tokens_of(name):
        language = token.info.strip() if token.type == "fence" else ""
        if language == "toml":
            tomllib.loads(token.content)
        elif language == "yaml":
            YAML(typ="safe").load(token.content)
        elif language == "json":
            json.loads(token.content)
        elif language == "python":
            compile(token.content, name, "exec")


def missing_in_packages(text: str) -> list[str]:
    """What a row of the table of packages names and its packages, or the folders in the row, do not have."""
    missing = []
    for row in text.partition("## Packages")[2].partition("\n## ")[0].splitlines():
        cells = [re.findall("`([^`]+)`", cell) for cell in row.strip("|").split("|", maxsplit=1)]
        named = [each for cell in cells for each in cell if _PATH.fullmatch(each) and each.endswith(("/", ".py"))]
        roots = [ROOT, ROOT / "reviewbot", *(ROOT / "reviewbot" / package for package in cells[0])]
        roots += [root / each for root in roots for each in named if each.endswith("/")]
        missing += [each for each in named if not any((root / each).exists() for root in roots)]
    return missing


def test_the_table_of_packages_names_what_the_packages_have() -> None:
    page = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    assert page.count("\n| `") > 20
    assert missing_in_packages(page) == []
    table = "## Packages\n| `hosts/` | `github/`, `base.py`, `none.py`, `none/` |\n\n## Next"
    assert missing_in_packages(table) == ["none.py", "none/"]


def unknown_modules(text: str) -> list[str]:
    """Modules of the product, and names in them, that a text has in backticks and that do not exist."""
    unknown = [
        name
        for name in re.findall(r"`((?:[a-z_]+/)*[a-z_]+\.py)`", text)
        if not any(f"/{path}".endswith(f"/{name}") for path in modules())
    ]
    for dotted in re.findall(r"`(reviewbot(?:\.[A-Za-z_]+)+)`", text):
        parts = dotted.split(".")
        at = next(at for at in range(len(parts), 0, -1) if "/".join(parts[:at]) in modules().values())
        source = next(path for path, module in modules().items() if module == "/".join(parts[:at]))
        if parts[at:] and not re.search(rf"\b{parts[at]}\b", (ROOT / source).read_text(encoding="utf-8")):
            unknown.append(dotted)
    return unknown


@cache
def modules() -> dict[str, str]:
    """The path of each module of the product, with its name (`reviewbot/config`)."""
    paths = (path.relative_to(ROOT).as_posix() for path in (ROOT / "reviewbot").rglob("*.py"))
    return {path: path.removesuffix(".py").removesuffix("/__init__") for path in paths}


def test_modules_that_docstrings_name_exist() -> None:
    named = {path: unknown for path in modules() if (unknown := unknown_modules((ROOT / path).read_text("utf-8")))}
    assert named == {}
    text = "`run.py`, `none.py`, `reviewbot.config.load`, `reviewbot.coverage.none_of` and `.reviewbot.toml`"
    assert unknown_modules(text) == ["none.py", "reviewbot.coverage.none_of"]


def test_the_checks_see_what_is_wrong() -> None:
    assert broken_link("README.md", "docs/none.md") == "docs/none.md: there is no such file"
    assert broken_link("README.md", "README.md#none") == "README.md#none: README.md has no such heading"
    assert missing_path("README.md", "review/none.py") == "review/none.py"
    assert missing_path("README.md", "docs/none.md") == "docs/none.md"
    assert unusable(["review", "--none"])
    assert not unusable(["review", "--git", "HEAD"])
    assert list(_calls("git diff | reviewbot review -   # a comment")) == [["review", "-"]]


def codes_of(name: str, beginning: str) -> set[str]:
    """What stands in backticks on the one line of a document that begins in this way."""
    lines = [line for line in (ROOT / name).read_text(encoding="utf-8").splitlines() if line.startswith(beginning)]
    assert len(lines) == 1
    return set(re.findall("`([^`]+)`", lines[0].removeprefix(beginning)))


def test_the_readme_names_each_format_and_no_other() -> None:
    assert codes_of("README.md", "| `--format F` |") == set(FORMATS)


def test_the_readme_names_each_command() -> None:
    named = re.findall(r"^\| .*$", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    commands = {word for row in named for word in re.findall(r"`reviewbot ([a-z-]+)", row.split(" | ")[0])}

    assert commands | {"review"} == {row["name"] for row in packaged_table("commands")["command"]}


def test_the_readme_names_each_exit_code() -> None:
    table = (ROOT / "README.md").read_text(encoding="utf-8").partition("| exit code | |\n")[2].partition("\n\n")[0]

    assert {int(row.split(" | ")[0].strip("| ")) for row in table.splitlines()[1:]} == set(map(int, ExitCode))


def test_the_readme_names_a_pull_request_as_each_host_does() -> None:
    named = codes_of("README.md", "| `--pr PR` |")

    assert {form for form in re.findall(r"\S+#NUMBER", name_forms()) if form not in named} == set()


def test_the_page_on_configuration_names_each_tier() -> None:
    assert codes_of("docs/configuration.md", "The tiers are names:") == set(TIERS)
