"""What a step of the Action says to the runner, and what it never says."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.action.runner import CUT, HIDDEN, SUMMARY_BYTES, JobRunner, StepOutput, runner_of
from reviewbot.domain.errors import InputError
from reviewbot.report.text import md
from tests.action_runner import outputs_in

SECRET = "sk-ant-" + "x" * 30

ENVIRONMENT = {
    "GITHUB_EVENT_NAME": "push",
    "GITHUB_EVENT_PATH": "/event.json",
    "GITHUB_REPOSITORY": "acme/shop",
    "GITHUB_WORKSPACE": "/work",
    "GITHUB_API_URL": "https://api.github.com",
    "RUNNER_TEMP": "/temp",
}


@pytest.fixture
def runner(tmp_path: Path) -> JobRunner:
    files = {"GITHUB_OUTPUT": "output", "GITHUB_STEP_SUMMARY": "summary"}
    places = {name: str(tmp_path / file) for name, file in files.items()}
    return runner_of({**ENVIRONMENT, **places, "RUNNER_TEMP": str(tmp_path)})


@pytest.fixture
def voice(runner: JobRunner) -> StepOutput:
    return StepOutput(runner, io.StringIO(), (SECRET, "short"))


def said(voice: StepOutput) -> str:
    assert isinstance(voice.log, io.StringIO)
    return voice.log.getvalue()


def summary(voice: StepOutput) -> str:
    assert voice.runner.summary is not None
    return voice.runner.summary.read_text("utf-8")


def outputs(voice: StepOutput) -> dict[str, str]:
    assert voice.runner.output is not None
    return outputs_in(voice.runner.output.read_text("utf-8"))


@pytest.mark.parametrize("name", list(ENVIRONMENT))
def test_outside_of_a_workflow_it_says_which_variable_is_missing(name: str) -> None:
    with pytest.raises(InputError, match=rf"^{name} is not set: .* runs as a step of a workflow"):
        runner_of(ENVIRONMENT | {name: ""})


def test_a_runner_without_places_for_outputs_and_summary_is_one(tmp_path: Path) -> None:
    voice = StepOutput(runner_of(ENVIRONMENT), io.StringIO())

    voice.outputs({"a": "b"})
    voice.summary("text")

    assert not list(tmp_path.iterdir())


def test_an_event_file_that_is_missing_is_an_input_error(runner: JobRunner) -> None:
    with pytest.raises(InputError, match="cannot read the event file GITHUB_EVENT_PATH: No such file"):
        runner.event()


def test_each_file_that_is_made_has_a_folder_of_its_own_that_others_cannot_read(runner: JobRunner) -> None:
    one, other = runner.place("x.sarif"), runner.place("x.sarif")

    assert one.parent != other.parent
    assert one.parent.stat().st_mode & 0o077 == 0


def test_a_temporary_folder_that_cannot_be_written_is_an_input_error(runner: JobRunner) -> None:
    with pytest.raises(InputError, match="cannot write into RUNNER_TEMP"):
        replace(runner, temp=Path("/nowhere/at/all")).place("x")


@pytest.mark.parametrize("field", ["output", "summary"])
def test_a_file_of_the_runner_that_cannot_be_written_is_an_input_error(runner: JobRunner, field: str) -> None:
    voice = StepOutput(replace(runner, **{field: Path("/nowhere/at/all")}), io.StringIO())  # type: ignore[arg-type]

    with pytest.raises(InputError, match="cannot write to GITHUB_"):
        voice.outputs({"a": "b"}) if field == "output" else voice.summary("x")


def test_a_mark_at_the_run_is_one_line_whatever_is_in_it(voice: StepOutput) -> None:
    voice.say("error", "100%\r\n::add-mask::x")

    assert said(voice) == "::error title=reviewbot::100%25%0D%0A::add-mask::x\n"


@pytest.mark.parametrize("text", ["a\n::error::x", "::error::x", "\r::set-output name=a::b", "##[error]x"])
def test_a_line_of_the_log_is_no_command_whatever_is_in_it(voice: StepOutput, text: str) -> None:
    voice.line(text)

    assert said(voice).startswith("reviewbot: ")
    assert len(said(voice).splitlines()) == 1


def test_a_secret_is_hidden_where_it_was_escaped_already(voice: StepOutput) -> None:
    secret = "a_key*with%signs:and,more"
    careful = replace(voice, secrets=(secret,))
    careful.commands("::notice title=a_key*with%25signs%3Aand%2Cmore::a_key*with%25signs:and,more\n")
    careful.summary(md(secret))
    careful.line(secret)

    assert said(voice) == f"::notice title={HIDDEN}::{HIDDEN}\nreviewbot: {HIDDEN}\n"
    assert summary(voice) == HIDDEN


@given(st.dictionaries(st.sampled_from(["a", "b-c"]), st.text(st.characters(codec="utf-8", exclude_characters="\r"))))
def test_an_output_is_read_back_as_it_was_and_makes_no_other(values: dict[str, str]) -> None:
    with TemporaryDirectory() as folder:
        runner = runner_of(ENVIRONMENT | {"GITHUB_OUTPUT": f"{folder}/output"})
        StepOutput(runner, io.StringIO()).outputs(values)

        assert outputs_in(Path(folder, "output").read_text("utf-8")) == values


def test_half_a_character_of_a_path_does_not_stop_an_output(voice: StepOutput) -> None:
    voice.outputs({"sarif": "/tmp/caf\udce9/\ud800", "verdict": "clean"})

    assert outputs(voice) == {"sarif": "/tmp/caf?/?", "verdict": "clean"}


def test_outputs_end_where_nobody_can_guess(voice: StepOutput) -> None:
    voice.outputs({"a": "x\nreviewbot_0\nsarif<<x\n/etc/passwd\nx"})
    voice.outputs({"b": "2"})

    assert outputs(voice) == {"a": "x\nreviewbot_0\nsarif<<x\n/etc/passwd\nx", "b": "2"}


def test_no_secret_is_in_anything_that_is_said(voice: StepOutput) -> None:
    voice.say("error", f"bad key {SECRET}")
    voice.commands(f"::notice::{SECRET}\n")
    voice.outputs({"a": SECRET})
    voice.summary(f"key {SECRET}")

    everything = said(voice) + summary(voice) + str(outputs(voice))
    assert SECRET not in everything
    assert everything.count(HIDDEN) == 4


def test_a_word_is_no_secret_because_an_input_is_so_short(voice: StepOutput) -> None:
    voice.summary("a short word")

    assert summary(voice) == "a short word"


def test_a_summary_that_is_too_long_is_cut_at_a_line_and_says_so(voice: StepOutput) -> None:
    voice.summary("- ü " + "x" * 98 + "\n")
    voice.summary(("- ü " + "x" * 98 + "\n") * 11_000)

    text = summary(voice)
    assert SUMMARY_BYTES - 200 < len(text.encode()) <= SUMMARY_BYTES
    assert text.endswith("x" + CUT)


def test_what_comes_after_a_full_summary_is_left_out(voice: StepOutput) -> None:
    assert voice.runner.summary is not None
    voice.runner.summary.write_text("x" * SUMMARY_BYTES)

    voice.summary("more")

    assert len(summary(voice)) == SUMMARY_BYTES


def test_a_summary_that_just_fits_is_whole(voice: StepOutput) -> None:
    assert voice.runner.summary is not None
    voice.runner.summary.write_text("x" * (SUMMARY_BYTES - 100))
    voice.summary("y" * 99 + "\n")

    assert summary(voice).endswith("xy" + "y" * 98 + "\n")


def test_where_there_is_no_room_for_a_whole_line_it_is_only_said_that_something_is_missing(voice: StepOutput) -> None:
    assert voice.runner.summary is not None
    voice.runner.summary.write_text("x" * (SUMMARY_BYTES - len(CUT)))
    voice.summary("y\n" * 100)

    assert summary(voice).endswith("x" + CUT)


@pytest.mark.parametrize(("length", "hidden"), [(7, False), (8, True)])
def test_a_secret_has_eight_characters_at_least(length: int, voice: StepOutput, *, hidden: bool) -> None:
    secret = "s3cr3t!!!"[:length]

    assert replace(voice, secrets=(secret,)).mask(f"a {secret} b") == (f"a {HIDDEN} b" if hidden else f"a {secret} b")


def test_half_a_character_of_a_name_does_not_stop_a_summary(voice: StepOutput) -> None:
    voice.summary("\udce9")

    assert summary(voice) == "?"
