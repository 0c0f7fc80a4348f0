"""`reviewbot eval` and `reviewbot calibrate`: how good the reviews are on labelled cases."""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import os
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from reviewbot import __version__, wiring
from reviewbot.cli.flags import flags_of
from reviewbot.cli.output.writing import say
from reviewbot.cli.running import run_to_end
from reviewbot.config import Settings
from reviewbot.domain.errors import ExitCode, InputError
from reviewbot.domain.ports import Journal
from reviewbot.evaluate.labelled import claim_key, labelled_claims, read_hand_labels
from reviewbot.evaluate.labels import Case, CaseLabels, judge, list_cases, matches, read_labels, read_text
from reviewbot.evaluate.model_fit import (
    MIN_CHANGES,
    MIN_CLAIMS,
    has_enough,
    measure,
    render_reliability,
    render_tables,
    replace_tables,
)
from reviewbot.evaluate.results import ResultsFile, open_results, read_rows
from reviewbot.evaluate.rows import Json, plan_fields, review_fields, worker_fields
from reviewbot.evaluate.rule_counts import STAGE, count, render_table
from reviewbot.evaluate.runner import failures, run_cases
from reviewbot.report.progress import Progress
from reviewbot.report.text import one_line
from reviewbot.review.calibration import Calibration, read_calibration
from reviewbot.review.model_calibration import ModelTables, read_model_tables
from reviewbot.wording import with_count

SHOWN_FAILURES = 5
"""Lines on standard error; all of them are in the results."""

_TRIAL = b"--- a/a\n+++ b/a\n@@ -1 +1 @@\n-a\n+b\n"
"""The least that can be reviewed: settings that cannot work are found out before the first case and not in each."""


@dataclass(frozen=True)
class Way:
    """How the cases are reviewed. It is sent to other processes, so it holds texts and no tables."""

    stage: str
    engine: str | None = None
    script: Path | None = None
    calibration: str | None = None
    """The text of the table in place of the packaged one."""
    baseline: wiring.Baseline | None = None
    """One request with the whole change in place of each review."""
    flags: tuple[tuple[str, object], ...] = ()
    """Settings that were said on the command line."""
    repository: Path | None = None
    """Whose settings and workers count in place of those beside each case."""


def eval_command(arguments: argparse.Namespace) -> int:
    """`reviewbot eval`."""
    for name in ("jobs", "limit"):
        if (number := getattr(arguments, name)) is not None and number < 1:
            raise InputError(f"--{name} must be 1 or more, not {number}")
    cases = list_cases(arguments.cases, arguments.group or (), arguments.limit)
    calibration = None if arguments.calibration is None else _table(arguments.calibration)
    way = _way(arguments, calibration)
    run = _digest(way)
    with open_results(arguments.out, run, fresh=arguments.fresh) as results:
        left = [case for case in cases if case.key not in results.done]
        _run(left, way, arguments.jobs or os.cpu_count() or 1, results)
        wanted = {case.key for case in cases}
        rows = [row for row in results.rows if row["case"] in wanted]
    summary = f"{_summary(rows, kept=len(cases) - len(left))}{_labels_found(rows, cases) if arguments.check else ''}"
    sys.stdout.write(f"{summary}; written to {one_line(str(arguments.out))}\n")
    failed = failures(rows)
    for line in failed[:SHOWN_FAILURES]:
        say(line)
    if len(failed) > SHOWN_FAILURES:
        say(f"and {len(failed) - SHOWN_FAILURES} more")
    return ExitCode.INCOMPLETE if failed else ExitCode.REVIEWED


def _way(arguments: argparse.Namespace, calibration: str | None) -> Way:
    """Models are asked, and paid, only where that was said: a folder of cases is no single review."""
    unsaid = "models" if arguments.baseline else "analyzers"
    return Way(
        stage=arguments.stage,
        engine=arguments.engine or (None if arguments.script else unsaid),
        script=arguments.script,
        calibration=calibration,
        baseline=arguments.baseline,
        flags=tuple((key, value) for key, value in flags_of(arguments).items() if value is not None),
        repository=arguments.repo,
    )


