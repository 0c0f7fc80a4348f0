"""The repository's own style rules, told by the real ruff from configurations of the base side."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from reviewbot.analyzers.core.confinement import ProgramLimits
from reviewbot.analyzers.core.rules import packaged_rules
from reviewbot.analyzers.core.run import changed_file
from reviewbot.analyzers.ruff.repository_rules import SELECTED_CONFIDENCE, UNSURE_CONFIDENCE, RepositoryRules
from reviewbot.analyzers.ruff.run import find_ruff
from tests.make import seconds_until
from tests.snapshots import InMemorySnapshot

if TYPE_CHECKING:
    from collections.abc import Callable

    from reviewbot.domain.contracts import FileChange
    from reviewbot.domain.ports import ToolReport

TAKEN = frozenset(packaged_rules("ruff_rules").rules)
LONG = 'GREETING = "a line that is far longer than forty characters"'
SHORT = '[tool.ruff]\nline-length = 40\n[tool.ruff.lint]\nselect = ["E501"]\n'
LOCK = '[[package]]\nname = "ruff"\nversion = "0.17.6"\n'
"""The repository runs the ruff that this one is."""

CANARY = "CANARY-7c1d20"
TRAPS = Path(__file__).parents[2] / "hostile" / "linter_traps"


@pytest.fixture
def told(file_of: Callable[..., FileChange]) -> Callable[..., ToolReport]:
    """What the tool says of a new file under the configurations of the base side."""

    def run(text: str, *, path: str = "src/app.py", whole: bool = True, tool: Any = None, **before: str) -> ToolReport:
        names = {
            name.replace("__", "/").replace("_toml", ".toml").replace("_py", ".py"): t for name, t in before.items()
        }
        snapshot = InMemorySnapshot({path: f"{text}\n"} if whole else {}, {"uv.lock": LOCK, **names})
        used = tool or RepositoryRules(TAKEN, find_ruff())
        answer: ToolReport = asyncio.run(used.run(changed_file([file_of(text, path=path)], snapshot), snapshot))
        return answer

    return run


def rules(report: ToolReport) -> list[str]:
    return [candidate.rule for candidate in report.candidates]


def test_a_selected_rule_is_told_with_the_file_that_selects_it(told: Callable[..., ToolReport]) -> None:
    report = told(LONG, pyproject_toml=SHORT)

    (found,) = report.candidates
    assert (found.rule, found.line, found.severity, found.category) == ("E501", 1, "info", "repository-rule")
    assert found.message == "`pyproject.toml` selects E501: Line too long (60 > 40)"
    assert found.confidence == SELECTED_CONFIDENCE
    assert report.gap is None
    assert report.run.version.startswith("0.17")


def test_without_a_configuration_no_program_runs(told: Callable[..., ToolReport]) -> None:
    report = told(LONG, tool=RepositoryRules(TAKEN, None))

    assert (report.candidates, report.gap, report.run.version) == ((), None, "not run")


def test_a_file_that_adds_nothing_asks_for_no_configuration(file_of: Callable[..., FileChange]) -> None:
    files = InMemorySnapshot(base={"pyproject.toml": SHORT})

    report = asyncio.run(RepositoryRules(TAKEN, None).run(changed_file([file_of("-gone\n kept")], files), files))

    assert (report.candidates, report.gap, set(files.asked)) == ((), None, {"src/app.py"})


def test_a_configuration_of_the_head_side_counts_for_nothing(file_of: Callable[..., FileChange]) -> None:
    files = InMemorySnapshot(
        {"src/app.py": f"{LONG}\n", "pyproject.toml": SHORT, "src/ruff.toml": 'lint.select = ["ALL"]'}, {}
    )

    report = asyncio.run(RepositoryRules(TAKEN, find_ruff()).run(changed_file([file_of(LONG)], files), files))

    assert (report.candidates, report.run.version) == ((), "not run")


def test_rules_of_our_other_tools_are_left_to_them(told: Callable[..., ToolReport]) -> None:
    report = told(
        "import os\nos.system(name)\n\nx = eval(name)", pyproject_toml='[tool.ruff.lint]\nselect = ["S", "PGH"]'
    )

    assert rules(report) == []


def test_the_nearest_configuration_counts_alone(told: Callable[..., ToolReport]) -> None:
    report = told(LONG, pyproject_toml=SHORT, src__ruff_toml='[lint]\nselect = ["N"]')

    assert rules(report) == []


def test_a_pyproject_without_ruff_is_passed_by(told: Callable[..., ToolReport]) -> None:
    assert rules(told(LONG, pyproject_toml=SHORT, src__pyproject_toml='[project]\nname = "x"')) == ["E501"]


def test_rules_that_are_on_by_default_are_nobodys_choice(told: Callable[..., ToolReport]) -> None:
    assert rules(told("if x == None: pass", pyproject_toml="[tool.ruff]\nline-length = 99")) == []


def test_per_file_ignores_and_excluded_folders_are_kept(told: Callable[..., ToolReport]) -> None:
    ignored = SHORT + '[tool.ruff.lint.per-file-ignores]\n"src/*" = ["E5"]\n'
    excluded = SHORT.replace("[tool.ruff]", '[tool.ruff]\nextend-exclude = ["src"]')

    assert rules(told(LONG, pyproject_toml=ignored)) == []
    assert rules(told(LONG, pyproject_toml=ignored, path="lib/app.py")) == ["E501"]
    assert rules(told(LONG, pyproject_toml=excluded)) == []


def test_a_rule_that_the_file_did_not_keep_before_is_told_below_the_threshold(told: Callable[..., ToolReport]) -> None:
    before = (f"{LONG}\n", f"{LONG}  # noqa: E501\n", f"{LONG}  # noqa: D100\n")

    told_of = [told(LONG, pyproject_toml=SHORT, src__app_py=text).candidates for text in before]

    assert [c.confidence for each in told_of for c in each] == [
        UNSURE_CONFIDENCE,
        SELECTED_CONFIDENCE,
        UNSURE_CONFIDENCE,
    ]


def told_among(file_of: Callable[..., FileChange], path: str, *configs: str, **others: str) -> list[int]:
    """The confidence of one finding in a file among others of the base side; ruff is pinned nowhere."""
    names = {name.replace("__", "/") + ".py": f"{text}\n" for name, text in others.items()}
    base = {"pyproject.toml": SHORT + "".join(configs), **names}
    tree = InMemorySnapshot({**base, path: f"{LONG}\n"}, base, whole=True)
    file = changed_file([file_of(LONG, path=path)], tree)
    return [c.confidence for c in asyncio.run(RepositoryRules(TAKEN, find_ruff()).run(file, tree)).candidates]


KEEPS = {f"src__kept{number}": "x = 1" for number in range(40)}


def test_a_rule_that_other_files_keep_is_the_repositorys_own(file_of: Callable[..., FileChange]) -> None:
    assert told_among(file_of, "src/app.py", **KEEPS) == [SELECTED_CONFIDENCE]
    suppressed = {**KEEPS, "src__kept0": f"{LONG}  # noqa: E501"}
    assert told_among(file_of, "src/app.py", **suppressed) == [SELECTED_CONFIDENCE]


def test_a_rule_that_other_files_break_is_nobodys_choice(file_of: Callable[..., FileChange]) -> None:
    assert told_among(file_of, "src/app.py", **{**KEEPS, "src__kept0": LONG}) == [UNSURE_CONFIDENCE]


LAX = """# x = 1
print('a')
y = '%s' % x
y = dict()
z = x if x == None else {key: value for key, value in y.items()}
"""


def test_where_many_rules_are_broken_none_is_kept(file_of: Callable[..., FileChange]) -> None:
    config = SHORT.replace('"E501"', '"E501", "ERA001", "T201", "Q000", "UP031", "C408", "C416"')

    def told(other: str) -> list[int]:
        base = {"pyproject.toml": config, **{f"src/a{number}.py": other for number in range(4)}}
        tree = InMemorySnapshot({**base, "src/app.py": f"{LONG}\n"}, base, whole=True)
        report = RepositoryRules(TAKEN, find_ruff()).run(changed_file([file_of(LONG)], tree), tree)
        return [found.confidence for found in asyncio.run(report).candidates]

    assert told("".join(LAX.splitlines(keepends=True)[:3])) == [SELECTED_CONFIDENCE]
    assert told(LAX) == [UNSURE_CONFIDENCE]


def test_files_of_another_kind_show_nothing_of_a_rule(file_of: Callable[..., FileChange]) -> None:
    others = {**KEEPS, "tools__build": LONG, "src__test_app": LONG, "src__data": "x" * 200_001}

    assert told_among(file_of, "src/app.py", **others) == [SELECTED_CONFIDENCE]
    assert told_among(file_of, "app.py", **{f"a{number}": LONG for number in range(4)}) == [UNSURE_CONFIDENCE]


def test_a_rule_that_is_off_for_other_files_is_not_broken_there(file_of: Callable[..., FileChange]) -> None:
    ignored = '[tool.ruff.lint.per-file-ignores]\n"src/kept*.py" = ["E501"]\n'

    assert told_among(file_of, "src/app.py", ignored, **dict.fromkeys(KEEPS, LONG)) == [SELECTED_CONFIDENCE]


def test_two_other_files_show_nothing(file_of: Callable[..., FileChange]) -> None:
    assert told_among(file_of, "src/app.py", src__a="x = 1", src__b="x = 1") == [UNSURE_CONFIDENCE]


def test_a_rule_that_came_after_the_pinned_version_is_not_the_repositorys(told: Callable[..., ToolReport]) -> None:
    config = '[tool.ruff.lint]\nselect = ["ISC"]\n'
    text = 'x = ["a", "b" "c"]'

    def pinned(version: str) -> list[tuple[str, int]]:
        lock = LOCK.replace("0.17.6", version)
        return [(c.rule, c.confidence) for c in told(text, pyproject_toml=config, **{"uv.lock": lock}).candidates]

    assert pinned("0.17.6") == [("ISC001", SELECTED_CONFIDENCE), ("ISC004", SELECTED_CONFIDENCE)]
    assert pinned("0.16.0") == [("ISC001", UNSURE_CONFIDENCE), ("ISC004", UNSURE_CONFIDENCE)]
    assert pinned("0.15.2") == [("ISC001", UNSURE_CONFIDENCE)]


def test_without_a_pin_and_without_other_files_nothing_is_sure(told: Callable[..., ToolReport]) -> None:
    assert [c.confidence for c in told(LONG, pyproject_toml=SHORT, **{"uv.lock": ""}).candidates] == [UNSURE_CONFIDENCE]


def test_an_old_side_that_is_too_large_says_nothing_about_the_rule(told: Callable[..., ToolReport]) -> None:
    large = f"{LONG}\n" * 70_000

    assert [c.confidence for c in told(LONG, pyproject_toml=SHORT, src__app_py=large).candidates] == [
        SELECTED_CONFIDENCE
    ]


@pytest.mark.parametrize("text", [f"{LONG}  # noqa: E501", f"{LONG}  #NOQA"])
def test_a_line_that_waves_the_rule_aside_is_told_below_the_threshold(
    told: Callable[..., ToolReport], text: str
) -> None:
    assert [c.confidence for c in told(text, pyproject_toml=SHORT).candidates] == [UNSURE_CONFIDENCE]


def test_a_configuration_that_takes_over_another_file_is_trusted_less(told: Callable[..., ToolReport]) -> None:
    config = SHORT.replace("[tool.ruff]", '[tool.ruff]\nextend = "../other.toml"')

    assert [c.confidence for c in told(LONG, pyproject_toml=config).candidates] == [UNSURE_CONFIDENCE]


def test_lines_that_the_change_left_alone_are_not_told(file_of: Callable[..., FileChange]) -> None:
    text = f"{LONG}\nx = 1\n"
    files = InMemorySnapshot({"src/app.py": text}, {"pyproject.toml": SHORT})

    report = asyncio.run(
        RepositoryRules(TAKEN, find_ruff()).run(changed_file([file_of(f" {LONG}\n+x = 1")], files), files)
    )

    assert (report.candidates, report.gap) == ((), None)


def test_a_hunk_alone_is_held_against_rules_of_a_single_line_only(told: Callable[..., ToolReport]) -> None:
    config = '[tool.ruff.lint]\nselect = ["E501", "D", "ANN", "T20"]\n[tool.ruff]\nline-length = 40\n'
    text = f"def show(name):\n    print(name)\n\n\n{LONG}"

    assert rules(told(text, whole=False, pyproject_toml=config)) == ["T201", "E501"]
    assert {"D103", "ANN001"} < set(rules(told(text, pyproject_toml=config)))


def test_unused_imports_are_told_but_not_of_a_package(told: Callable[..., ToolReport]) -> None:
    config = '[tool.ruff.lint]\nselect = ["F"]\n'

    assert rules(told("import os", pyproject_toml=config)) == ["F401"]
    assert rules(told("import os", pyproject_toml=config, path="src/__init__.py")) == []


def test_the_version_of_the_repository_decides_what_is_old(told: Callable[..., ToolReport]) -> None:
    text = "from typing import Optional\n\n\ndef f(x: Optional[int]) -> None:\n    del x"
    config = '[tool.ruff.lint]\nselect = ["UP"]\n[project]\nrequires-python = "{}"\n'

    assert rules(told(text, pyproject_toml=config.format(">=3.9"))) == []
    assert rules(told(text, pyproject_toml=config.format(">=3.11,<4"))) == ["UP045"]


def test_a_file_of_a_newer_python_than_the_repository_names_is_a_gap(told: Callable[..., ToolReport]) -> None:
    report = told(
        "match x:\n    case 1:\n        pass", pyproject_toml=SHORT.replace("40", '40\ntarget-version = "py39"')
    )

    assert report.gap is not None
    assert (report.gap.reason, report.gap.tool) == ("unreadable", "repository-rules")


def test_a_hunk_that_does_not_parse_is_a_gap(told: Callable[..., ToolReport]) -> None:
    report = told("x = = (\n) ] }", whole=False, pyproject_toml=SHORT)

    assert report.gap is not None
    assert report.gap.reason == "unreadable"


def test_a_stub_is_read_as_one(told: Callable[..., ToolReport]) -> None:
    config = '[tool.ruff.lint]\nselect = ["PYI"]\n'

    assert rules(told("x: int = 12345678901234", path="src/app.pyi", pyproject_toml=config, src__app_pyi="x = 1\n"))


def test_the_same_configuration_is_understood_once(
    file_of: Callable[..., FileChange], fake_ruff: Callable[[str], Path], tmp_path: Path
) -> None:
    log = tmp_path / "log"
    known = json.dumps(
        [{"code": "E501", "status": {"Stable": {"since": "v0.0.9"}}}, {"code": "X1", "status": {"Preview": {}}}]
    )
    program = fake_ruff(
        f"open({str(log)!r}, 'a').write(json.dumps(sys.argv[1:]) + chr(10))\n"
        f"print({known!r} if sys.argv[1] == 'rule' else '[]')"
    )
    tool = RepositoryRules(TAKEN, program)

    async def review() -> None:
        for name in ("a.py", "b.py"):
            text = f"x = '{name}'"
            files = InMemorySnapshot({name: f"{text}\n"}, {"pyproject.toml": SHORT})
            await tool.run(changed_file([file_of(text, path=name)], files), files)

    asyncio.run(review())

    runs = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
    assert [run[0] for run in runs] == ["rule", "check", "check"]
    assert all({"--select=E501", "--config=line-length=40", "--target-version=py310"} <= set(run) for run in runs[1:])
    assert all("--isolated" in run and "--target-version=py315" not in run for run in runs[1:])


def test_nothing_is_run_where_no_rule_of_use_is_selected(
    told: Callable[..., ToolReport], fake_ruff: Callable[[str], Path]
) -> None:
    program = fake_ruff("print('[]') if sys.argv[1] == 'rule' else sys.exit(3)")

    report = told(LONG, tool=RepositoryRules(TAKEN, program), pyproject_toml=SHORT)

    assert (report.candidates, report.gap, report.run.version) == ((), None, "not run")


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("print('no list')", "bad_answer"),
        ("print('[{}]')", "bad_answer"),
        ("sys.exit(3)", "crashed"),
        ("time.sleep(60)", "timeout"),
    ],
)
def test_a_program_that_misbehaves_is_a_gap(
    told: Callable[..., ToolReport], fake_ruff: Callable[[str], Path], body: str, reason: str
) -> None:
    tool = RepositoryRules(TAKEN, fake_ruff(body), ProgramLimits(seconds=seconds_until(reason)))

    report = told(LONG, tool=tool, pyproject_toml=SHORT)

    assert report.candidates == ()
    assert report.gap is not None
    assert report.gap.reason == reason


def test_a_missing_program_is_a_gap(told: Callable[..., ToolReport]) -> None:
    report = told(LONG, tool=RepositoryRules(TAKEN, None), pyproject_toml=SHORT)

    assert report.gap is not None
    assert report.gap.reason == "missing_program"


HOSTILE = {
    "environment": 'extend = "/proc/self/environ"\n[lint]\nselect = ["E501"]',
    "plain environment": (TRAPS / "C17_ruff_environ.toml").read_text("utf-8"),
    "other file": (TRAPS / "C07_ruff.toml").read_text("utf-8"),
    "options as codes": '[lint]\nselect = ["--config=x", "E501,S", "E 501", "-E501", "E501\\n--fix", "@/etc/passwd"]',
    "odd types": "line-length = [1]\n[lint]\nselect = {a = 1}\nignore = 3\nper-file-ignores = 7\nmccabe = 1",
    "odd options": (
        'line-length = 99999\ntarget-version = "py39 --fix"\npreview = true\n[lint]\nselect = ["N8"]\n'
        '[lint.mccabe]\nmax-complexity = "1 --fix"\n[lint.pydocstyle]\nconvention = "x = 1"'
    ),
    "large": "a = 1\n" + "#" * 1_000_000,
    "nul": '[lint]\nselect = ["E501\0"]',
    "deep": "a = " + "[" * 20_000,
    "long key": "a" + ".a" * 20_000 + " = 1",
    "no text": "\ufffd\ufffd",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_configuration_changes_nothing_and_leaks_nothing(
    name: str, told: Callable[..., ToolReport], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", CANARY)

    report = told("x = 1", ruff_toml=HOSTILE[name])

    assert (report.candidates, report.gap) == ((), None)
    assert CANARY not in repr(report)
