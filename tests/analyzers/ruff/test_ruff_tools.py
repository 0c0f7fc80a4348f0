"""Ruff as one tool for each worker: what each says, of which lines, how sure, and what becomes of a failure."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from reviewbot.analyzers.catalog import all_tools
from reviewbot.analyzers.core.confinement import ProgramLimits
from reviewbot.analyzers.core.rules import packaged_rules
from reviewbot.analyzers.core.run import changed_file
from reviewbot.review.calibration import Calibration
from reviewbot.review.finding_limits import MAX_PER_RULE
from tests.make import seconds_until

if TYPE_CHECKING:
    from collections.abc import Callable

    from reviewbot.domain.contracts import Candidate, FileChange
    from reviewbot.domain.ports import Snapshot, ToolReport

    FileOf = Callable[..., FileChange]
    SnapshotOf = Callable[..., Snapshot]
    FakeRuff = Callable[[str], Path]

RUFF_TOOLS = ("ruff-security", "ruff-performance", "ruff-style", "ruff-logic")
NOWHERE = Path("/nonexistent/ruff")


def run(
    tool: str, change: FileChange, snapshot: Snapshot, ruff: Path | None = None, limits: ProgramLimits | None = None
) -> ToolReport:
    """A report whose confidences are the rules' own estimates, whatever has been counted since."""
    tools = all_tools(ruff=ruff, limits=limits, calibration=Calibration())
    return asyncio.run(tools[tool].run(changed_file([change], snapshot), snapshot))


def rules(report: ToolReport) -> list[str]:
    return [candidate.rule for candidate in report.candidates]


def only(report: ToolReport) -> Candidate:
    (candidate,) = report.candidates
    return candidate


DEFECTS = (
    "os.system('ping ' + host)",
    "yaml.load(text, Loader=yaml.Loader)",
    "token = random.random()",
    "def f(x=[]):\n    x.append(1)",
    "'%s %s' % (a,)",
    "breakpoint()",
    "async def f():\n    time.sleep(1)",
    "x = set(y for y in ys)",
    "x = list(ys)[0]",
    "x = '\\d'",
    "if x:\n\tif y:\n\t    z()",
)
"""Of each tool some; every rule has its pair of a defect and a near miss in `tests/pairs`."""


def test_no_tool_reports_a_rule_of_another(file_of: FileOf, bare: Snapshot) -> None:
    everything = file_of(*DEFECTS)

    told = {tool: rules(run(tool, everything, bare)) for tool in RUFF_TOOLS}

    assert {tool: sorted(codes) for tool, codes in told.items()} == {
        "ruff-security": ["S311", "S506", "S605"],
        "ruff-performance": ["ASYNC251", "C401", "RUF015"],
        "ruff-style": ["E101", "W605"],
        "ruff-logic": ["B006", "F507", "T100"],
    }


def test_a_candidate_says_all_that_is_known(file_of: FileOf, bare: Snapshot) -> None:
    candidate = only(run("ruff-security", file_of("     x = 1\n+    os.system('ping ' + x)", start=12), bare))

    assert candidate.model_dump(exclude_defaults=True) == {
        "severity": "critical",
        "path": "src/app.py",
        "quote": "os.system('ping ' + x)",
        "message": "Starting a process with a shell, possible injection detected",
        "confidence": packaged_rules("ruff_rules", Calibration()).rules["S605"].hunk_confidence,
        "source": "ruff-security",
        "category": "command-injection",
        "rule": "S605",
        "line": 13,
        "end_line": 13,
        "trigger": "A part of the command that comes from outside can start any other program.",
        "cwe": 78,
    }


def test_the_run_says_which_ruff_answered(file_of: FileOf, bare: Snapshot) -> None:
    report = run("ruff-logic", file_of("x = 1"), bare)

    assert report.run.tool == "ruff-logic"
    assert report.run.version.startswith("0.17.")
    assert report.run.exit_code == 0
    assert set(report.run.isolation) >= {"empty_folder", "scrubbed_environment", "time", "output"}
    assert report.gap is None