def calibrate_command(arguments: argparse.Namespace) -> int:
    """`reviewbot calibrate`."""
    cases = {case.key: case for folder in arguments.cases for case in list_cases(folder)}
    groups = {case.group for case in cases.values()}
    wanted, left_out = set(arguments.group or groups), set(arguments.leave_out or ())
    if unknown := sorted((wanted | left_out) - groups):
        raise InputError(f"there is no group {unknown[0]!r}; known: {', '.join(sorted(groups))}")
    rows = [row for path in arguments.results for row in read_rows(path)]
    # The group of a case is the first half of its key; what is in no folder is an error when it is counted.
    used = [row for row in rows if row["case"].partition("/")[0] in wanted - left_out or row["case"] not in cases]
    failed = failures(used)
    labels = {row["case"]: read_labels(cases[row["case"]].folder) for row in used if row["case"] in cases}
    if arguments.models:
        types = arguments.type
        rows = [
            {**row, "findings": [each for each in row["findings"] if not types or each.get("type") in types]}
            for row in used
            if "error" not in row
        ]
        return _calibrate_models(arguments, rows, labels)
    counts = count((row for row in used if "error" not in row), labels, arguments.type or ())
    _write(arguments.out, render_table(counts, datetime.now(UTC).date().isoformat()))
    summary = f"{with_count(len(counts.rows), 'row')} counted in {with_count(len(used) - len(failed), 'case')}"
    say(f"{summary}, {len(failed)} that failed left out")
    return ExitCode.REVIEWED


def _calibrate_models(arguments: argparse.Namespace, rows: Sequence[Json], labels: Mapping[str, CaseLabels]) -> int:
    """`reviewbot calibrate --models`: the reliability tables, and with --out the maps that rest on enough claims."""
    hands = {} if arguments.judged is None else read_hand_labels(arguments.judged)
    known = {claim_key(row["case"], finding) for row in rows for finding in row["findings"]}
    if lost := sum(key not in known for key in hands):
        say(f"no claim in these results for {with_count(lost, 'label')} of {one_line(str(arguments.judged))}")
    found = labelled_claims(rows, labels, hands, arguments.truth or (), arguments.worth or ())
    if not found:
        raise InputError("no claim of a model in these results has a label; see --truth, --worth and --judged")
    date = datetime.now(UTC).date().isoformat()
    tables = [measure(key, found[key], date) for key in sorted(found)]
    sys.stdout.write(render_reliability(tables))
    kept = [table for table in tables if has_enough(table)]
    if arguments.out is None:
        return ExitCode.REVIEWED
    if not kept:
        raise InputError(
            f"nothing was written: a table needs {MIN_CLAIMS} claims with labels, of {MIN_CHANGES} changes"
        )
    earlier = _model_tables(arguments.out) if arguments.out.exists() else ModelTables()
    _write(arguments.out, render_tables(replace_tables(earlier, kept)))
    few = len(tables) - len(kept)
    say(f"{with_count(len(kept), 'table')} written, {few} left out: under {MIN_CLAIMS} claims or {MIN_CHANGES} changes")
    return ExitCode.REVIEWED


def review_case(way: Way, case: Case) -> Json:
    """The fields of one case's row, as the command line would review it. Raises InputError."""
    began = time.perf_counter()
    subject, around = _subject(case)
    subject = _configured(way, subject)
    settings = _settings(way, subject)
    with ExitStack() as closing:
        # What a model has answered is paid for: the next time the same is asked it stands in the journal.
        journal = closing.enter_context(wiring.open_journal(os.environ)) if settings.engine == "models" else None
        run = _setup(way, subject, settings, journal)
        if way.stage == "plan":
            fields = plan_fields(run_to_end(partial(run.setup.planner.plan, subject.change)))
        else:
            answer = run_to_end(partial(run.review, subject.change))
            fields = (worker_fields if way.stage == "workers" else review_fields)(answer, run.trace.events)
    spent = round(time.perf_counter() - began, 3)
    return {"engine": run.engine, "stage": way.stage, "around": around, "seconds": spent, **fields}


