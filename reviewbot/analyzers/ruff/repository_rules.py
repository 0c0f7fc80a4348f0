"""Report only the style rules that the reviewed repository selects in the ruff configuration of its base side.

The configuration is read as data: rules, and a few numbers. Without one no style rule is run.

A configuration may select whole families that no check enforces. So a few other files of the base side are read
(`KeptRules`): where they break a selected rule without a `noqa`, reports of it are trusted less.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from reviewbot.analyzers.core.changed_lines import ShownLines
from reviewbot.analyzers.core.confinement import ProgramLimits
from reviewbot.analyzers.core.preexisting import token_of
from reviewbot.analyzers.core.process import ProgramError, run_program
from reviewbot.analyzers.core.reports import cap_candidates, failed_report, gap, message_of, quote_of, report
from reviewbot.analyzers.core.single_flight import SharedRuns
from reviewbot.analyzers.python.reader import PythonReader
from reviewbot.analyzers.ruff.config import RuffConfig, Version, find_config, find_pin, parse_config, version_of
from reviewbot.analyzers.ruff.fixes import replacement_of
from reviewbot.analyzers.ruff.rule_selection import SELECTOR, RuleSelection, prefixes, select
from reviewbot.analyzers.ruff.run import RuffAnswer, RuffDiagnostic, RuffRunner
from reviewbot.diff.paths import is_test
from reviewbot.domain.contracts import Candidate, Gap, ToolRun
from reviewbot.domain.contracts.results import NOT_RUN
from reviewbot.domain.ports import ChangedFile, RepositorySnapshot, Snapshot, ToolReport
from reviewbot.fingerprint import digest_of
from reviewbot.tables import words_in
from reviewbot.threads import in_thread
from reviewbot.wording import with_count

_SAMPLE = 24
"""Files of one kind that are looked at."""

_MAX_CHARS = 200_000
"""Of one of them."""

_GROUPS_HELD = 64
_LAX = 5
"""Different rules that are broken in a few files: the selection is not enforced at all."""

_OTHERS_NEEDED = 3
"""With fewer other files nothing shows whether a rule is kept."""


class SeenRules(NamedTuple):
    """What was seen of the rules of one kind of file."""

    broken: frozenset[str]
    """Rules that are broken without being suppressed."""
    shown: bool
    """There were other files, enough to show which rules are kept."""


class KeptRules:
    """What the other files of a base side break, looked at once for each kind of file."""

    def __init__(self) -> None:
        self._groups: SharedRuns[SeenRules] = SharedRuns(_GROUPS_HELD)

    async def find_broken(
        self, runner: RuffRunner, selection: RuleSelection, file: ChangedFile, snapshot: Snapshot
    ) -> SeenRules:
        """The rules that the old side of a file, or files like it, break. Raises ProgramError."""
        read = file.base is not None and len(file.base) <= _MAX_CHARS
        own = (await runner.find_unsuppressed([file.base or ""]))[0] if read else frozenset[str]()
        top = file.path.removeprefix(selection.folder).partition("/")[0]
        key = f"{selection.label}\0{top}\0{is_test(file.path)}"
        others = await self._groups.get(key, lambda: self._of_others(runner, selection, file.path, snapshot))
        return SeenRules(own | others.broken, others.shown)

    async def _of_others(
        self, runner: RuffRunner, selection: RuleSelection, path: str, snapshot: Snapshot
    ) -> SeenRules:
        texts = await in_thread(lambda: _others(selection.folder, path, snapshot))
        if not texts:
            return SeenRules(frozenset(), shown=False)
        found = await runner.find_unsuppressed([*texts.values()])
        held = (codes & selection.codes_for(name) for name, codes in zip(texts, found, strict=True))
        broken = frozenset[str]().union(*held)
        # A repository that breaks so many does not enforce the rule, and breaks others elsewhere.
        return SeenRules(selection.codes if len(broken) >= _LAX else broken, shown=len(texts) >= _OTHERS_NEEDED)


def _others(folder: str, path: str, snapshot: Snapshot) -> dict[str, str]:
    """Some files of the base side that are like one: of its folder below the configuration, and tests as it is one."""
    names = snapshot.files() if isinstance(snapshot, RepositorySnapshot) else None
    top = path.removeprefix(folder).partition("/")
    beginning = folder + (f"{top[0]}/" if top[1] else "")
    like = [
        name
        for name in names or ()
        if name.endswith(".py") and name.startswith(beginning) and name != path and is_test(name) == is_test(path)
    ]
    step = max(1, len(like) // _SAMPLE)
    read = ((name, snapshot.base(name)) for name in like[::step][:_SAMPLE])
    return {name: text for name, text in read if text and len(text) <= _MAX_CHARS}


SELECTED_CONFIDENCE = 86
"""The repository chose the rule and ruff is exact about it; the rest is for options that are not passed on."""

UNSURE_CONFIDENCE = 60
"""They do not keep the rule themselves, wave it aside on this line, or set it in a file that is not read."""

_CONFIGS_HELD = 8
_MAX_REPORT_LINES = 30
"""Lines. A longer one is about a whole block, and an added line somewhere in it is not its cause."""

_NOT_OURS = words_in("names/ruff_options", "not_ours")
"""They need the file's own name, mode or neighbours, or count suppressions: ruff sees none of these."""

_NOT_IN_PACKAGES = frozenset({"F401", "F403", "F405", "F822"})
"""An `__init__.py` imports to hand on."""

_LOCAL = frozenset({"E5", "E7", "W291", "W293", "Q", "T20"})
"""What can be reported from a hunk alone: these rules look at a line and not around it."""

_WAVED = re.compile(r"#\s{0,9}noqa\b", re.IGNORECASE)