def test_only_added_lines_are_told(file_of: FileOf, bare: Snapshot) -> None:
    assert rules(run("ruff-security", file_of(" eval(a)\n-eval(b)\n+x = 1"), bare)) == []


def test_a_call_that_the_change_made_unsafe_is_told_on_its_added_line(file_of: FileOf, bare: Snapshot) -> None:
    candidate = only(run("ruff-security", file_of(" subprocess.run(\n     command,\n+    shell=True,\n )"), bare))

    assert (candidate.rule, candidate.line, candidate.end_line) == ("S602", 3, 4)


def test_an_added_line_beside_the_cause_is_not_blamed(file_of: FileOf, bare: Snapshot) -> None:
    assert rules(run("ruff-logic", file_of(" def f(\n     x=[],\n+    y=1,\n ):\n     return x"), bare)) == []


def test_an_added_line_far_down_in_a_call_is_not_blamed(file_of: FileOf, bare: Snapshot) -> None:
    between = "\n".join("     a," for _ in range(40))

    assert (
        rules(run("ruff-security", file_of(f" subprocess.run(\n     x, shell=True,\n{between}\n+    b,\n )"), bare))
        == []
    )


def test_a_statement_of_the_programs_own_words_is_not_told(file_of: FileOf, bare: Snapshot) -> None:
    marks = "marks = ','.join('?' * len(ids))"
    fixed = f'{marks}\nq = f"DELETE FROM orders WHERE id IN ({{marks}})"'
    named = 'q = f"DELETE FROM {quote_name(table)} WHERE id = ?"'
    both = f'{marks}\nq = f"DELETE FROM {{table}} WHERE id IN ({{marks}})"'

    told = [run("ruff-security", file_of(text), bare).candidates for text in (fixed, named, both)]

    assert [[(found.severity, found.confidence) for found in each] for each in told] == [
        [],
        [("warning", 40)],
        [("critical", 65)],
    ]


def test_a_statement_far_from_what_parses_is_told(file_of: FileOf, bare: Snapshot) -> None:
    broken = file_of('q = f"DELETE FROM t WHERE id = {key}"', "x = (((\n}}}")

    assert rules(run("ruff-security", broken, bare)) == ["S608"]


def test_a_name_whose_first_function_a_decorator_took_is_free_again(
    file_of: FileOf, snapshot_of: Callable[..., Snapshot]
) -> None:
    one = "@register\ndef one():\n    return 1\n"
    taken = f"from shop import register\n\n\n{one}\n\n{one}"
    lost = taken.replace("@register\n", "")

    told = [rules(run("ruff-logic", file_of(text), snapshot_of(text))) for text in (taken, lost)]

    assert told == [[], ["F811"]]


def test_a_command_that_is_one_literal_is_only_mentioned(file_of: FileOf, bare: Snapshot) -> None:
    candidate = only(run("ruff-security", file_of("os.system('ls -l')"), bare))

    assert (candidate.severity, candidate.confidence) == ("info", 40)


