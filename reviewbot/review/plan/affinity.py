"""Measure how much the files of a change belong together: tests with what they test, imports, names, tables, topics.

Computed where plans are made, for changes of thousands of files: from paths, from the lines of the hunks, and from the
import statements of files that are at hand. No file is parsed.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from posixpath import basename, dirname

from reviewbot.diff.import_stems import import_stem, module_stem
from reviewbot.diff.paths import is_test
from reviewbot.domain.contracts import Payload
from reviewbot.review.plan.name_uses import name_uses
from reviewbot.tables import words_in

TEST, NAMES, IMPORT, TOPIC = 4_000, 960, 480, 240
"""Weights of links, the strongest first. All but the first are divided by how many files share them: what many files
use belongs to none of them."""

MAX_MEANT = 20
"""Changed files that one import may mean, or one test by its name; of more it means none."""
MAX_ENDS = 12
"""Folders from the end of a path by which a module is looked for; a hostile path may have two thousand."""
MAX_OF_TOPIC = 8
"""Files with a word in common, beyond which it is no topic."""
MAX_IMPORT_CHARS = 20_000
"""Of a text in which imports are looked for; they stand at its top."""
MIN_TOPIC = 4
"""Characters of a word that may be a topic."""

Links = Mapping[tuple[str, str], int]
"""By pair of paths in alphabetical order: how much they belong together."""

SCRIPT = frozenset({"javascript", "jsx", "typescript", "tsx"})
_MIGRATION = re.compile(r"(?:^|/)(?:migrations?|migrate|alembic)/|\.sql$", re.IGNORECASE)
_PYTHON = re.compile(
    r"^[ +]?[ \t]{0,20}(?:from[ \t]{1,4}(?P<module>[.\w]{1,200})[ \t]{1,4}import[ \t]{0,4}"
    r"(?P<names>\([^)]{0,2000}\)|[^\n#(]{1,300})|import[ \t]{1,4}(?P<modules>[\w., \t]{1,300}))",
    re.MULTILINE,
)
_SCRIPT = re.compile(r"""(?:\bfrom[ \t]?|\bimport[ \t]?\(?|\brequire\()[ \t]?["']([^"'\n]{1,200})["']""")
_GO = re.compile(
    r'^[ +]?[ \t]{0,20}(?:import[ \t]{1,4})?(?:[\w.]{1,80}[ \t]{1,4})?"([\w.~/-]{1,200})"[ \t\r]*$', re.MULTILINE
)
_AFFIXES = re.compile(r"^(?:[Tt]est|[Ss]pec)s?[_-]|[_-](?:test|spec)s?$|(?<=[a-z0-9])(?:Test|Spec)s?$")
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_TABLE = re.compile(
    r"^[+-].{0,200}?(?:\btable(?:_name)?\b|\breferences\b|\bmodel_name\b|\bname\b|\binto\b|\bupdate\b|\bfrom\b)"
    r"[^\w\n]{1,6}(?:if not exists )?[\"'`\[]?(\w{4,80})",
    re.MULTILINE | re.IGNORECASE,
)
_NO_TOPICS = words_in("names/plans", "no_topics")
"""Words that say which layer a file belongs to and not which feature."""


@dataclass(frozen=True)
class FileShape:
    """What is known of a changed file."""

    path: str
    language: str
    slices: tuple[Payload, ...]
    imports: tuple[str, ...] = ()
    """Modules as its text names them; of Python also with what it takes from them, which may be modules as well."""


def modules_in(text: str, language: str) -> tuple[str, ...]:
    """What a text imports: a whole file, or the marked lines of a hunk."""
    top = text[:MAX_IMPORT_CHARS]
    if language == "python":
        return tuple(dict.fromkeys(_python_modules(top)))
    if language == "go":
        return tuple(dict.fromkeys(_GO.findall(top.partition("\nfunc ")[0])))
    return tuple(dict.fromkeys(_SCRIPT.findall(top))) if language in SCRIPT else ()


def links_between(files: Sequence[FileShape]) -> Links:
    """All links of a change."""
    links: defaultdict[tuple[str, str], int] = defaultdict(int)
    for one, other, weight in (*_tests(files), *_name_links(files), *_imports(files), *_topics(files)):
        if one != other and weight:
            links[min(one, other), max(one, other)] += weight
    return links


def name_under_test(path: str) -> str:
    """The name of a file without its suffixes and without what makes it the test of another, in lower case."""
    return _AFFIXES.sub("", _bare_name(path)).lower()


Link = tuple[str, str, int]


def _tests(files: Sequence[FileShape]) -> Iterator[Link]:
    """Each test with the file whose name it has; of several the one whose folders are most like its own."""
    sources: defaultdict[str, list[str]] = defaultdict(list)
    for file in files:
        if not is_test(file.path):
            sources[name_under_test(file.path)].append(file.path)
    for file in files:
        found = sources.get(name_under_test(file.path), []) if is_test(file.path) else []
        if 0 < len(found) <= MAX_MEANT:
            folders = set(dirname(file.path).split("/"))
            best = min(found, key=lambda path: (-len(folders.intersection(dirname(path).split("/"))), path))
            yield file.path, best, TEST


def _name_links(files: Sequence[FileShape]) -> Iterator[Link]:
    slices = [each for file in files for each in file.slices]
    for use in name_uses(slices):
        users = {slices[ref.at].file_path for ref in use.uses}
        definers = {slices[ref.at].file_path for ref in use.definitions}
        for user in users:
            for definer in definers:
                yield user, definer, NAMES // (len(users) * len(definers))


def _imports(files: Sequence[FileShape]) -> Iterator[Link]:
    modules = _Modules(files)
    packages: defaultdict[str, list[str]] = defaultdict(list)
    for file in files:
        if file.language == "go":
            packages[dirname(file.path)].append(file.path)
    importers: defaultdict[str, set[str]] = defaultdict(set)
    for file in files:
        for module in file.imports:
            found = _of_package(module, packages) if file.language == "go" else modules.find(module, file)
            for path in found if len(found) <= MAX_MEANT else ():
                importers[path].add(file.path)
    for path, paths in importers.items():
        yield from ((path, other, IMPORT // len(paths)) for other in paths)


class _Modules:
    """The changed files of Python and TypeScript by their stems, and by each end of them: "cart" for shop/cart.py."""

    def __init__(self, files: Iterable[FileShape]) -> None:
        self._by_stem: defaultdict[str, list[str]] = defaultdict(list)
        self._by_end: defaultdict[str, list[str]] = defaultdict(list)
        for file in files:
            if file.language == "python" or file.language in SCRIPT:
                stem = module_stem(file.path)
                self._by_stem[stem].append(file.path)
                last = stem.split("/")[-MAX_ENDS:]
                for at in range(len(last)):
                    self._by_end["/".join(last[at:])].append(file.path)

    def find(self, module: str, file: FileShape) -> list[str]:
        """The files that a module may be which a file imports."""
        wanted, exact = import_stem(module, file.path, file.language)
        if exact:
            return self._by_stem.get(wanted, [])
        if "/" in wanted or module.startswith(("@/", "~/")):
            return self._by_end.get(wanted, [])
        # A bare name is most often a library; ours is it at the top, or beside the file that imports it.
        here = dict.fromkeys((wanted, f"{dirname(file.path)}/{wanted}".lstrip("/"), f"src/{wanted}"))
        return [path for stem in here for path in self._by_stem.get(stem, ())]


def _of_package(module: str, packages: Mapping[str, list[str]]) -> list[str]:
    """The changed files of a package of Go: those of the longest folder with which the module's path ends."""
    end = module
    while end:
        if end in packages:
            return packages[end]
        end = end.partition("/")[2]
    return []


def _topics(files: Sequence[FileShape]) -> Iterator[Link]:
    """Files with a word in common that few files have: in their names, and in the tables of migrations."""
    by_word: defaultdict[str, set[str]] = defaultdict(set)
    for file in files:
        words = set(_words(_bare_name(file.path))) | set(_words(basename(dirname(file.path))))
        if _MIGRATION.search(file.path):
            words.update(word for each in file.slices for name in _TABLE.findall(each.code) for word in _words(name))
        for word in words - _NO_TOPICS:
            by_word[word].add(file.path)
    for paths in by_word.values():
        if len(paths) <= MAX_OF_TOPIC:
            yield from ((one, other, TOPIC // len(paths)) for one, other in combinations(sorted(paths), 2))


def _python_modules(text: str) -> Iterator[str]:
    for match in _PYTHON.finditer(text):
        if match["module"]:
            module = match["module"]
            for name in re.findall(r"\w+", re.sub(r"\bas\s+\w+", "", match["names"])):
                yield f"{module}{name}" if module.endswith(".") else f"{module}.{name}"
            yield module
        else:
            yield from (each.split()[0] for each in match["modules"].split(",") if each.strip())


def _words(name: str) -> Iterator[str]:
    """The words of a name, in lower case and the singular."""
    for word in _WORDS.findall(name):
        plain = word.lower()
        if len(plain) >= MIN_TOPIC:
            yield plain[:-3] + "y" if plain.endswith("ies") else plain.removesuffix("s")


def _bare_name(path: str) -> str:
    return basename(path).partition(".")[0] or basename(path)
