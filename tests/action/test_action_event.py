"""What an event asks to be reviewed, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.action.event import (
    MAX_EVENT_BYTES,
    PULL_ACTIONS,
    NothingEvent,
    PullEvent,
    RangeEvent,
    read_event,
)
from reviewbot.domain.errors import InputError
from tests.action_runner import ROOT, dispatched, pull_request, pushed, zeros

REPOSITORY = "acme/shop"
OLD, NEW, FIRST = "a" * 40, "b" * 40, "c" * 40
REAL = ROOT.parent / "shared/contracts/webhooks"
INJECTIONS = sorted((ROOT / "tests/hostile/injection").iterdir())


def read(name: str, payload: Any, repository: str = REPOSITORY) -> object:
    return read_event(name, json.dumps(payload).encode(), repository)


@pytest.mark.parametrize("action", PULL_ACTIONS)
def test_a_pull_request_is_taken_by_its_number(action: str) -> None:
    assert read("pull_request", pull_request(7, action)) == PullEvent(7)


@pytest.mark.parametrize("path", INJECTIONS, ids=lambda path: path.name)
def test_no_text_of_a_pull_request_or_a_push_counts(path: Path) -> None:
    text = path.read_text("utf-8", "replace")

    assert read("pull_request", pull_request(7, title=text, branch=text, body=text)) == PullEvent(7)
    assert read("push", pushed(OLD, NEW, [NEW], branch=text, message=text)) == RangeEvent(f"{OLD}..{NEW}")


def test_a_pull_request_of_a_fork_is_known_as_one() -> None:
    gone = pull_request(7)
    gone["pull_request"]["head"]["repo"] = None

    assert read("pull_request", pull_request(7, fork="stranger/shop")) == PullEvent(7, from_fork=True)
    assert read("pull_request", gone) == PullEvent(7, from_fork=True)


def test_the_number_inside_counts_since_the_one_outside_may_be_missing() -> None:
    payload = pull_request(7)
    del payload["number"]

    assert read("pull_request", payload) == PullEvent(7)


@pytest.mark.parametrize("action", ["closed", "labeled", "edited", "converted_to_draft"])
def test_what_brings_no_new_head_is_refused_and_the_message_says_which_types_to_take(action: str) -> None:
    with pytest.raises(InputError, match=f"is '{action}'; let the workflow run on the types opened, synchronize"):
        read("pull_request", pull_request(action=action))


def test_a_push_is_the_range_that_it_brought() -> None:
    assert read("push", pushed(OLD, NEW, [NEW])) == RangeEvent(f"{OLD}..{NEW}")


def test_a_forced_push_is_the_commits_that_it_brought_since_no_checkout_has_the_old_ones() -> None:
    assert read("push", pushed(OLD, NEW, [FIRST, NEW], forced=True)) == RangeEvent(f"{FIRST}^..{NEW}")


def test_a_tag_that_was_moved_is_the_commits_that_it_brought_for_its_old_place_may_be_gone() -> None:
    tag = {"ref": "refs/tags/v1"}

    assert read("push", pushed(OLD, NEW, [FIRST, NEW]) | tag) == RangeEvent(f"{FIRST}^..{NEW}")
    assert isinstance(read("push", pushed(OLD, NEW) | tag), NothingEvent)


@pytest.mark.parametrize(("before", "forced"), [(zeros, False), (OLD, True)])
def test_a_push_of_more_commits_than_github_lists_is_not_reviewed_in_part(before: str, *, forced: bool) -> None:
    with pytest.raises(InputError, match=r"no more than 2,048 commits .* review them by hand, as a range"):
        read("push", pushed(before, NEW, [FIRST] * 2_048, forced=forced))

    assert read("push", pushed(OLD, NEW, [FIRST] * 2_048)) == RangeEvent(f"{OLD}..{NEW}")


def test_the_name_of_the_repository_counts_in_any_case() -> None:
    assert read("push", pushed(OLD, NEW, [NEW]), REPOSITORY.upper()) == RangeEvent(f"{OLD}..{NEW}")


def test_an_event_that_is_no_object_is_wrong_from_its_start() -> None:
    with pytest.raises(InputError, match="at its start"):
        read("push", [])


def test_half_a_character_in_a_text_spoils_no_event() -> None:
    assert read("pull_request", pull_request(7, title="\ud83d", body="\udce9")) == PullEvent(7)


def test_a_new_branch_is_its_own_commits() -> None:
    assert read("push", pushed(zeros, NEW, [FIRST, NEW])) == RangeEvent(f"{FIRST}^..{NEW}")
    assert read("push", pushed(zeros, NEW, [NEW])) == RangeEvent(f"{NEW}^..{NEW}")


@pytest.mark.parametrize("payload", [pushed(zeros, NEW), pushed(OLD, zeros), pushed(OLD, NEW, forced=True)])
def test_a_push_without_new_commits_is_nothing(payload: Any) -> None:
    assert isinstance(read("push", payload), NothingEvent)


def test_a_manual_run_names_a_range_or_a_pull_request() -> None:
    assert read("workflow_dispatch", dispatched(range="v1.0..main", number="")) == RangeEvent("v1.0..main")
    assert read("workflow_dispatch", dispatched(number="12", other="x")) == PullEvent(12)


@pytest.mark.parametrize(
    "inputs", [{}, {"range": "", "number": ""}, {"range": "a..b", "number": "1"}, {"somewhere": "else"}]
)
def test_a_manual_run_that_names_neither_or_both_is_refused(inputs: dict[str, str]) -> None:
    with pytest.raises(InputError, match="a manual run says what to review"):
        read("workflow_dispatch", dispatched(**inputs))


@pytest.mark.parametrize("text", ["--output=x", "a b", "a;id", "$(id)", "`id`", "a\nb", "x" * 251, "a..b|c"])
def test_a_range_that_git_might_take_for_something_else_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"no workflow_dispatch event that can be read \(at inputs.range"):
        read("workflow_dispatch", dispatched(range=text))


@pytest.mark.parametrize("text", ["0", "-1", "1e3", "१", "12345678901", "1 "])
def test_a_number_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"at inputs.number"):
        read("workflow_dispatch", dispatched(number=text))


def test_pull_request_target_is_refused_with_the_way_to_take() -> None:
    with pytest.raises(InputError, match=r"pull_request_target gives secrets .* docs/forks\.md"):
        read("pull_request_target", pull_request())


@pytest.mark.parametrize("name", ["schedule", "issue_comment", "merge_group", "x" * 500, "\x1b[2J"])
def test_every_other_event_is_refused_in_one_printable_line(name: str) -> None:
    with pytest.raises(InputError, match="it takes pull_request, push, workflow_dispatch") as caught:
        read(name, {})

    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 200


def test_an_event_of_another_repository_is_refused() -> None:
    with pytest.raises(InputError, match="about another repository than acme/shop"):
        read("pull_request", pull_request(repository="evil/shop"))


def test_names_of_repositories_are_compared_as_github_does() -> None:
    assert read("pull_request", pull_request(repository="Acme/Shop")) == PullEvent(1)


def wrong(name: str, *path: str, value: Any) -> tuple[str, Any]:
    """An event with one field spoiled."""
    payload = {"pull_request": pull_request(), "push": pushed(OLD, NEW, [NEW])}[name]
    inner = payload
    for part in path[:-1]:
        inner = inner[part]
    inner[path[-1]] = value
    return name, payload


@pytest.mark.parametrize(
    ("name", "payload"),
    [
        wrong("pull_request", "pull_request", "number", value="7"),
        wrong("pull_request", "pull_request", "number", value=True),
        wrong("pull_request", "pull_request", "number", value=0),
        wrong("pull_request", "pull_request", "number", value=2**53),
        wrong("pull_request", "pull_request", value=None),
        wrong("pull_request", "action", value=["opened"]),
        wrong("pull_request", "repository", "full_name", value="../../etc"),
        wrong("pull_request", "repository", "full_name", value="acme/shop\n"),
        wrong("push", "before", value="--output=/tmp/x"),
        wrong("push", "after", value="HEAD"),
        wrong("push", "after", value="A" * 40),
        wrong("push", "forced", value="false"),
        wrong("push", "commits", value=[{"id": "x; id"}]),
        wrong("push", "commits", value=[{"id": NEW}] * 4_097),
    ],
)
def test_a_payload_of_another_form_is_refused_by_the_place_and_without_its_text(name: str, payload: Any) -> None:
    with pytest.raises(InputError, match=rf"the event file is no {name} event that can be read \(at ") as caught:
        read(name, payload)

    assert not [text for text in ("\n", "x; id", "--output", "etc", "HEAD") if text in str(caught.value)]


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"[" * 100_000, b"\xff\xfe", b'{"action": NaN', b"[]", b'{"a": 1, "a": 2}', b"1" * 5_000, b"null"],
)
def test_a_file_that_is_no_such_json_is_refused(data: bytes) -> None:
    with pytest.raises(InputError, match="the event file is no"):
        read_event("push", data, REPOSITORY)


def test_a_huge_file_is_refused_before_it_is_parsed() -> None:
    with pytest.raises(InputError, match="larger than 32 MiB"):
        read_event("push", b"[" * (MAX_EVENT_BYTES + 1), REPOSITORY)


@given(st.binary(max_size=200) | st.recursive(st.none() | st.integers() | st.text(), st.lists).map(json.dumps))
def test_any_bytes_are_an_event_or_an_input_error(data: bytes | str) -> None:
    raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    for name in ("pull_request", "push", "workflow_dispatch"):
        with pytest.raises(InputError):
            read_event(name, raw, REPOSITORY)


@pytest.mark.skipif(not REAL.is_dir(), reason="GitHub's own example payloads are not beside the repository")
def test_real_payloads_are_read_or_refused_for_what_they_say() -> None:
    found: dict[str, object] = {}
    for path in sorted(REAL.glob("*.json")):
        event = path.name.partition(".")[0]
        if event not in ("pull_request", "push", "workflow_dispatch"):
            continue
        data = path.read_bytes()
        try:
            found[path.name] = read_event(event, data, json.loads(data)["repository"]["full_name"])
        except InputError as refused:
            found[path.name] = str(refused)

    assert not [name for name, event in found.items() if "can be read" in str(event)]
    reviewed = [name for name, event in found.items() if isinstance(event, PullEvent | RangeEvent)]
    assert {name.split(".")[1] for name in reviewed} == {*PULL_ACTIONS, "event"}
    assert len(found) > 30