@pytest.mark.parametrize(
    ("tool", "line", "rule", "confidence"),
    [
        ("ruff-security", "mask_token = random.random()", "S311", 60),
        ("ruff-security", "word = random.choice(tokens)", "S311", 60),
        ("ruff-security", "x = hashlib.md5(password)", "S324", 75),
        ("ruff-security", "x = hashlib.md5(url)", "S324", 60),
        ("ruff-security", "x = hashlib.sha1(b'blob ' + design)", "S324", 60),
        ("ruff-security", "def sign(x): return hashlib.md5(x)", "S324", 75),
        ("ruff-security", "+def sign(x):\n+    return hashlib.md5(x)", "S324", 75),
        ("ruff-security", "+def name_of(x):\n+    return hashlib.md5(x)", "S324", 60),
        ("ruff-security", "TOKEN_URL = 'https://auth.example/token'", "S105", 30),
        ("ruff-security", "PASSWORD_FIELD = 'password'", "S105", 30),
        ("ruff-security", "password_hint = 'at least ten letters'", "S105", 30),
        ("ruff-security", "password = 'hunter2'", "S105", 60),
        ("ruff-security", "password: str = 'hunter2'", "S105", 60),
        ("ruff-security", "if password == 'hunter2': x = 1", "S105", 60),
        ("ruff-security", "etag = hashlib.md5(body).hexdigest()", "S324:named", 40),
        ("ruff-logic", "def f(at=datetime.now()): return at", "B008:named", 75),
        ("ruff-logic", "def f(limits=Limits()): return limits", "B008", 60),
        ("ruff-logic", "for x in xs: fs.append(lambda: x)", "B023:named", 75),
        ("ruff-logic", "for x in xs: retry(lambda: load(x))", "B023", 60),
        ("ruff-logic", "x = 'a' 'b'.strip('http://')", "PLE1310:named", 75),
        ("ruff-logic", "x = 'a' 'b'.strip('==')", "PLE1310", 60),
    ],
)
def test_a_word_on_the_line_tells_a_defect_from_what_is_right_more_often(
    file_of: FileOf, bare: Snapshot, tool: str, line: str, rule: str, confidence: int
) -> None:
    candidate = only(run(tool, file_of(line), bare))

    assert (candidate.rule, candidate.confidence) == (rule, confidence)


@pytest.mark.parametrize(
    ("tool", "line"),
    [
        ("ruff-security", "os.chmod(program, 0o755)"),
        ("ruff-security", "page = mako.template.Template(text, default_filters=['h'])"),
        ("ruff-security", "page = Markup(bleach.clean(text))"),
        ("ruff-logic", "import pdb"),
        ("ruff-logic", "__all__ = sorted(names)"),
        ("ruff-logic", "port = int(os.getenv('PORT', 8080))"),
        ("ruff-logic", "def f(db=Depends(connect())): return db"),
    ],
)
def test_an_idiom_silences_a_rule(file_of: FileOf, bare: Snapshot, tool: str, line: str) -> None:
    assert rules(run(tool, file_of(line), bare)) == []


def test_what_tests_compare_goes_nowhere_on_purpose(file_of: FileOf, snapshot_of: SnapshotOf) -> None:
    text = "def check():\n    a < b"

    assert "B015" in rules(run("ruff-logic", file_of(text), snapshot_of(text)))
    assert "B015" not in rules(run("ruff-logic", file_of(text, path="tests/test_a.py"), snapshot_of(text)))


def test_a_password_in_a_test_is_no_finding(file_of: FileOf, bare: Snapshot) -> None:
    line = "password = 'hunter2'"

    assert rules(run("ruff-security", file_of(line), bare)) == ["S105"]
    assert rules(run("ruff-security", file_of(line, path="tests/test_login.py"), bare)) == []


def test_an_undefined_name_is_told_on_whole_files_only(
    file_of: FileOf, bare: Snapshot, snapshot_of: SnapshotOf
) -> None:
    text = "x = missing"

    assert rules(run("ruff-logic", file_of(text), snapshot_of(text))) == ["F821"]
    assert rules(run("ruff-logic", file_of(text), bare)) == []


@pytest.mark.parametrize(
    ("text", "severity", "confidence"),
    [
        ("def size(self) -> 'sa': return 1", "warning", 60),
        ('x: "Missing" = 1', "warning", 60),
        ('x = f"{missing}"', "critical", 75),
        ('x = missing("missing")', "critical", 75),
    ],
)
def test_a_name_in_a_string_is_no_error_as_soon_as_the_line_runs(
    file_of: FileOf, snapshot_of: SnapshotOf, text: str, severity: str, confidence: int
) -> None:
    candidate = only(run("ruff-logic", file_of(text), snapshot_of(text)))

    assert (candidate.rule, candidate.severity, candidate.confidence) == ("F821", severity, confidence)


