"""Pairs of code, one wrong and one right and as alike as possible, read from TOML and reviewed by the product itself.

Every rule has at least one. `<<<` at the end of a line marks where a finding is expected and never reaches a review.
"""

from __future__ import annotations

import asyncio
import difflib
import re
import tomllib
from collections import defaultdict
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Literal, NamedTuple

from reviewbot import wiring
from reviewbot.config import load_settings
from reviewbot.domain.contracts import Finding
from reviewbot.review.combine.dedupe import ALSO
from reviewbot.review.pipeline import review

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from reviewbot.domain.contracts import Gap, Review

FOLDER = Path(__file__).parent

DEFAULT_PATH = "src/app.py"

CERTAIN = 80
"""From here on a finding is posted without anything that confirms it."""

Side = Literal["wrong", "right"]
SIDES: tuple[Side, ...] = ("wrong", "right")

_MARK = re.compile(r"[ \t]*(?://|#) <<<$")
_FAKE = re.compile(r"\{fake:([a-z-]+)\}")
_FAKES = {
    "anthropic": "sk-" + "ant-" + "api03-a1B2c3D4e5F6g7H8",
    "aws": "AK" + "IA" + "Q3EGRIT5W2LMB7ZD",
    "conflict-base": "|" * 7,
    "conflict-begin": "<" * 7,
    "conflict-end": ">" * 7,
    "conflict-middle": "=" * 7,
    "github": "gh" + "p_" + "a1B2c3D4e5F6" * 3,
    "github-fine": "github" + "_pat_" + "11A1B2C3D4E5F6G7H8I9J0",
    "gitlab": "glp" + "at-" + "a1B2c3D4e5F6g7H8i9J0",
    "google": "AI" + "za" + "Sya1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q",
    "hugging-face": "h" + "f_" + "a1B2c3D4e5F6" * 3,
    "key-begin": "-----BEGIN EC PRIVATE" + " KEY-----",
    "key-end": "-----END EC PRIVATE" + " KEY-----",
    "key-line": "MHcCAQEEIA1B2C3D4E5F6G7H8I9J0K1L2M3N4O5P6Q7R8S9T0U1V2W3X4Y5Z6a7b",
    "npm": "np" + "m_" + "a1B2c3D4e5F6" * 3,
    "openai": "sk-" + "proj-" + "a1B2c3D4e5F6g7H8" * 3,
    "pypi": "pypi-" + "AgE" + "a1B2c3D4e5F6g7H8" * 3,
    "random": "q8W3e7R2" + "t6Y1u5I9",
    "sendgrid": "S" + "G." + "a1B2c3D4e5F6g7H8i9J0k1" + "." + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0u1V",
    "slack": "xo" + "xb-" + "1203456789-a1B2c3D4e5F6",
    "slack-hook": "hooks.slack" + ".com/services/" + "T1A2B3C4D/B5E6F7G8H/i9J0k1L2m3N4o5P6q7R8s9T0",
    "stripe": "sk" + "_live_" + "a1B2c3D4e5F6g7H8",
}
"""What `{fake:NAME}` in a pair stands for. Put together here, so that no scanner takes the pairs for a leak."""


@dataclass(frozen=True)
class Pair:
    """One pair. `marks` are the 1-based lines of `wrong` on which a finding of `rule` is expected."""

    tool: str
    worker: str
    group: str
    """The name of the file that it stands in, without its ending."""
    rule: str
    name: str
    wrong: str
    right: str
    marks: tuple[int, ...]
    path: str = DEFAULT_PATH
    usual_path: str = DEFAULT_PATH
    """The name that the pairs of its file have where they say no other."""
    right_path: str = ""
    """The name of the file that is right, for rules about names; empty: the same name."""
    base: str = ""
    """The text of the file before the change; empty for a new file."""
    others: Mapping[str, str] = field(default_factory=dict)
    """Files of the repository that the change leaves alone, by path."""
    bare: bool = False
    """The diff is reviewed on its own, without the files around it: some rules are for that alone."""

    @property
    def alone(self) -> bool:
        """Whether it is reviewed on its own: it has a past, neighbours or a name of its own."""
        return self.path != self.usual_path or self.bare or bool(self.base or self.others)

    def path_of(self, side: Side) -> str:
        """The name of the file of one side."""
        return (side == "right" and self.right_path) or self.path

    def text(self, side: Side) -> str:
        """The new side of its file."""
        return self.wrong if side == "wrong" else self.right


class Change(NamedTuple):
    """One changed file."""

    path: str
    base: str
    head: str


@dataclass(frozen=True)
class Answer:
    """What the product said of one side of one pair, wherever in the review it said it."""

    findings: tuple[Finding, ...]
    gaps: tuple[Gap, ...]

    def of_rule(self, pair: Pair) -> tuple[Finding, ...]:
        """The findings of the pair's rule, also where another tool's rule speaks for both."""
        return tuple(f for f in self.findings if _is_of(pair, f))


