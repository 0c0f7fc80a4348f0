"""A pull request that was reviewed, and people who write comments and replies."""

from __future__ import annotations

from typing import Any

from reviewbot.app.triggers.commands import command_in
from reviewbot.app.worker.work import End
from reviewbot.publish.marker import Signer
from tests.app.conftest import Straight
from tests.app.worker.shop import Shop
from tests.github_api import Pull
from tests.github_api.state import Account, Comment

UNSURE = "import os\n\nfrom shop import command\n\n\ndef pay(order):\n    os.system(command(order))\n    return order\n"
"""A critical finding of which its rule is 70 of 100 certain."""


class Talk:
    """A pull request that was reviewed, and people who write comments."""

    def __init__(self, shop: Shop, **given: Any) -> None:
        self.shop = shop
        self.pull: Pull = shop.open(**given)
        shop.github.app.may["dev"] = "write"
        shop.run(shop.order(self.pull))
        self.number = 900

    def write(self, body: str, actor: str = "dev", comment_id: int = 0, kind: str = "issue") -> list[End]:
        """Write a comment; how the review ended that it ordered, if it did."""
        self.number += 1
        command = command_in(body, "reviewbot")
        assert command is not None
        number = comment_id or self.number
        trigger: dict[str, Any] = {"kind": "command", "verb": command.verb, "argument": command.argument}
        trigger |= {"actor": actor, "comment_id": number, "comment_kind": kind}
        self.shop.stage.shelf.waiting.clear()
        self.carry_out(self.shop.order(self.pull, head_sha="", again=f"d{number}", trigger=trigger))
        waiting = [name for name, (what, _, _) in self.shop.stage.shelf.waiting.items() if what == "review"]
        return [self._do(name) for name in waiting]

    def carry_out(self, request: Any) -> End:
        self.shop.stage.durable = Straight()
        return self.shop.run(request)

    def _do(self, name: str) -> End:
        self.shop.stage.durable = Straight()
        return self.shop.stage.carry_out(name)

    @property
    def said(self) -> list[str]:
        """The answers in the conversation."""
        return [each.body for each in self.pull.conversation]

    @property
    def reactions(self) -> list[str]:
        return [name for name, _ in self.shop.github.app.asked if name.startswith("reaction")]

    @property
    def finding(self) -> str:
        """The fingerprint of the one finding."""
        signer = Signer((b"k" * 32,))
        names = [signer.read_finding(each.body, self.pull.repository.repository_id, 1) for each in self.pull.comments]
        return next(name for name in names if name)

    def reply(
        self, body: str, actor: str = "dev", *, thread: int = 0, number: int = 0, write: bool = True
    ) -> list[str]:
        """Answer the thread at this index; what was said in it since."""
        self.number += 1
        firsts = [each for each in self.pull.comments if each.in_reply_to_id is None]
        first, own = firsts[thread], number or self.number
        if write:
            made = Comment(own, None, Account(sum(map(ord, actor)), actor), first.path, body, first.line, "")
            made.in_reply_to_id = first.comment_id
            self.pull.comments.append(made)
        before = len(self.pull.comments)
        trigger: dict[str, Any] = {"kind": "command", "verb": "reply", "argument": "", "actor": actor}
        trigger |= {"comment_id": own, "comment_kind": "review"}
        self.carry_out(self.shop.order(self.pull, head_sha="", again=f"d{own}", trigger=trigger))
        return [each.body for each in self.pull.comments[before:]]
