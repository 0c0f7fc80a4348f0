"""What a comment must be, to the letter, to give a command; and what its writer is told."""

from __future__ import annotations

import pytest

from reviewbot.app.triggers.commands import READING, VERBS, Command, command_in
from reviewbot.app.triggers.decide import ALLOWED, decide
from reviewbot.app.triggers.values import Comment, Refusal, Trigger, WebhookEvent
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
    found = command_in(body, "my-bot")
    assert (None if found is None else found.verb) == verb


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
    event = WebhookEvent("issue_comment", action, 1, 1, "o/r", 7, None, "d", "dev", comment=comment, closed=True)

    assert decide(event, Settings()) == Refusal(reason)


@pytest.mark.parametrize("association", ["OWNER", "MEMBER", "COLLABORATOR", "CONTRIBUTOR", "FIRST_TIMER", "NONE", ""])
@pytest.mark.parametrize("verb", sorted(VERBS))
def test_a_stranger_may_only_read(verb: str, association: str) -> None:
    comment = Comment(1, "issue", f"@ReviewBot {verb} x", association)
    event = WebhookEvent("issue_comment", "created", 1, 1, "o/r", 7, None, "d", "dev", comment=comment)
    found = decide(event, Settings())

    if association in ALLOWED or verb in READING:
        assert isinstance(found, Trigger)
        assert (found.kind, found.verb, found.argument) == ("command", verb, "x")
    else:
        assert found == Refusal("only members and collaborators give commands")


@pytest.mark.parametrize(
    ("body", "verb", "argument"),
    [
        ("/ReviewBot FULL \t Review now", "full review", "now"),
        ("/reviewbot full", "full", ""),
        ("/reviewbot dismiss 0123abcd\x00\x1b[31m it\u202e is\u2028 fine", "dismiss", "0123abcd [31m it is"),
        ("/reviewbot dismiss 0123abcd " + "x" * 9_000, "dismiss", "0123abcd " + "x" * 291),
        ("/reviewbot pause\n/reviewbot resume", "pause", ""),
        ("/reviewbot pause /reviewbot resume", "pause", "/reviewbot resume"),
        ("/reviewbot review; rm -rf /", "review", "; rm -rf /"),
    ],
)
def test_an_argument_is_one_bounded_line(body: str, verb: str, argument: str) -> None:
    """Of several commands in one comment the first one counts."""
    assert command_in(body, "my-bot") == Command(verb, argument)


@pytest.mark.parametrize(
    "body",
    [
        *("> /reviewbot pause", "```\n/reviewbot pause\n```", "~~~\n@my-bot pause", "`/reviewbot pause`"),
        *("- /reviewbot pause", "<!-- x -->\n/reviewbot pause", "**/reviewbot pause**", "see /reviewbot pause"),
        *("\\/reviewbot pause", "//reviewbot pause", "@my-bot: pause", "@@my-bot pause", "On Monday dev wrote:\n> x"),
        *("    /reviewbot pause", "\n\t/reviewbot pause", "  \t/reviewbot pause"),
    ],
)
def test_a_quotation_or_a_code_block_gives_no_command(body: str) -> None:
    assert command_in(body, "my-bot") is None
