"""Which rules a configuration selects: the cases in which ruff itself decides, as pure functions of text."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reviewbot.analyzers.ruff.config import RuffConfig, find_config, parse_config
from reviewbot.analyzers.ruff.rule_selection import RuleSelection, prefixes, select
from reviewbot.analyzers.ruff.run import find_ruff
from tests.snapshots import InMemorySnapshot

KNOWN = frozenset(
    {
        "A001",
        "C400",
        "C901",
        "D103",
        "D204",
        "D205",
        "D400",
        "E501",
        "E711",
        "F401",
        "FBT001",
        "N802",
        "PLR0913",
        "PLW0120",
    }
    | {"Q000", "S101", "SIM102", "T201", "UP006"}
)


def base_side(**files: str) -> InMemorySnapshot:
    """A base side with some files."""
    return InMemorySnapshot(
        base={name.replace("__", "/").replace("_toml", ".toml"): text for name, text in files.items()}
    )


def selected(text: str, requires: str = "") -> RuleSelection:
    return select(RuffConfig("ruff.toml", "", text, parse_config(text) or {}, requires), KNOWN)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("E501", {"ALL", "E", "E5", "E50", "E501"}),
        ("PLR0913", {"ALL", "PL", "PLR", "PLR0", "PLR09", "PLR091", "PLR0913"}),
        ("FBT001", {"ALL", "FBT", "FBT0", "FBT00", "FBT001"}),
        ("no code", set()),
    ],
)
def test_a_rule_is_meant_by_its_own_prefixes_alone(code: str, expected: set[str]) -> None:
    assert prefixes(code) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('select = ["E"]', {"E501", "E711"}),
        ('lint.select = ["F"]', {"F401"}),
        ('lint.extend-select = ["C4"]\nextend-select = ["Q"]', {"C400", "Q000"}),
        ('select = ["F"]\nlint.select = ["E5"]', {"E501"}),
        ('lint.select = ["PL"]', {"PLR0913", "PLW0120"}),
        ('lint.select = ["E"]\nlint.ignore = ["E5"]', {"E711"}),
        ('lint.select = ["E501"]\nlint.ignore = ["E"]', {"E501"}),
        ('lint.select = ["E501"]\nlint.extend-ignore = ["E501"]', set()),
        (
            'lint.select = ["ALL"]\nlint.ignore = ["D", "PL", "S", "T20", "A", "C", "E", "F", "N"]',
            {"FBT001", "Q000", "SIM102", "UP006"},
        ),
        ('lint.ignore = ["E"]', set()),
        ("lint.select = 7", set()),
        ("lint = 7", set()),
    ],
)  # fmt: skip
def test_the_longer_selector_wins(text: str, expected: set[str]) -> None:
    assert selected(text).codes == expected


def test_a_convention_leaves_out_what_is_not_named_by_its_full_code() -> None:
    google = 'lint.pydocstyle.convention = "google"\n'

    assert selected(google + 'lint.select = ["D"]').codes == {"D103", "D205"}
    assert selected(google + 'lint.select = ["D", "D400"]').codes == {"D103", "D205", "D400"}


@pytest.mark.parametrize(
    ("text", "gone"),
    [
        ('lint.pep8-naming.ignore-names = ["loadAll"]', "N802"),
        ("lint.flake8-builtins.strict-checking = true", "A001"),
        ('lint.mccabe.max-complexity = "many"', "C901"),
        ("lint.mccabe.max-complexity = true", "C901"),
        ("lint.mccabe.max-complexity = 0", "C901"),
        ('lint.flake8-quotes.inline-quotes = "none"', "Q000"),
        ("lint.pylint.allow-magic-value-types = []", "PLR0913"),
        ("pycodestyle.ignore-overlong-task-comments = true", "E501"),
    ],
)
def test_rules_with_an_option_that_is_not_passed_on_are_silent(text: str, gone: str) -> None:
    assert gone not in selected(f'lint.select = ["ALL"]\n{text}').codes
    assert gone in selected('lint.select = ["ALL"]').codes


def test_options_reach_ruff_in_words_of_ours() -> None:
    text = """
        line-length = 99
        target-version = "py312"
        lint.mccabe.max-complexity = 7
        lint.pylint.max-args = 6
        lint.flake8-quotes.inline-quotes = "single"
        lint.pydocstyle.convention = "numpy"
    """

    assert selected(text).options == (
        "--target-version=py312",
        "--config=line-length=99",
        '--config=lint.flake8-quotes.inline-quotes="single"',
        "--config=lint.mccabe.max-complexity=7",
        '--config=lint.pydocstyle.convention="numpy"',
        "--config=lint.pylint.max-args=6",
    )


@pytest.mark.parametrize(
    ("text", "requires", "expected"),
    [
        ("", "", "py310"),
        ("", ">=3.12", "py312"),
        ("", ">= 3.9, <4", "py39"),
        ("", ">=3.99", "py310"),
        ("", "~=3.12", "py310"),
        ('target-version = "py27"', ">=3.11", "py311"),
        ('target-version = "py313"', ">=3.11", "py313"),
        ('target-version = ["py313"]', "", "py310"),
    ],
)
def test_the_version_is_the_one_that_ruff_would_take(text: str, requires: str, expected: str) -> None:
    assert selected(text, requires).options[0] == f"--target-version={expected}"


@pytest.mark.parametrize("line", ["line-length = 0", "line-length = 321", "line-length = true", 'line-length = "80"'])
def test_a_line_length_that_ruff_would_refuse_is_not_passed_on(line: str) -> None:
    assert len(selected(line).options) == 1


@pytest.mark.parametrize(
    ("glob", "path", "silent"),
    [
        ("src/*.py", "src/app.py", True),
        ("app.py", "src/deep/app.py", True),
        ("src/**", "src/deep/app.py", True),
        ("lib/*", "src/app.py", False),
        ("!src/*", "src/app.py", False),
        ("!src/*", "lib/app.py", True),
        ("{src,lib}/*", "other/app.py", True),
        ("x" * 300, "src/app.py", True),
    ],
)
def test_rules_are_off_for_files_that_a_glob_names(glob: str, path: str, *, silent: bool) -> None:
    for table in ("lint.per-file-ignores", "extend-per-file-ignores"):
        selection = selected(f'lint.select = ["E501", "F401"]\n[{table}]\n"{glob}" = ["E5"]')

        assert selection.codes_for(path) == ({"F401"} if silent else {"E501", "F401"})


@pytest.mark.parametrize(
    ("line", "path", "silent"),
    [
        ('exclude = ["old"]', "src/old/deep/app.py", True),
        ('exclude = ["src/old/"]', "src/old/app.py", True),
        ('extend-exclude = ["*_pb2.py"]', "src/app_pb2.py", True),
        ('lint.exclude = ["app.py"]', "src/app.py", True),
        ('exclude = ["old"]', "src/older/app.py", False),
        ("exclude = [7]", "src/app.py", False),
    ],
)
def test_files_that_are_excluded_have_no_rules(line: str, path: str, *, silent: bool) -> None:
    assert selected(f'{line}\nlint.select = ["E501"]').codes_for(path) == (set() if silent else {"E501"})


def test_globs_are_held_against_the_path_from_the_folder_of_the_configuration() -> None:
    text = 'lint.select = ["E501"]\n[lint.per-file-ignores]\n"tests/*" = ["E"]'
    selection = select(RuffConfig("api/ruff.toml", "api/", text, parse_config(text) or {}), KNOWN)

    assert selection.codes_for("api/tests/app.py") == set()
    assert selection.codes_for("api/src/app.py") == {"E501"}


def test_only_so_many_globs_and_selectors_are_read() -> None:
    globs = "\n".join(f'"f{number}.py" = ["E"]' for number in range(600))
    codes = ", ".join(f'"X{number:03}"' for number in range(600))
    selection = selected(f'lint.select = [{codes}, "E501"]\n[lint.per-file-ignores]\n{globs}')

    assert len(selection.globbed) == 500
    assert selection.codes == set()


@pytest.mark.parametrize(
    ("files", "path", "label"),
    [
        ({"pyproject_toml": "[tool.ruff]\nline-length = 9"}, "a/b/c.py", "pyproject.toml"),
        ({"a__ruff_toml": "line-length = 9", "ruff_toml": "line-length = 8"}, "a/b/c.py", "a/ruff.toml"),
        ({"_ruff_toml": "line-length = 9", "pyproject_toml": "[tool.ruff]\nx = 1"}, "c.py", None),
        ({"a__pyproject_toml": "[tool.black]\nx = 1", "ruff_toml": "line-length = 8"}, "a/c.py", "ruff.toml"),
        ({"a__pyproject_toml": "tool = 7", "ruff_toml": "line-length = 8"}, "a/c.py", "ruff.toml"),
        ({"a__ruff_toml": "= broken", "ruff_toml": "line-length = 8"}, "a/c.py", None),
        ({"b__ruff_toml": "line-length = 9"}, "a/c.py", None),
        ({"ruff_toml": ""}, "a/c.py", None),
    ],
)
def test_the_configuration_is_the_one_that_ruff_would_take(files: dict[str, str], path: str, label: str | None) -> None:
    given_names = {(".ruff_toml" if name == "_ruff_toml" else name): text for name, text in files.items()}
    found = find_config(base_side(**given_names), path)

    assert (found.label if found else None) == (".ruff.toml" if "_ruff_toml" in files else label)


def test_what_the_project_requires_is_known() -> None:
    text = '[project]\nrequires-python = ">=3.12"\n[tool.ruff]\nline-length = 90'
    odd = "[project]\nrequires-python = 3\n[tool.ruff]\nline-length = 90"

    found = [find_config(base_side(pyproject_toml=each), "a.py") for each in (text, odd)]

    assert [getattr(each, "requires_python", None) for each in found] == [
        ">=3.12",
        "",
    ]


def test_a_path_of_many_folders_is_searched_in_few_of_them() -> None:
    assert find_config(base_side(ruff_toml="line-length = 9"), "a/" * 5_000 + "b.py") is not None


@pytest.mark.parametrize(
    "text", ["#" * 65_537, "a" + ".a" * 301 + " = 1", "a = " + "[" * 9_000, "= 1", "a = 1\na = 2", "\0"]
)
def test_a_document_that_nobody_writes_by_hand_is_none(text: str) -> None:
    assert parse_config(text) is None


@pytest.mark.slow
@settings(max_examples=60)
@given(
    st.lists(st.sampled_from(["ALL", "E", "E5", "E501", "F", "PL", "PLR", "PLR09", "C", "C4", "D", "N", "T20", "S1"])),
    st.lists(st.sampled_from(["E", "E501", "F4", "PLR", "PLR0913", "C9", "C901", "D2", "D103", "UP", "S", "T20"])),
)
def test_selectors_decide_as_they_do_in_ruff_itself(chosen: list[str], ignored: list[str]) -> None:
    text = f"lint.select = {chosen}\nlint.ignore = {ignored}"

    assert selected(text).codes == _enabled(chosen, ignored)


def _enabled(chosen: list[str], ignored: list[str]) -> set[str]:
    """What ruff says that it would run, of the rules that these tests know."""
    program = find_ruff()
    assert program is not None
    if not chosen:
        return set()
    arguments = [f"--select={','.join(chosen)}", *([f"--ignore={','.join(ignored)}"] if ignored else [])]
    done = subprocess.run(
        [str(program), "check", "--isolated", "--show-settings", *arguments, __file__], capture_output=True, check=True
    )
    enabled = done.stdout.decode().partition("linter.rules.enabled = [")[2].partition("]")[0]
    return {code for code in KNOWN if f"({code})" in enabled}


def test_a_number_that_python_does_not_convert_leaves_the_configuration_out() -> None:
    assert parse_config(f"line-length = {'9' * 5_000}") is None