class _Asked(NamedTuple):
    """One configuration, understood, and ruff with its rules; None where it selects none of use."""

    selection: RuleSelection
    runner: RuffRunner | None
    sure: bool = False
    """The repository pins a ruff that reports the same rules in the same way."""


class RepositoryRules:
    """Ruff with the rules of the reviewed repository that no other tool has."""

    name = "repository-rules"
    languages: frozenset[str] | None = frozenset({"python"})

    def __init__(
        self,
        taken: Collection[str],
        program: Path | None,
        limits: ProgramLimits | None = None,
        reader: PythonReader | None = None,
    ) -> None:
        """`taken`: the rules that other tools report."""
        self._taken = frozenset(taken)
        self._program = program
        self._limits = limits or ProgramLimits()
        self._reader = reader or PythonReader()
        self._parse = lru_cache(_CONFIGS_HELD)(parse_config)
        self._kept = KeptRules()
        self._rules: SharedRuns[dict[str, Version]] = SharedRuns(1)
        self._asked: SharedRuns[_Asked] = SharedRuns(_CONFIGS_HELD)

    async def run(self, file: ChangedFile, snapshot: Snapshot) -> ToolReport:
        """Look at the added lines of a file of Python with the rules of its own repository."""
        path = file.path
        silent = ToolRun(tool=self.name, version=NOT_RUN, duration_ms=0)
        shown = ShownLines.of(file)
        config = await in_thread(lambda: find_config(snapshot, path, self._parse)) if shown else None
        if config is None:
            return report(path, silent)
        try:
            asked = await self._asked.get(
                digest_of(config.label, config.text), lambda: self._understood(config, snapshot)
            )
            codes = asked.selection.codes_for(path) - (
                _NOT_IN_PACKAGES if path.endswith("__init__.py") else frozenset()
            )
            if asked.runner is None or not codes:
                return report(path, silent)
            answer = await asked.runner.read(file)
            reports = [
                one for one in answer.reports if one.code in codes and (one.whole or prefixes(one.code) & _LOCAL)
            ]
            doubted = await self._doubted(asked.runner, asked, file, snapshot) if reports else frozenset()
        except ProgramError as error:
            return failed_report(self.name, path, error)
        candidates = (self._candidate(path, one, asked.selection, doubted, shown) for one in reports)
        found = await in_thread(lambda: cap_candidates(each for each in candidates if each is not None))
        return report(path, answer.run(self.name), found, self._missed(path, answer))

    async def _understood(self, config: RuffConfig, snapshot: Snapshot) -> _Asked:
        """A configuration and ruff with what it selects. Ruff is asked once for the rules that it has."""
        since = await self._rules.get("ruff", self._ask)
        pin = await in_thread(lambda: find_pin(snapshot, config))
        known = {code for code, version in since.items() if pin is None or not pin.is_before(version)}
        selection = select(config, known - self._taken - _NOT_OURS)
        if not selection.codes:
            return _Asked(selection, None)
        runner = RuffRunner(selection.codes, self._program, self._limits, self._reader, selection.options)
        bundled = max(since.values())
        return _Asked(selection, runner, sure=pin is not None and pin.is_like(bundled))

    async def _doubted(
        self, runner: RuffRunner, asked: _Asked, file: ChangedFile, snapshot: Snapshot
    ) -> Collection[str]:
        """The rules that the repository may not keep, or not in the way in which this ruff reports them."""
        seen = await self._kept.find_broken(runner, asked.selection, file, snapshot)
        return seen.broken if seen.shown or asked.sure else asked.selection.codes

    async def _ask(self) -> dict[str, Version]:
        """The stable rules of the installed ruff, each with the version that brought it."""
        if self._program is None:
            raise ProgramError("missing_program", "ruff is not installed")
        finished = await run_program(self._program, ("rule", "--all", "--output-format=json"), {}, limits=self._limits)
        try:
            stable = [rule for rule in json.loads(finished.stdout) if "Stable" in rule["status"]]
            return {
                rule["code"]: version_of(rule["status"]["Stable"]["since"])
                for rule in stable
                if SELECTOR.fullmatch(rule["code"])
            }
        except (ValueError, LookupError, TypeError, RecursionError):
            message = "ruff gave a list of rules that cannot be read"
            raise ProgramError("bad_answer", message, duration_ms=finished.duration_ms) from None

    def _candidate(
        self, path: str, found: RuffDiagnostic, selection: RuleSelection, doubted: Collection[str], shown: ShownLines
    ) -> Candidate | None:
        """A report on the first added line of it; None where the change added none."""
        numbers = (
            range(found.first, found.last + 1) if found.last - found.first <= _MAX_REPORT_LINES else (found.first,)
        )
        line = shown.first_added(numbers)
        if line is None:
            return None
        unsure = selection.inherits or found.code in doubted or _WAVED.search(line.text)
        return Candidate(
            severity="info",
            path=path,
            quote=quote_of(line.text),
            message=message_of(f"`{selection.label}` selects {found.code}: {found.message}"),
            confidence=UNSURE_CONFIDENCE if unsure else SELECTED_CONFIDENCE,
            source=self.name,
            category="repository-rule",
            rule=found.code,
            line=line.number,
            replacement=replacement_of(found.edits, line.number, [line.text]),
            at=found.first,
            token="" if found.part is None else token_of(found.part.text),
        )

    def _missed(self, path: str, answer: RuffAnswer) -> Gap | None:
        """The gap of a file that was not read to its end."""
        if answer.syntax is None and not answer.unread:
            return None
        unread = f"{with_count(answer.unread, 'hunk')} could not be parsed"
        why = unread if answer.syntax is None else "the file does not parse"
        return gap(path, self.name, "unreadable", f"{why} for the version of Python that the repository names")
