"""The human queue: findings that a review leaves to a person, and an append-only log of what was decided of them.

`reviewbot.review.combine.visibility` decides which findings those are, and `keep_review` in `app.feedback.keep` puts
them here (`put`) after each posted review. A person lists what waits (`list_items`), and confirms, dismisses or asks
again; each decision is one row of the log, with who, when, why and from where. A worker carries decisions out
(`find_pending`) and records its result in the same log, so that the last row of an item is its state and two people
cannot both decide: the number of a row is taken once.

    queue = HumanQueue(database)
    for item in queue.list_items(repositories=readable, status="waiting"):
        queue.confirm(item.item, Decider("octocat", "page"), "reproduced it", seen=item.last.position)

The caller checks before that the person may read and write the repository; a worker asks the host once more whether
an account that decided on a page may write. Findings are stored masked, as they are posted.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping
from typing import Literal, NamedTuple
from uuid import uuid4

from reviewbot.app.store.durable.database import DatabaseTable
from reviewbot.app.store.sql import Row, marks_of
from reviewbot.domain.contracts import Finding, HumanItem
from reviewbot.domain.errors import InputError
from reviewbot.redact.mask import redact

Status = Literal["waiting", "confirmed", "dismissed", "asked again", "settled"]
Action = Literal[
    "queued", "confirmed", "dismissed", "asked_again", "posted", "recorded", "ordered", "failed", "settled"
]
Channel = Literal["page", "command line", "worker"]

STATUS_AFTER: Mapping[Action, Status] = {
    "queued": "waiting",
    "confirmed": "confirmed",
    "dismissed": "dismissed",
    "asked_again": "asked again",
    "posted": "confirmed",
    "recorded": "dismissed",
    "ordered": "asked again",
    "failed": "waiting",
    "settled": "settled",
}
"""posted, recorded, ordered: a worker has carried out the decision before it. failed: it could not, and says why.
settled: the review of a later head, or one that was asked for again, does not leave the finding to a person."""

PENDING: Collection[Action] = ("confirmed", "dismissed", "asked_again")
"""Decisions that no worker has carried out yet."""

MAX_REASON = 500
"""Characters of a reason that are kept."""

MAX_LISTED = 200
EVER = 1e18
"""After every moment."""
US = "reviewbot"

_COLUMNS = (
    "i.item, i.installation, i.repository, i.number, i.name, i.fingerprint, i.head, i.run, i.content, "
    "l.position, l.action, l.actor, l.channel, l.reason, l.head, l.url, l.at"
)
_LAST = "l.position = (SELECT max(position) FROM reviewbot_queue_log WHERE item = i.item)"
_JOINED = f"SELECT {_COLUMNS} FROM reviewbot_queue_items i JOIN reviewbot_queue_log l ON l.item = i.item"  # noqa: S608 - our own names


class DecidedError(InputError):
    """Another decision, or a newer review, came first; the text names it."""


class Decider(NamedTuple):
    """The person who decides, and where."""

    login: str
    channel: Channel
    """Of "page" a worker asks the host whether the account may write; "command line" is the operator of the App."""


class Entry(NamedTuple):
    """What is said in one row of the log."""

    action: Action
    actor: str
    channel: Channel
    reason: str
    head: str
    url: str = ""


class LogEntry(NamedTuple):
    """One row of the log. It is never changed."""

    position: int
    """Of an item: 1, 2, 3 ..."""
    action: Action
    actor: str
    """A login; "reviewbot" for what a review or a worker did."""
    channel: Channel
    reason: str
    head: str
    """The commit that the item was about at that moment."""
    url: str
    """Of "posted": the comment."""
    at: float
    """Seconds since 1970."""


class QueueItem(NamedTuple):
    """A finding that was left to a person, as the newest review that has it describes it."""

    item: str
    """32 hexadecimal digits; of a finding of one pull request always the same."""
    installation: int
    repository: int
    pull: int
    """The number of the pull request."""
    name: str
    """Of the repository, as "owner/name"."""
    fingerprint: str
    head: str
    run: str
    """The run whose review has it, as `reviewbot runs` names it."""
    human: HumanItem
    last: LogEntry
    """The state of the item is that of its last row."""

    @property
    def status(self) -> Status:
        """The status now, after the last row of the log."""
        return STATUS_AFTER[self.last.action]

    @property
    def finding(self) -> Finding:
        """The finding; the queue holds no item without one."""
        assert self.human.finding is not None  # noqa: S101 - `put` takes no other
        return self.human.finding


class AuditRow(NamedTuple):
    """A row of the log with the item that it is about."""

    item: QueueItem
    """With its state now."""
    entry: LogEntry


class LeavingReview(NamedTuple):
    """The review that leaves findings to a person."""

    installation: int
    repository: int
    pull: int
    name: str
    head: str
    run: str


class Left(NamedTuple):
    """A finding that is left to a person."""

    fingerprints: tuple[str, ...]
    """Its fingerprint now, then those that it had at earlier heads."""
    human: HumanItem


class HumanQueue(DatabaseTable):
    """The items of all pull requests. Blocking; every function may be repeated after a crash."""

    def put(self, review: LeavingReview, left: Iterable[Left]) -> None:
        """Put what a review leaves to a person; what it does not leave any more is settled.

        An item that was decided stays decided: a confirmed finding is not asked about on each push.
        """
        kept = set()
        for each in left:
            if each.human.finding is not None:
                kept.add(self._put(review, each))
        for item in self._of_pull(review.repository, review.pull):
            if item.item not in kept and item.last.action in ("queued", "failed", "ordered"):
                why = f"the review of {review.head} does not leave it to a person"
                self._append(item.item, item.last.position, Entry("settled", US, "worker", why, review.head))

    def list_items(
        self,
        repositories: Collection[int] | None = None,
        status: Status | None = None,
        limit: int = MAX_LISTED,
        before: tuple[float, str] = (EVER, ""),
    ) -> tuple[QueueItem, ...]:
        """The items of these repositories (ids; None: all), those that changed last first.

        `before`: when the last item of the page before changed, and its name.
        """
        if repositories is not None and not repositories:
            return ()
        actions = [action for action, after in STATUS_AFTER.items() if status in (None, after)]
        where, values = _within(repositories)
        rows = self._database.run(
            f"{_JOINED} WHERE {_LAST} AND l.action IN ({marks_of(actions)}){where} "
            "AND (l.at < ? OR (l.at = ? AND i.item > ?)) ORDER BY l.at DESC, i.item LIMIT ?",
            *actions,
            *values,
            before[0],
            *before,
            min(limit, MAX_LISTED),
        )
        return tuple(_item(row) for row in rows)

    def get(self, item: str) -> QueueItem | None:
        """One item; None where there is none of this name."""
        rows = self._database.run(f"{_JOINED} WHERE {_LAST} AND i.item = ?", item)
        return _item(rows[0]) if rows else None

    def history(self, item: str) -> tuple[LogEntry, ...]:
        """All rows of an item, oldest first."""
        rows = self._database.run(f"{_JOINED} WHERE i.item = ? ORDER BY l.position", item)
        return tuple(_item(row).last for row in rows)

    def audit(
        self, repositories: Collection[int] | None = None, limit: int = MAX_LISTED, before: float = EVER
    ) -> tuple[AuditRow, ...]:
        """The rows of all items of these repositories (ids; None: all) from before a time, newest first."""
        if repositories is not None and not repositories:
            return ()
        where, values = _within(repositories)
        rows = self._database.run(
            f"{_JOINED} WHERE l.at < ?{where} ORDER BY l.at DESC, i.item, l.position DESC LIMIT ?",
            before,
            *values,
            min(limit, MAX_LISTED),
        )
        found = tuple(_item(row) for row in rows)
        now = {name: self.get(name) for name in {each.item for each in found}}
        return tuple(AuditRow(now[each.item] or each, each.last) for each in found)

    def confirm(self, item: str, who: Decider, reason: str, seen: int | None = None) -> LogEntry:
        """A person holds the finding to be true: a worker posts it once. Raises InputError, DecidedError.

        `seen`: the position of the last row that the person saw; None takes the last one that there is.
        """
        return self._decide(item, "confirmed", who, reason, seen)

    def dismiss(self, item: str, who: Decider, reason: str, seen: int | None = None) -> LogEntry:
        """A person decides against the finding: the next review withholds it and says so. Raises as `confirm`."""
        return self._decide(item, "dismissed", who, reason, seen)

    def ask_again(self, item: str, who: Decider, reason: str, seen: int | None = None) -> LogEntry:
        """Have the head reviewed again with the highest effort. Raises as `confirm`."""
        return self._decide(item, "asked_again", who, reason, seen)

    def confirmations(self, repository: int, pull: int) -> tuple[tuple[str, str, str], ...]:
        """The findings of a pull request whose confirmation was carried out: fingerprint, login and reason."""
        posted = [item for item in self._of_pull(repository, pull) if item.last.action == "posted"]
        decided = [(item, self.history(item.item)[-2]) for item in posted]  # the decision stands before its result
        return tuple((item.fingerprint, row.actor, row.reason) for item, row in decided)

    def find_pending(self, limit: int = MAX_LISTED) -> tuple[QueueItem, ...]:
        """Items whose last row is a decision that no worker has carried out, oldest first."""
        rows = self._database.run(
            f"{_JOINED} WHERE {_LAST} AND l.action IN ({marks_of(PENDING)}) ORDER BY l.at LIMIT ?", *PENDING, limit
        )
        return tuple(_item(row) for row in rows)

    def record(self, item: QueueItem, action: Action, reason: str, url: str = "") -> bool:
        """Record what a worker did for the last row of an item, once; False where another row came first."""
        entry = Entry(action, US, "worker", reason, item.head, url)
        return self._append(item.item, item.last.position, entry) is not None

    def forget(self, older_s: float) -> None:
        """Remove items whose last log entry is older than this, with their log."""
        before = self._database.now() - older_s
        old = "SELECT item FROM reviewbot_queue_log GROUP BY item HAVING max(at) < ?"
        self._database.run(f"DELETE FROM reviewbot_queue_items WHERE item IN ({old})", before)  # noqa: S608 - our own
        self._database.run("DELETE FROM reviewbot_queue_log WHERE item NOT IN (SELECT item FROM reviewbot_queue_items)")

    def _put(self, review: LeavingReview, left: Left) -> str:
        known = self._known(review, left.fingerprints)
        name = known.item if known else _name(review.repository, review.pull, left.fingerprints[0])
        self._database.run(
            "INSERT INTO reviewbot_queue_items "
            "(item, installation, repository, number, name, fingerprint, head, run, content) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (item) DO UPDATE SET name = excluded.name, "
            "fingerprint = excluded.fingerprint, head = excluded.head, run = excluded.run, content = excluded.content",
            name,
            review.installation,
            review.repository,
            review.pull,
            review.name,
            left.fingerprints[0],
            review.head,
            review.run,
            left.human.model_dump_json().encode("utf-8", "surrogatepass"),
        )
        if known is None or known.last.action in ("settled", "ordered"):
            last = known.last.position if known else 0
            self._append(name, last, Entry("queued", US, "worker", left.human.reason, review.head))
        return name

    def _known(self, review: LeavingReview, fingerprints: Collection[str]) -> QueueItem | None:
        names = {*fingerprints, *(_name(review.repository, review.pull, each) for each in fingerprints)}
        items = self._of_pull(review.repository, review.pull)
        return next((each for each in items if not names.isdisjoint((each.item, each.fingerprint))), None)

    def _of_pull(self, repository: int, pull: int) -> tuple[QueueItem, ...]:
        rows = self._database.run(
            f"{_JOINED} WHERE {_LAST} AND i.repository = ? AND i.number = ? ORDER BY i.item", repository, pull
        )
        return tuple(_item(row) for row in rows)

    def _decide(self, item: str, action: Action, who: Decider, reason: str, seen: int | None) -> LogEntry:
        found = self.get(item)
        if found is None:
            raise InputError("there is no such item in the queue")
        words = " ".join(redact(reason).split())[:MAX_REASON]
        if not words or not who.login:
            raise InputError("a decision needs a reason, and the name of the person who decides")
        if found.status not in ("waiting", "asked again") or seen not in (None, found.last.position):
            raise DecidedError(_came_first(found))
        made = self._append(item, found.last.position, Entry(action, who.login, who.channel, words, found.head))
        if made is None:
            raise DecidedError(_came_first(self.get(item) or found))
        return made

    def _append(self, item: str, last: int, entry: Entry) -> LogEntry | None:
        """Append a row behind the one at position `last`; None where another one stands there already."""
        token = uuid4().hex
        row = LogEntry(last + 1, *entry, self._database.now())
        self._database.run(
            "INSERT INTO reviewbot_queue_log (item, position, action, actor, channel, reason, head, url, at, token) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (item, position) DO NOTHING",
            item,
            *row[:4],
            entry.reason.encode("utf-8", "surrogatepass"),
            *row[5:],
            token,
        )
        # Read back: a statement may be sent twice, and the second time finds the row of the first.
        rows = self._database.run(
            "SELECT 1 FROM reviewbot_queue_log WHERE item = ? AND position = ? AND token = ?", item, row.position, token
        )
        return row if rows else None


def _name(repository: int, pull: int, fingerprint: str) -> str:
    return hashlib.sha256(f"{repository}:{pull}:{fingerprint}".encode()).hexdigest()[:32]


def _came_first(item: QueueItem) -> str:
    return f"it is {item.status} already: {item.last.actor}: {item.last.reason}"


def _within(repositories: Collection[int] | None) -> tuple[str, tuple[int, ...]]:
    if repositories is None:
        return "", ()
    ids = tuple(repositories)
    return f" AND i.repository IN ({marks_of(ids)})", ids


def _item(row: Row) -> QueueItem:
    human = HumanItem.model_validate_json(bytes(row[8]))
    position, action, actor, channel, reason, *rest = row[9:]
    entry = LogEntry(position, action, actor, channel, str(bytes(reason), "utf-8", "surrogatepass"), *rest)
    return QueueItem._make((*row[:8], human, entry))