def read_pairs(path: Path) -> list[Pair]:
    """The pairs of one file. Raises ValueError where two have one name, or where marks are missing or misplaced."""
    table = tomllib.loads(path.read_text("utf-8"))
    pairs = []
    for entry in table["pair"]:
        wrong, marks = _unmarked(entry["wrong"])
        right, none = _unmarked(entry["right"])
        if not marks or none or wrong == right:
            raise ValueError(f"{path.name}: {entry['name']!r} needs marks in what is wrong, and none in what is right")
        own = {key: entry[key] for key in entry if key not in {"rule", "name", "wrong", "right"}}
        own |= {"base": _expanded(own.get("base", ""))}
        usual = table.get("path", DEFAULT_PATH)
        known = {"tool": table["tool"], "worker": table["worker"], "group": path.stem, "path": usual}
        texts = {"wrong": wrong, "right": right, "marks": marks, "usual_path": usual}
        pair = Pair(rule=entry["rule"], name=entry["name"], **texts, **{**known, **own})
        pairs.append(pair)
    if len({pair.name for pair in pairs}) < len(pairs):
        raise ValueError(f"{path.name}: two pairs have one name")
    return pairs


def all_pairs() -> dict[str, list[Pair]]:
    """The pairs of every file, by the file's name."""
    return {path.stem: read_pairs(path) for path in sorted(FOLDER.glob("*.toml"))}


def tables() -> tuple[str, ...]:
    """The names of all tables of rules that come with the package."""
    folder = files("reviewbot") / "data" / "rules"
    return tuple(sorted(entry.name.removesuffix(".toml") for entry in folder.iterdir() if entry.name.endswith(".toml")))


def answers(pairs: Sequence[Pair]) -> dict[tuple[str, Side], Answer]:
    """What the product says of both sides of some pairs, by the pair's name; one review for all that have no past."""
    together: list[Change] = []
    places: dict[str, tuple[str, Side]] = {}
    found: dict[tuple[str, Side], Answer] = {}
    for number, pair in enumerate(pairs):
        for side in SIDES:
            if pair.alone:
                path = pair.path_of(side)
                told = reviewed([Change(path, pair.base, pair.text(side))], pair.others, bare=pair.bare)
                found[pair.name, side] = told[path]
            else:
                path = f"src/{side}_{number}{Path(pair.path).suffix}"
                places[path] = (pair.name, side)
                together.append(Change(path, "", pair.text(side)))
    for path, answer in (reviewed(together, {}) if together else {}).items():
        found[places[path]] = answer
    return found


def reviewed(changes: Sequence[Change], others: Mapping[str, str], *, bare: bool = False) -> dict[str, Answer]:
    """One review of some files without a model, beside the folder as it was before or `bare`; its answer by path."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        before = {change.path: change.base for change in changes if change.base} | dict(others)
        for path, text in before.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(text.encode())
        subject = wiring.from_diff("".join(map(diff_of, changes)).encode(), None if bare else folder)
        settings = load_settings(None, {}, {"engine": "analyzers", "max_findings": 1_000})
        run = wiring.setup(subject, settings)
        told = asyncio.run(review(subject.change, run.setup))
    findings: dict[str, list[Finding]] = defaultdict(list)
    for finding in everything(told):
        findings[finding.path].append(finding)
    gaps = {change.path: tuple(gap for gap in told.gaps if gap.path == change.path) for change in changes}
    return {path: Answer(tuple(findings[path]), missed) for path, missed in gaps.items()}


def everything(told: Review) -> Iterable[Finding]:
    """Every finding of a review: shown, withheld, for a person, in conflict."""
    yield from told.findings
    yield from (entry.finding for entry in told.withheld)
    yield from (item.finding for item in told.human if item.finding is not None)
    yield from (finding for conflict in told.conflicts for finding in conflict.findings)


def diff_of(change: Change) -> str:
    """The unified diff of one file, as git writes it."""
    old, new = (_lines(text) for text in (change.base, change.head))
    kind = "" if change.base else "new file mode 100644\n"
    source = f"a/{change.path}" if change.base else "/dev/null"
    body = "".join(difflib.unified_diff(old, new, source, f"b/{change.path}"))
    return f"diff --git a/{change.path} b/{change.path}\n{kind}{body}"


def true_findings(pair: Pair, findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Those of the wrong side that stand on a marked line or right beside it, or whose way leads over one."""
    near = {mark + step for mark in pair.marks for step in (-1, 0, 1)}
    return tuple(f for f in findings if near & {*range(f.line, f.end_line + 1), *f.also})


def certain(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Those that would be posted."""
    return tuple(f for f in findings if f.confidence >= CERTAIN)


def _is_of(pair: Pair, finding: Finding) -> bool:
    """Whether a finding is one of the pair's rule, or one of another tool or rule with which that one was merged."""
    own = finding.rule == pair.rule or finding.rule.startswith(f"{pair.rule}:")
    return pair.tool in finding.sources and (own or len(finding.sources) > 1 or ALSO in finding.message)


def _unmarked(text: str) -> tuple[str, tuple[int, ...]]:
    lines = _expanded(text).split("\n")
    marks = tuple(number for number, line in enumerate(lines, 1) if _MARK.search(line))
    return "\n".join(_MARK.sub("", line) for line in lines), marks


def _expanded(text: str) -> str:
    return _FAKE.sub(lambda found: _FAKES[found[1]], text)


def _lines(text: str) -> list[str]:
    lines = [f"{line}\n" for line in text.split("\n")]
    return (
        lines[:-1] if text.endswith("\n") or not text else [*lines[:-1], lines[-1] + "\\ No newline at end of file\n"]
    )
