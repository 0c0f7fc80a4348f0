"""The tool: what a change adds to a manifest, held against popular names and the lock file beside it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

from reviewbot.analyzers.core.changed_lines import ChangedLine, added_lines
from reviewbot.analyzers.core.reports import RepositoryScan, rule_candidate
from reviewbot.analyzers.core.rules import Rule
from reviewbot.analyzers.dependencies.checks import (
    follows_a_branch,
    imitated,
    is_fetched_in_the_clear,
    locked_as_before,
    unlocked_in,
)
from reviewbot.analyzers.dependencies.entry_points import missing_entry_points
from reviewbot.analyzers.dependencies.lock_files import odd_entries
from reviewbot.analyzers.dependencies.manifests import Dependency, Manifest, dependencies, manifest_of
from reviewbot.diff.paths import is_example, is_test
from reviewbot.domain.contracts import Candidate
from reviewbot.domain.ports import ChangedFile, Snapshot
from reviewbot.strict_json import a_dict
from reviewbot.tables import packaged_table

NAME = "dependencies"


class AddedDependencies(RepositoryScan):
    """Reports dependencies that a change adds to a manifest, and steps that run when it is installed."""

    name = NAME

    def find_candidates(self, file: ChangedFile, snapshot: Snapshot) -> Iterator[Candidate]:
        """As `RepositoryScan.find_candidates`."""
        for code, name, what, entry in odd_entries(file):
            yield rule_candidate(self._rules[code], file.path, entry, _said(self._rules[code], name, what))
        if file.head is None or is_test(file.path) or is_example(file.path) or _is_copied(file.path):
            return
        yield from self._check_entry_points(file, snapshot)
        manifest = manifest_of(file.path)
        if manifest is None:
            return
        before = dependencies(manifest, file.base)
        # In a Cargo.toml a name alone on its line switches a feature on.
        lines = tuple(
            line for line in added_lines(file) if manifest.ecosystem != "cargo" or re.search(r"[=\[]", line.text)
        )
        behind = 0
        for name, each in dependencies(manifest, file.head).items():
            line = _line_of(name, each.spec, lines)
            if line is not None and before.get(name) != each:
                for code, what in _check_dependency(manifest, each, before, file, snapshot):
                    behind += code == "lock-file-behind"
                    if code == "lock-file-behind" and behind > 1:
                        continue  # one command writes the whole lock file again
                    yield rule_candidate(rule := self._rules[code], file.path, line, _said(rule, name, what))
        if manifest.ecosystem == "npm":
            yield from self._check_install_steps(file, lines)

    def _check_entry_points(self, file: ChangedFile, snapshot: Snapshot) -> Iterator[Candidate]:
        rule = self._rules["entry-point-missing"]
        for entry, other in missing_entry_points(file, snapshot):
            line = next((each for each in added_lines(file) if f'"{entry}"' in each.text), None)
            if line is not None:
                yield rule_candidate(rule, file.path, line, _said(rule, entry, other))
                return  # the others are missing in the same way

    def _check_install_steps(self, file: ChangedFile, lines: tuple[ChangedLine, ...]) -> Iterator[Candidate]:
        hooks = packaged_table("dependencies")["hooks"]
        before, after = _scripts(file.base), _scripts(file.head)
        for step in hooks["names"]:
            does = after.get(step)
            line = _line_of(step, "", lines)
            if not does or does == before.get(step) or line is None:
                continue
            fetches = re.search(hooks["fetches"], does)
            if fetches or not re.search(hooks["usual"], does):
                rule = self._rules["install-step-fetches" if fetches else "install-step"]
                yield rule_candidate(rule, file.path, line, _said(rule, step, ""))


def _check_dependency(
    manifest: Manifest,
    dependency: Dependency,
    before: Mapping[str, Dependency],
    file: ChangedFile,
    snapshot: Snapshot,
) -> Iterator[tuple[str, str]]:
    """Yield the rules that a dependency breaks, each with what its message names beside the dependency."""
    is_new = dependency.name not in before
    if is_new and (meant := imitated(manifest.ecosystem, dependency.name)):
        yield "name-of-another", meant
    if is_fetched_in_the_clear(dependency):
        yield "fetched-in-the-clear", ""
    elif follows_a_branch(dependency):
        yield "follows-a-branch", ""
    # An application may have no lock file of requirements: that format pins by itself.
    elif is_new and not file.path.endswith((".txt", ".in")):
        kept = [each for name, each in dependencies(manifest, file.head).items() if before.get(name) == each]
        lock = unlocked_in(manifest.ecosystem, dependency, kept, file.path, snapshot.head)
        if lock:
            yield "not-in-lock-file", lock
    elif not is_new:
        lock = locked_as_before(manifest.ecosystem, before[dependency.name], dependency, file.path, snapshot.head)
        if lock:
            yield "lock-file-behind", lock


def _is_copied(path: str) -> bool:
    """Whether a manifest belongs to a copy of another project: nothing installs from it."""
    return re.search(r"(?:^|/)(?:vendor|vendors|node_modules|third_party|plugins?)/", path) is not None


def _said(rule: Rule, name: str, what: str) -> str:
    return rule.message.replace("{}", name[:100]).replace("{what}", what[:200])


def _line_of(name: str, spec: str, lines: tuple[ChangedLine, ...]) -> ChangedLine | None:
    """The added line that names a dependency, that with its version before others."""
    named = re.compile(rf"(?<![\w./@-]){re.escape(name)}(?![\w.-]*/|[\w-])")
    found = [line for line in lines if named.search(line.text) or (spec and line.text.strip() == spec)]
    return next(
        (line for line in found if spec and spec.split(maxsplit=1)[0] in line.text), found[0] if found else None
    )


def _scripts(text: str | None) -> Mapping[str, str]:
    try:
        table = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return {}
    return {name: does for name, does in a_dict(a_dict(table).get("scripts")).items() if isinstance(does, str)}