def _subject(case: Case) -> tuple[wiring.Subject, str]:
    """The change with what is around it, and what that is: the folder that it fits, or nothing."""
    data = case.diff()
    for folder in case.sides():
        try:
            found, around = wiring.from_diff(data, folder), folder.name
        except InputError:
            continue  # a file that is missing there, for instance because it is too large to be kept
        break
    else:
        found, around = wiring.from_diff(data, None), "nothing"
    return dataclasses.replace(found, change=found.change.model_copy(update=case.words())), around


def _configured(way: Way, subject: wiring.Subject) -> wiring.Subject:
    """The subject with the repository that configures every case, where one was named. Raises InputError."""
    return subject if way.repository is None else dataclasses.replace(subject, base=wiring.tree_of(way.repository))


def _settings(way: Way, subject: wiring.Subject) -> Settings:
    return wiring.settings_for(subject.base, os.environ, {**dict(way.flags), "engine": way.engine})


def _setup(way: Way, subject: wiring.Subject, settings: Settings, journal: Journal | None = None) -> wiring.PreparedRun:
    # What is counted are the rules' own estimates: a table would be counted on what another one made of them.
    unsaid = Calibration() if way.stage == STAGE else None
    table = unsaid if way.calibration is None else read_calibration(way.calibration)
    inputs = wiring.RunInputs(script=way.script, calibration=table, environ=os.environ, baseline=way.baseline)
    return wiring.setup(subject, settings, inputs, journal=journal)


def _run(cases: Sequence[Case], way: Way, jobs: int, results: ResultsFile) -> None:
    progress = Progress(sys.stderr, os.environ)
    progress.on_event({"event": "plan_made", "total": len(cases)})

    def begin(case: Case) -> None:
        progress.on_event({"event": "task_started", "task_id": case.key})

    def end(row: Json) -> None:
        results.add(row)
        event = "task_failed" if "error" in row else "task_finished"
        progress.on_event({"event": event, "task_id": row["case"]})

    try:
        run_cases(cases, partial(review_case, way), min(jobs, max(1, len(cases))), begin, end)
    finally:
        progress.close()


def _digest(way: Way) -> str:
    """Equal exactly where a row of one run may stand in another: same code, rules, settings and way."""
    subject = _configured(way, wiring.from_diff(_TRIAL, None))
    settings = _settings(way, subject)
    run = _setup(way, subject, settings)
    parts = [__version__, run.run_id, way.stage, way.calibration or "", repr(settings)]
    digest = hashlib.sha256("\0".join(parts).encode("utf-8", "replace"))
    package = Path(wiring.__file__).parent
    for path in sorted(path for kind in ("py", "toml") for path in package.rglob(f"*.{kind}")):
        digest.update(path.relative_to(package).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def _summary(rows: Sequence[Json], *, kept: int) -> str:
    findings = sum(len(row["findings"]) for row in rows)
    with_gaps = sum(bool(row.get("gaps")) for row in rows)
    failed = len(failures(rows))
    cases = f"{with_count(len(rows), 'case')} ({kept} from before)"
    return f"{cases}, {with_gaps} with gaps, {failed} failed; {with_count(findings, 'finding')}"


def _labels_found(rows: Sequence[Json], cases: Sequence[Case]) -> str:
    """How many labelled defects the shown findings name, in words. Raises InputError for labels that cannot be read."""
    folders = {case.key: case.folder for case in cases}
    defects = found = beside = 0
    for row in rows:
        shown = [finding for finding in row["findings"] if finding["place"] == "shown"]
        labels = read_labels(folders[row["case"]])
        known = [golden for golden in labels.goldens if golden.counted and golden.checkable]
        defects += len(known)
        found += sum(any(matches(finding, golden) for finding in shown) for golden in known)
        beside += judge(shown, labels).count("false")
    return f"; {found} of {with_count(defects, 'labelled defect')} found, {with_count(beside, 'finding')} beside them"


def _table(path: Path) -> str:
    text = read_text(path)
    try:
        read_calibration(text)
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError) as error:
        raise InputError(f"{path} is no table of calibration: {error}") from None
    return text


def _model_tables(path: Path) -> ModelTables:
    try:
        return read_model_tables(read_text(path))
    except ValueError as error:
        raise InputError(f"{path} holds no tables of models: {error}") from None


def _write(path: Path | None, text: str) -> None:
    if path is None:
        sys.stdout.write(text)
        return
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}") from None
