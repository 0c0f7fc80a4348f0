"""One run of ruff for a slice: what it is given, what it may answer, and where its reports land."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import types
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from reviewbot.analyzers.core.confinement import ProgramLimits
from reviewbot.analyzers.core.process import ProgramError
from reviewbot.analyzers.core.run import changed_file
from reviewbot.analyzers.ruff.run import FLAGS, RuffAnswer, RuffRunner, find_ruff
from tests.make import one_fast, seconds_until

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from reviewbot.domain.contracts import FileChange
    from reviewbot.domain.ports import Snapshot

    FileOf = Callable[..., FileChange]
    SnapshotOf = Callable[..., Snapshot]
    FakeRuff = Callable[[str], Path]

CANARY = "CANARY-51c0de"
RECORD = """
folder = pathlib.Path(sys.argv[-1])
note = {{"argv": sys.argv[1:], "files": {{p.name: p.read_text() for p in folder.iterdir()}}}}
with open({log!r}, "a") as log:
    log.write(json.dumps(note) + "\\n")
print("[]")
"""


def read(
    change: FileChange, snapshot: Snapshot, program: Path | None = None, *, limits: ProgramLimits | None = None
) -> RuffAnswer:
    runner = RuffRunner(["S102", "S307", "S605"], program or find_ruff(), limits)
    return asyncio.run(runner.read(changed_file([change], snapshot)))


def found(answer: RuffAnswer) -> list[tuple[str, int]]:
    return [(report.code, report.first) for report in answer.reports]


def failure(change: FileChange, snapshot: Snapshot, program: Path, limits: ProgramLimits | None = None) -> ProgramError:
    with pytest.raises(ProgramError) as caught:
        read(change, snapshot, program, limits=limits)
    return caught.value


def test_the_installed_ruff_is_found() -> None:
    program = find_ruff()

    assert program is not None
    assert program.is_absolute()


def test_the_target_version_is_the_newest_that_the_installed_ruff_knows() -> None:
    program = find_ruff()
    assert program is not None
    answer = subprocess.run([program, "check", "--target-version=x"], capture_output=True, text=True, check=False)

    values = answer.stderr.split("possible values: ")[1].split("]")[0].split(", ")

    assert f"--target-version={values[-1]}" in FLAGS


def test_a_bare_hunk_is_read_on_its_own(file_of: FileOf, bare: Snapshot) -> None:
    answer = read(file_of("     x = 1\n+    eval(x)\n     return x", start=40), bare)

    assert found(answer) == [("S307", 41)]
    assert (answer.hunks, answer.unread, answer.syntax) == (1, 0, None)
    assert not answer.reports[0].whole


def test_each_hunk_keeps_its_own_lines(file_of: FileOf, bare: Snapshot) -> None:
    hunks = ["+    eval(x)", "+        return exec(y)\n     z = 2", *["+eval(z)"] * 10]

    answer = read(file_of(*hunks, start=7), bare)

    assert found(answer) == [("S307", 7), ("S102", 1007), *(("S307", 7 + 1000 * number) for number in range(2, 12))]


def test_the_whole_file_is_read_where_the_snapshot_has_it(file_of: FileOf, snapshot_of: SnapshotOf) -> None:
    head = "from os import system as go\n\n\ndef f(x):\n    go('ping ' + x)\n"

    answer = read(file_of("     go('ping ' + x)".replace(" ", "+", 1), start=5), snapshot_of(head))

    assert found(answer) == [("S605", 5)]
    assert answer.reports[0].whole
    assert answer.hunks == 0


def test_a_file_of_another_commit_is_not_trusted(file_of: FileOf, snapshot_of: SnapshotOf) -> None:
    stale = "# one line more\nx = 1\neval(x)\n"

    answer = read(file_of("x = 1\neval(x)"), snapshot_of(stale))

    assert found(answer) == [("S307", 2)]
    assert answer.hunks == 1


def test_a_file_that_does_not_parse_has_its_hunks_read_instead(file_of: FileOf, snapshot_of: SnapshotOf) -> None:
    head = "print 'old'\n\n\ndef f(x):\n    return eval(x)\n"

    answer = read(file_of(" def f(x):\n+    return eval(x)", start=4), snapshot_of(head))

    assert found(answer) == [("S307", 5)]
    assert answer.syntax is not None
    assert answer.syntax.first == 1
    assert (answer.hunks, answer.unread) == (1, 0)


def test_a_hunk_that_cannot_be_repaired_is_counted(file_of: FileOf, bare: Snapshot) -> None:
    prose = "\n".join(f"no python here, line {number} of it" for number in range(20))

    answer = read(file_of(prose, "eval(x)"), bare)

    assert (answer.hunks, answer.unread) == (2, 1)
    assert found(answer) == [("S307", 1001)]


def test_a_hunk_that_lost_an_added_line_is_counted_and_still_read(file_of: FileOf, bare: Snapshot) -> None:
    answer = read(file_of("eval(x)\nand so on, it says"), bare)

    assert (answer.hunks, answer.unread) == (1, 1)
    assert found(answer) == [("S307", 1)]


def test_newer_syntax_than_this_python_knows_is_read(file_of: FileOf, bare: Snapshot, snapshot_of: SnapshotOf) -> None:
    text = 'lazy import os\nx = t"{y}"\ntry:\n    eval(y)\nexcept A, B:\n    pass'

    assert ("S307", 4) in found(read(file_of(text), bare))
    assert ("S307", 4) in found(read(file_of(text), snapshot_of(text + "\n")))


@pytest.mark.parametrize(
    ("head", "line"),
    [
        ("x = 1\r\neval(x)\r\n", 2),
        ("x = 1\ry = 2\neval(x)\n", 2),
        ("\ufeffx = 1\neval(x)\n", 2),
        ("x = 1\n\x0c\neval(x)\n", 3),
        ("x = '\u2028'\neval(x)\n", 2),
        ("x = 1\neval(x)", 2),
    ],
    ids=["CRLF", "lone CR", "BOM", "form feed", "line separator", "no newline at the end"],
)
def test_lines_are_counted_by_line_feeds_alone(
    file_of: FileOf, bare: Snapshot, snapshot_of: SnapshotOf, head: str, line: int
) -> None:
    change = file_of(head.removesuffix("\n"))

    assert found(read(change, snapshot_of(head))) == [("S307", line)]
    assert found(read(change, bare)) == [("S307", line)]


def test_a_nul_is_a_place_that_does_not_parse(file_of: FileOf, snapshot_of: SnapshotOf) -> None:
    head = "x = 1\n\0\neval(x)\n"

    answer = read(file_of(head.removesuffix("\n")), snapshot_of(head))

    assert answer.syntax is not None
    assert answer.syntax.first == 2


@pytest.mark.parametrize("path", ["../../etc/passwd", "ruff.toml", "-rf.py", "a b\nc.py", "x\0.py", "pyproject.toml"])
def test_no_name_of_the_change_reaches_the_disk_or_the_command_line(
    file_of: FileOf, bare: Snapshot, fake_ruff: FakeRuff, tmp_path: Path, path: str
) -> None:
    log = tmp_path / "log"

    read(file_of("x = 1", "y = 2", path=path), bare, fake_ruff(RECORD.format(log=str(log))))

    (note,) = [json.loads(line) for line in log.read_text().splitlines()]
    assert sorted(note["files"]) == ["f0.py", "f1.py"]
    assert path not in json.dumps(note["argv"])
    assert tuple(note["argv"][:8]) == FLAGS


def test_a_stub_is_read_as_a_stub(file_of: FileOf, bare: Snapshot, fake_ruff: FakeRuff, tmp_path: Path) -> None:
    log = tmp_path / "log"

    read(file_of("x: int", path="a/b.pyi"), bare, fake_ruff(RECORD.format(log=str(log))))

    assert list(json.loads(log.read_text())["files"]) == ["f0.pyi"]


def test_ruff_runs_once_for_all_who_ask_about_a_file(
    file_of: FileOf, bare: Snapshot, fake_ruff: FakeRuff, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    runner = RuffRunner(["S307"], fake_ruff(RECORD.format(log=str(log))))

    async def ask() -> None:
        one, other = (changed_file([file_of(text)], bare) for text in ("x = 1", "x = 2"))
        await asyncio.gather(*(runner.read(one) for _ in range(4)))
        await runner.read(one)
        await runner.read(other)

    asyncio.run(ask())

    assert len(log.read_text().splitlines()) == 2


def test_files_that_wait_for_ruff_are_read_together_and_have_the_reports_that_each_has_alone(
    file_of: FileOf, bare: Snapshot, snapshot_of: SnapshotOf
) -> None:
    texts = ["eval(x)", "x = 1\nexec(x)", "no python, I am afraid", "import os\nos.system(x)\neval(x)", "x = 1"]
    bodies = [(file_of(text, path=f"src/{n}.py"), bare) for n, text in enumerate(texts)]
    bodies += [(file_of(text, path=f"lib/{n}.py"), snapshot_of(text + "\n")) for n, text in enumerate(texts)]
    bodies += [(file_of("def f(x: int) -> int: ...\neval(x)", path="a.pyi"), bare)]
    files = [changed_file([file], snapshot) for file, snapshot in bodies]

    async def together() -> list[RuffAnswer]:
        runner = RuffRunner(["S102", "S307", "S605"], find_ruff())
        return list(await asyncio.gather(*map(runner.read, files)))

    def plain(answer: RuffAnswer) -> RuffAnswer:
        # The code that a report is about compares by the text it stands in; times are never the same.
        return replace(answer, duration_ms=0)

    assert [plain(each) for each in asyncio.run(together())] == [plain(read(*each)) for each in bodies]


def test_many_files_need_few_starts_of_ruff(
    file_of: FileOf, bare: Snapshot, fake_ruff: FakeRuff, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    runner = RuffRunner(["S307"], fake_ruff(RECORD.format(log=str(log))))

    async def ask() -> None:
        files = [changed_file([file_of(f"x = {number}")], bare) for number in range(40)]
        await asyncio.gather(*map(runner.read, files))

    asyncio.run(ask())

    notes = [json.loads(line) for line in log.read_text().splitlines()]
    read_once = sorted(text.split("x = ")[-1] for note in notes for text in note["files"].values())
    assert read_once == sorted(f"{number}\n" for number in range(40))
    assert len(notes) <= 10


@pytest.mark.parametrize(
    "body", one_fast(["sys.exit(2)", "time.sleep(600)", "while True: print('x' * 9999)", "print('[{')"])
)
def test_a_file_that_ruff_fails_on_costs_the_files_beside_it_nothing(
    file_of: FileOf, bare: Snapshot, fake_ruff: FakeRuff, body: str
) -> None:
    texts = "''.join(p.read_text() for p in pathlib.Path(sys.argv[-1]).iterdir())"
    program = fake_ruff(f"if 'poison' in {texts}:\n    {body}\nelse:\n    print('[]')")
    seconds = 5 if "sleep" in body else 120  # the files beside it have to be read within it
    runner = RuffRunner(["S307"], program, ProgramLimits(seconds=seconds, stdout_bytes=100_000))

    async def ask() -> list[RuffAnswer | BaseException]:
        files = [changed_file([file_of("poison = 1" if n == 4 else f"x = {n}")], bare) for n in range(9)]
        return await asyncio.gather(*map(runner.read, files), return_exceptions=True)

    answers = asyncio.run(ask())

    assert [number for number, each in enumerate(answers) if isinstance(each, ProgramError)] == [4]


def test_a_run_that_failed_is_tried_again(file_of: FileOf, bare: Snapshot, fake_ruff: FakeRuff, tmp_path: Path) -> None:
    flag = tmp_path / "flag"
    body = f"flag = pathlib.Path({str(flag)!r})\nif not flag.exists():\n    flag.touch()\n    sys.exit(2)\nprint('[]')"
    runner = RuffRunner(["S307"], fake_ruff(body))

    with pytest.raises(ProgramError):
        asyncio.run(runner.read(changed_file([file_of("x = 1")], bare)))

    assert asyncio.run(runner.read(changed_file([file_of("x = 1")], bare))).reports == ()


ITEM = {
    "code": "S307",
    "message": "m",
    "filename": "/x/f0.py",
    "location": {"row": 2, "column": 1},
    "end_location": {"row": 2, "column": 5},
}
ODD_ANSWERS = {
    "broken": "[{",
    "empty": "",
    "not a list": '{"a": 1}',
    "a list of numbers": "[1]",
    "deep": "[" * 100_000,
    "a rule that nobody asked for": json.dumps([ITEM | {"code": "E999"}]),
    "no row": json.dumps([ITEM | {"location": {}}]),
    "a row of another type": json.dumps([ITEM | {"location": {"row": "2", "column": 1}}]),
    "no message": json.dumps([ITEM | {"message": None}]),
    "no code": json.dumps([ITEM | {"code": None}]),
}


@pytest.mark.parametrize("answer", ODD_ANSWERS.values(), ids=ODD_ANSWERS.keys())
def test_an_answer_of_another_form_is_a_bad_answer(
    file_of: FileOf, bare: Snapshot, fake_ruff: FakeRuff, tmp_path: Path, answer: str
) -> None:
    (tmp_path / "answer").write_text(answer)
    body = f"print(pathlib.Path({str(tmp_path / 'answer')!r}).read_text())"

    assert failure(file_of("x = 1"), bare, fake_ruff(body)).reason == "bad_answer"


def test_a_report_about_another_file_is_a_bad_answer(file_of: FileOf, bare: Snapshot, fake_ruff: FakeRuff) -> None:
    item = json.dumps([ITEM | {"filename": "/etc/passwd"}])

    assert failure(file_of("x = 1", "y = 2"), bare, fake_ruff(f"print({item!r})")).reason == "bad_answer"


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("time.sleep(600)", "timeout"),
        ("sys.exit(2)", "crashed"),
        ("os.abort()", "crashed"),
        ("while True: print('x' * 9999)", "flooded"),
        ("sys.stderr.write('warning: Failed to lint f0.py'); print('[]')", "unreadable"),
    ],
)
def test_each_way_to_fail_has_its_name_and_tells_nothing_that_ruff_wrote(
    file_of: FileOf, bare: Snapshot, fake_ruff: FakeRuff, body: str, reason: str
) -> None:
    program = fake_ruff(f"sys.stderr.write({CANARY!r})\n{body}")

    limits = ProgramLimits(seconds=seconds_until(reason), stdout_bytes=100_000)
    error = failure(file_of("x = 1"), bare, program, limits)

    assert error.reason == reason
    assert CANARY not in str(error)


def test_a_ruff_that_is_not_there_is_missing(file_of: FileOf, bare: Snapshot, tmp_path: Path) -> None:
    assert failure(file_of("x = 1"), bare, tmp_path / "ruff").reason == "missing_program"


def test_a_ruff_that_was_not_found_is_missing(file_of: FileOf, bare: Snapshot) -> None:
    runner = RuffRunner(["S307"], None)

    with pytest.raises(ProgramError) as caught:
        asyncio.run(runner.read(changed_file([file_of("x = 1")], bare)))

    assert caught.value.reason == "missing_program"


def test_a_version_that_cannot_be_read_is_unknown(
    file_of: FileOf, bare: Snapshot, program: Callable[..., Path]
) -> None:
    assert read(file_of("x = 1"), bare, program("print('[]')")).version == "unknown"


def test_of_a_very_large_file_the_hunks_are_read(file_of: FileOf, snapshot_of: SnapshotOf) -> None:
    head = "eval(x)\n" + "#" * 4_000_000

    answer = read(file_of("eval(x)"), snapshot_of(head))

    assert (found(answer), answer.hunks) == ([("S307", 1)], 1)


@pytest.mark.parametrize("where", ["there", "nowhere"])
def test_ruff_is_found_where_its_package_says(monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    def find() -> str:
        if where == "nowhere":
            raise FileNotFoundError(where)
        return "/opt/ruff"

    package = types.ModuleType("ruff")
    package.find_ruff_bin = find  # type: ignore[attr-defined]  # what the real package exports
    monkeypatch.setitem(sys.modules, "ruff", package)

    assert str(find_ruff()) == ("/opt/ruff" if where == "there" else "None")


def test_a_broken_installation_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ruff", None)

    assert find_ruff() is None


def test_a_rule_that_floods_does_not_hide_the_others(file_of: FileOf, snapshot_of: SnapshotOf) -> None:
    head = "eval(x)\n" * 2_000 + "exec(x)\n"

    answer = read(file_of(head.rstrip("\n")), snapshot_of(head), limits=ProgramLimits(stdout_bytes=500_000))

    counts = Counter(report.code for report in answer.reports)
    assert answer.loud == ("S307",)
    assert counts["S102"] == 1
    assert 200 < counts["S307"] < 2_000


def test_a_flood_in_which_every_rule_takes_part_is_told_as_one(
    file_of: FileOf, bare: Snapshot, fake_ruff: FakeRuff
) -> None:
    loud = fake_ruff('while True: print(\'[\' + \'{"code": "S307"}, {"code": \' * 999)')

    assert failure(file_of("x = 1"), bare, loud, ProgramLimits(stdout_bytes=100_000)).reason == "flooded"
