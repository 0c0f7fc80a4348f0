"""What a comment must be, to the letter, to give a command; and what its writer is told."""

from __future__ import annotations

import pytest

from reviewbot.app.triggers.decide import command_in, decide
from reviewbot.app.triggers.values import Comment, Event, Refusal
from reviewbot.config import Settings


@pytest.mark.parametrize(
    ("body", "verb"),
    [
        ("/reviewbot " + "a" * 20, "a" * 20),
        ("/reviewbot " + "a" * 21, None),
        ("/reviewbot review_", None),
        ("/reviewbot review.", "review"),
        ("/reviewbot\u00a0review", None),
        ("@" + "m" * 41 + " review", None),
        ("\n" * 1_983 + "/reviewbot review", "review"),
        ("\n" * 2_000 + "/reviewbot review", None),
        ("\u2028/reviewbot review", "review"),
    ],
)
def test_a_command_is_found_within_its_limits(body: str, verb: str | None) -> None:
    assert command_in(body, "my-bot") == verb


@pytest.mark.parametrize(
    ("action", "body", "association", "reason"),
    [
        ("edited", "thanks", "NONE", "a comment that was edited gives no command"),
        ("created", "thanks", "NONE", "the comment holds no command"),
        ("created", "/reviewbot merge", "NONE", "only members and collaborators give commands"),
        ("created", "/reviewbot merge", "OWNER", "there is no such command"),
        ("created", "/reviewbot review", "OWNER", "the pull request is closed"),
    ],
)
def test_a_stranger_never_learns_which_commands_there_are(
    action: str, body: str, association: str, reason: str
) -> None:
    """Of several reasons the first is told, in an order that gives nothing away."""
    comment = Comment(1, "issue", body, association)
    event = Event("issue_comment", action, 1, 1, "o/r", 7, None, "d", "dev", comment=comment, closed=True)

    assert decide(event, Settings()) == Refusal(reason)