def test_a_rule_about_the_file_is_told_once(file_of: FileOf, bare: Snapshot) -> None:
    text = "\n".join("if x:\n\tif y:\n\t    z()" for _ in range(5))

    assert rules(run("ruff-style", file_of(text), bare)) == ["E101"]


@pytest.mark.parametrize(
    "text",
    [
        "eval(x)  # noqa",
        "eval(x)  # noqa: S307",
        "# ruff: noqa\neval(x)",
        "# ruff: noqa: S307\neval(x)",
        "# flake8: noqa\neval(x)",
        "eval(x)  # nosec",
        "# ruff: ignore[S307]\neval(x)",
        "# ruff: disable[S307]\neval(x)\n# ruff: enable[S307]",
    ],
)
def test_nothing_in_the_code_silences_a_rule(
    file_of: FileOf, bare: Snapshot, snapshot_of: SnapshotOf, text: str
) -> None:
    assert rules(run("ruff-security", file_of(text), bare)) == ["S307"]
    assert rules(run("ruff-security", file_of(text), snapshot_of(text))) == ["S307"]


@pytest.mark.parametrize("path", ["ruff.toml", "pyproject.toml", ".ruff.toml", "ast.py", "sysconfig.py", "conftest.py"])
def test_no_name_of_a_file_makes_it_a_configuration_or_a_module(
    file_of: FileOf, snapshot_of: SnapshotOf, path: str
) -> None:
    text = 'extend = "/proc/self/environ"\nexclude = ["**"]\neval(x)'

    assert rules(run("ruff-security", file_of(text, path=path), snapshot_of(text))) == ["S307"]


@pytest.mark.slow
def test_ten_thousand_findings_are_capped_and_the_rest_is_a_gap(file_of: FileOf, snapshot_of: SnapshotOf) -> None:
    text = "\n".join(["hashlib.md5(x)"] * 9_999 + ["eval(x)"])
    head = f"import hashlib\n{text}"

    report = run("ruff-security", file_of(text, start=2), snapshot_of(head))

    assert len(report.candidates) == MAX_PER_RULE + 1
    assert report.candidates[-1].rule == "S307"
    assert report.gap is not None
    assert report.gap.reason == "flooded"
    assert "10000 findings" in report.gap.message


def test_a_slice_that_adds_nothing_needs_no_run(file_of: FileOf, bare: Snapshot) -> None:
    report = run("ruff-security", file_of("-eval(x)\n x = 1"), bare, NOWHERE)

    assert (report.candidates, report.gap, report.run.version) == ((), None, "not run")


def test_a_broken_hunk_is_a_gap_that_says_what_helps(file_of: FileOf, bare: Snapshot) -> None:
    prose = "\n".join(f"no python here, line {number} of it" for number in range(20))

    report = run("ruff-security", file_of(prose, "eval(x)"), bare)

    assert rules(report) == ["S307"]
    assert report.gap is not None
    assert report.gap.reason == "unreadable"
    assert report.gap.message == (
        "1 of 2 hunks could not be read in full on their own; with --repo or --git the whole file is read"
    )


BROKEN = "def f(:\n    return eval(x)\n"


def test_a_file_that_does_not_parse_is_a_gap_that_names_the_line(file_of: FileOf, snapshot_of: SnapshotOf) -> None:
    report = run("ruff-security", file_of("     return eval(x)".replace(" ", "+", 1), start=2), snapshot_of(BROKEN))

    assert rules(report) == ["S307"]
    assert report.gap is not None
    assert report.gap.message.startswith("the file does not parse at line 1; only its hunks were read")


def test_a_file_that_the_change_broke_is_a_finding_of_one_tool(file_of: FileOf, snapshot_of: SnapshotOf) -> None:
    snapshot = snapshot_of(BROKEN, "def f():\n    return 1\n")
    told = {tool: run(tool, file_of(BROKEN.rstrip("\n")), snapshot).candidates for tool in RUFF_TOOLS}

    (broken,) = [
        candidate for candidates in told.values() for candidate in candidates if candidate.category == "syntax"
    ]
    assert (broken.source, broken.severity, broken.confidence) == ("ruff-logic", "critical", 90)
    assert (broken.line, broken.rule) == (1, "invalid-syntax")


