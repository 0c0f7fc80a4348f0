"""Keep what became known of findings, after each review and at the end of a pull request, and the human queue."""

from __future__ import annotations

from reviewbot.app.store.durable.database import Database
from reviewbot.app.store.durable.human_queue import HumanQueue, LeavingReview, Left
from reviewbot.app.store.durable.labels import Labels
from reviewbot.app.worker.work import ReviewRequest
from reviewbot.domain.contracts.feedback import Outcome
from reviewbot.domain.contracts.pulls import PullReview
from reviewbot.hosts.base import CodeHost
from reviewbot.memory.fingerprints import all_of
from reviewbot.publish.marker import Signer
from reviewbot.pull_requests.feedback import observe


def keep_review(database: Database, installation: int, run: str, value: PullReview) -> None:
    """Keep what a posted review leaves to a person, and the labels of its ledger."""
    ref, records = value.pull, () if value.ledger is None else value.ledger.records
    names = dict(zip(dict.fromkeys(all_of(value.review)), value.fingerprints, strict=True))
    former = {name: record.names for record in records for name in record.names}
    place = (installation, ref.repository_id, ref.number)
    HumanQueue(database).put(
        LeavingReview(*place, ref.repository, ref.head_sha, run),
        [
            Left(tuple(dict.fromkeys((name, *former.get(name, ())))), item)
            for item in value.review.human
            if item.finding is not None and (name := names.get(item.finding))
        ],
    )
    labels = Labels(database)
    labels.put(*place, records)
    labels.close(ref.repository_id, ref.number, "open")


def collect_feedback(database: Database, request: ReviewRequest, host: CodeHost, signer: Signer) -> None:
    """Read what people did on a pull request into its labels, and how it ended. Blocking. Raises HostError.

    The state is read and not the event, so that events that are lost, repeated or late do no harm. Whether it was
    merged is what the signed event of its end says.
    """
    pull = host.pull_request(request.repository, request.number)
    if pull.repository_id != request.repository_id:
        return
    labels = Labels(database)
    ledger, observed = observe(pull, signer, host)
    labels.put(request.installation, pull.repository_id, pull.number, ledger.records)
    for each in observed:
        labels.observe(pull.repository_id, pull.number, each.name, (each.up, each.down, each.resolved))
    if request.trigger.get("kind") == "closed" and not pull.is_open:
        outcome: Outcome = "merged" if request.trigger.get("reason") == "merged" else "closed"
        labels.close(pull.repository_id, pull.number, outcome)