@pytest.mark.parametrize(
    ("code", "base"),
    [(BROKEN.rstrip("\n"), None), (BROKEN.rstrip("\n"), "print 'two'\n"), (" def f(:\n+    return eval(x)", "x = 1\n")],
    ids=["a new file", "it was broken before", "the place was not added"],
)
def test_a_file_that_was_broken_anyway_is_only_a_gap(
    file_of: FileOf, snapshot_of: SnapshotOf, code: str, base: str | None
) -> None:
    report = run("ruff-logic", file_of(code), snapshot_of(BROKEN, base))

    assert report.candidates == ()
    assert report.gap is not None


@pytest.mark.parametrize("newer", ['x = f"{y["a"]}"', "type X = int", 'x = t"{y}"', "try: f()\nexcept A, B: pass"])
def test_newer_syntax_than_that_of_our_python_is_read(
    file_of: FileOf, bare: Snapshot, snapshot_of: SnapshotOf, newer: str
) -> None:
    text = f"{newer}\neval(z)"

    for snapshot in (bare, snapshot_of(text)):
        report = run("ruff-security", file_of(text), snapshot)
        assert (rules(report), report.gap) == (["S307"], None)
        assert "syntax" not in {c.category for c in run("ruff-logic", file_of(text), snapshot).candidates}


def test_a_secret_in_a_line_is_masked_in_its_quote(file_of: FileOf, bare: Snapshot) -> None:
    token = "ghp_" + "a1B2c3D4e5F6" * 3

    candidate = only(run("ruff-security", file_of(f"os.system('curl -H {token} ' + x)"), bare))

    assert candidate.quote == "os.system('curl -H ghp_**** ' + x)"


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("time.sleep(600)", "timeout"),
        ("os.abort()", "crashed"),
        ("while True: print('x' * 9999)", "flooded"),
        ("print('[{')", "bad_answer"),
    ],
)
def test_each_failure_of_ruff_is_a_named_gap_of_each_tool(
    file_of: FileOf, bare: Snapshot, fake_ruff: FakeRuff, body: str, reason: str
) -> None:
    tools = all_tools(ruff=fake_ruff(body), limits=ProgramLimits(seconds=seconds_until(reason), stdout_bytes=100_000))

    async def ask() -> list[ToolReport]:
        file = changed_file([file_of("eval(x)")], bare)
        return await asyncio.gather(*(tools[name].run(file, bare) for name in RUFF_TOOLS))

    for report, name in zip(asyncio.run(ask()), RUFF_TOOLS, strict=True):
        assert report.candidates == ()
        assert report.gap is not None
        assert (report.gap.reason, report.gap.tool, report.gap.path) == (reason, name, "src/app.py")
        assert report.run.version == "unknown"


def test_a_missing_ruff_is_a_gap(file_of: FileOf, bare: Snapshot) -> None:
    report = run("ruff-style", file_of("x = 1"), bare, NOWHERE)

    assert report.gap is not None
    assert report.gap.reason == "missing_program"


def test_what_ruff_says_is_kept_short_and_on_one_line(file_of: FileOf, bare: Snapshot, fake_ruff: FakeRuff) -> None:
    place = {"row": 2, "column": 1}
    item = {"code": "S307", "filename": "f0.py", "location": place, "end_location": {"row": 9, "column": 1}}
    answer = json.dumps([item | {"message": "two\nlines " + "x" * 5_000}, item | {"message": ""}])

    report = run("ruff-security", file_of("eval(x)"), bare, fake_ruff(f"print({answer!r})"))

    assert [len(candidate.message) for candidate in report.candidates] == [2_000, len("no message")]
    assert report.candidates[0].message.startswith("two lines x")
