"""Carry out a run's steps against GitHub with the App's tokens; command line and Action take the same steps."""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial

from reviewbot import __version__, wiring
from reviewbot.app.feedback.apply_decision import DecisionFollower
from reviewbot.app.feedback.keep import collect_feedback, keep_review
from reviewbot.app.scheduling.resolve_command import resolve_command
from reviewbot.app.store.durable.commands import Commands
from reviewbot.app.store.durable.database import Database
from reviewbot.app.store.durable.human_queue import HumanQueue, QueueItem
from reviewbot.app.store.durable.journal import DurableJournal
from reviewbot.app.store.durable.labels import Labels
from reviewbot.app.store.durable.rate import SharedRate
from reviewbot.app.store.durable.runs import Runs, WorkerCost
from reviewbot.app.store.inbox.counters import Counters, Tally
from reviewbot.app.store.inbox.store import InboxError
from reviewbot.app.triggers.decide import refusal_of
from reviewbot.app.worker.answer_reply import JudgeReply
from reviewbot.app.worker.follow_command import CommandFollower, with_wishes
from reviewbot.app.worker.live_trace import kept_while_it_grows
from reviewbot.app.worker.merge_group import answer_merge_group
from reviewbot.app.worker.metrics import tallies_of, tallies_of_calls
from reviewbot.app.worker.work import (
    End,
    Json,
    Posted,
    ReviewRequest,
    RunContext,
    RunSteps,
    StoredReview,
    UnwantedError,
)
from reviewbot.delivery import mask_trace
from reviewbot.domain.contracts import Finding
from reviewbot.domain.contracts.pulls import PullRef, PullReview
from reviewbot.domain.errors import HostAccessError, HostError, HostMissingError
from reviewbot.domain.ports import Clock
from reviewbot.evaluate.feedback_fit import fit_feedback
from reviewbot.hosts.base import CheckDraft, CodeHost, PullRequest
from reviewbot.hosts.github.auth.app import AppTokens, Permission
from reviewbot.hosts.github.host import github_host
from reviewbot.memory.decisions import Decision
from reviewbot.memory.recall import MAX_UNPOSTED
from reviewbot.publish.check_run import CHECK_NAME
from reviewbot.publish.discussion import ReplyRuling
from reviewbot.publish.marker import Signer
from reviewbot.pull_requests.check_run import abandon_check, start_check
from reviewbot.pull_requests.fetch import ref_of
from reviewbot.pull_requests.host_session import HostSession, RunOptions
from reviewbot.pull_requests.judge_reply import judge_reply
from reviewbot.pull_requests.post import find_posted, post
from reviewbot.pull_requests.review import Prepared, carry_out, prepare
from reviewbot.pull_requests.review import Reviewed as Made
from reviewbot.report.text import md
from reviewbot.sources.memory import SystemClock

logger = logging.getLogger("reviewbot.app.worker")

LOOKING: Mapping[str, Permission] = {
    "checks": "write",  # that a review runs is said before it has begun
    "contents": "read",
    "metadata": "read",
    "pull_requests": "read",
}
"""What fetching and reviewing needs. The steps that read a change have no right to write about it."""

POSTING: Mapping[str, Permission] = {
    "checks": "write",
    "contents": "read",
    "metadata": "read",
    "pull_requests": "write",
}
"""What posting needs, and a reaction, a label and a request for a reviewer."""

BUSY = "another worker is posting this review"
OTHER = "the repository of this name is another one now"
CLOSED = "the pull request is closed"
CHANGED = "the pull request changed while its review was refused"
STOPPED = "Not reviewed any more"
PAUSED = "{} has paused the reviews of this pull request (`/reviewbot resume` ends that)"
STANDS = "the review of this head stands there already"

AUTOMATIC = "head"
"""The kind of trigger that no user gave on purpose: only there the settings may be against a review."""


@dataclass(frozen=True)
class App:
    """Inputs shared by all runs."""

    tokens: AppTokens
    signer: Callable[[], Signer]
    environ: Mapping[str, str] = field(repr=False)
    """With the operator's settings and the models' keys."""
    bot_id: Callable[[], int | None]
    tallies: Counters
    database: Callable[[], Database]
    """Where commands, labels and decisions are kept; there is one as soon as a step is carried out."""
    clock: Clock = field(default_factory=SystemClock)
    """For the waits of posting."""


def policy_name(environ: Mapping[str, str]) -> str:
    """A digest of the operator's settings and the version of this program."""
    settings = wiring.settings_for(None, environ, {})
    return hashlib.sha256(f"{__version__}|{settings!r}".encode()).hexdigest()[:12]


def github_steps(app: App) -> RunSteps:
    """The steps. Raises ConfigError where the operator's settings cannot be used."""
    hosted = GitHubSteps(app)
    return RunSteps(
        policy=policy_name(app.environ),
        fetch=hosted.fetch,
        review=hosted.review,
        post=hosted.post,
        resolve=hosted.resolve,
        conclude=hosted.conclude,
        close=hosted.close,
        decide=hosted.decide,
        forget=app.tokens.forget,
        count=hosted.count,
    )


class GitHubSteps:
    """The functions of `RunSteps`."""

    def __init__(self, app: App) -> None:
        self._app = app

    def fetch(self, run: RunContext) -> Json | End:
        """Which commits it is about; or that it is to be refused, and that has been said."""
        with self._session(run, LOOKING) as session:
            pull = session.host.pull_request(run.request.repository, run.request.number)
            if (end := _other(run.request, pull)) is not None:
                return end
            if who := self._paused_by(run.request):
                return asyncio.run(self._refused(session, ref_of(pull), PAUSED.format(who)))
            # The host delivers in any order: what a delivery was refused for may be gone by now.
            if run.request.refusal and (why := refusal_of(pull, wiring.settings_for(None, self._app.environ, {}))):
                return asyncio.run(self._refused(session, ref_of(pull), why))
            return {"ref": ref_of(pull).model_dump(mode="json")}

    async def review(self, run: RunContext, fetched: Json) -> StoredReview | End:
        """The review; its trace is kept also where it breaks off."""
        ref = PullRef.model_validate_json(json.dumps(fetched["ref"]))
        with self._session(run, LOOKING) as session, ExitStack() as closing:
            prepared = await asyncio.to_thread(prepare, session, ref, self._run_options(run), closing)
            if (end := await self._needless(run.request, session, prepared)) is not None:
                return end
            try:
                async with kept_while_it_grows(run, prepared.run.trace):
                    reviewed = await carry_out(session, prepared)
            except BaseException:
                run.keep(mask_trace(prepared.run.trace))
                raise
        return _to_stored(reviewed, prepared)

    async def _needless(self, request: ReviewRequest, session: HostSession, prepared: Prepared) -> End | None:
        """The end of a run that needs no review: settings refuse it, or the review is posted already."""
        if request.trigger.get("kind", AUTOMATIC) == AUTOMATIC:
            why = await asyncio.to_thread(_refusal, session, prepared)
            if why:
                end = await self._refused(session, prepared.ref, why)
                # The event of a label changed meanwhile found no refusal to lift: then this is to be done again.
                if await asyncio.to_thread(_refusal, session, prepared) != why:
                    raise HostError(CHANGED)
                return end
        before = await find_posted(session, prepared)
        if before is None:
            return None
        if request.again:
            # The user who asked for it looks at the check, which the host opens again for a re-run.
            check = await start_check(session, prepared.ref)
            await abandon_check(session, prepared.ref, check, f"{STANDS}: {before.url}", title="Reviewed before")
        return End("posted", STANDS, url=before.url)

    def post(self, run: RunContext, reviewed: Json) -> Posted | End:
        """Exactly one review; then a person is called, where the review asks for one."""
        value = PullReview.model_validate_json(json.dumps(reviewed["review"]))
        with self._session(run, POSTING) as session:
            posted = asyncio.run(post(session, value))
            if posted.outcome == "head_moved":
                pull = session.host.pull_request(value.pull.repository, value.pull.number)
                return End("moved", head_sha=pull.head_sha)
            if posted.outcome == "busy":
                raise HostError(BUSY)
            for note in posted.notes:
                logger.info("%s", note)
            if value.review.human:
                person, ref = reviewed["person"], value.pull
                notes = session.host.request_people(ref.repository, ref.number, person["label"], person["reviewers"])
                for note in notes:
                    logger.warning("%s", note)
        keep_review(self._app.database(), run.request.installation, run.run_id, value)
        if posted.outcome == "posted":
            self._add([Tally(each["name"], each["labels"], each["value"]) for each in reviewed["tallies"]])
        return Posted(posted.review_id or 0, posted.url)

    def resolve(self, request: ReviewRequest) -> ReviewRequest | None:
        """As `RunSteps.resolve`."""
        if request.trigger.get("kind") == "group":
            with self._host(request, LOOKING) as host:
                answer_merge_group(host, request, self._app.signer())
            return None
        kind, database = request.trigger.get("kind"), self._app.database()
        with self._host(request, POSTING) as host:
            if kind in ("feedback", "closed"):
                collect_feedback(database, request, host, self._app.signer())
            if kind == "feedback":
                return None
            if kind != "command":
                return resolve_command(host, request)
            return CommandFollower(host, database, self._app.signer(), self._judge(host, database, request)).follow(
                request
            )

    def _judge(self, host: CodeHost, database: Database, request: ReviewRequest) -> JudgeReply:
        """What judges a finding once more for a reply; its calls are counted, and an answer is paid once."""
        journal = DurableJournal(database, request.installation, request.repository_id)
        inputs = wiring.RunInputs(environ=self._app.environ, rates=partial(SharedRate, database))

        def judge(pull: PullRequest, finding: Finding, reply: str) -> ReplyRuling | None:
            session = HostSession(host, self._app.signer())
            made = judge_reply(session, pull, RunOptions(inputs=inputs, journal=journal), finding, reply)
            if made is None:
                return None
            self._add(tallies_of_calls(made.events))
            return ReplyRuling(made.confidence, made.reason, made.usage)

        return judge

    def conclude(self, run: RunContext, end: End) -> None:
        """As `RunSteps.conclude`."""
        with self._session(run, LOOKING) as session:
            pull = session.host.pull_request(run.request.repository, run.request.number)
            if _other(run.request, pull) is None:
                asyncio.run(self._refused(session, ref_of(pull), f"{end.reason} (run {run.run_id})"))

    def close(self, request: ReviewRequest) -> None:
        """As `RunSteps.close`. Only a check run is ended that we began when this was the head."""
        with self._host(request, LOOKING) as host:
            draft = CheckDraft(STOPPED, f"**{STOPPED}:** {md(request.refusal)}\n", "", "cancelled")
            host.checks(request.repository, request.number).finish_started(CHECK_NAME, request.head_sha, draft)

    def decide(self, item: QueueItem) -> Json:
        """As `RunSteps.decide`."""
        request = ReviewRequest(item.installation, item.name, item.repository, item.pull, item.head)
        with self._host(request, POSTING) as host:
            return DecisionFollower(host, self._app.database(), self._app.signer()).follow(item)

    @contextmanager
    def _session(self, run: RunContext, permissions: Mapping[str, Permission]) -> Iterator[HostSession]:
        def check_wanted() -> None:
            # A worker that was frozen and goes on cannot know how long: it asks the database, and not its own clock.
            if not run.wanted():
                raise UnwantedError

        with self._host(run.request, permissions, check_wanted) as host:
            yield HostSession(host, self._app.signer(), run.intents, self._app.clock, run.owner)

    @contextmanager
    def _host(
        self,
        request: ReviewRequest,
        permissions: Mapping[str, Permission],
        check: Callable[[], None] = lambda: None,
    ) -> Iterator[CodeHost]:
        """Tokens that the host takes no more, of an App suspended or removed here say, are not given out again."""
        try:
            access = self._app.tokens.installation(request.installation, request.repository_id, permissions)
            with github_host(access, self._app.bot_id(), check) as host:
                yield host
        except (HostAccessError, HostMissingError):
            self._app.tokens.forget(request.installation)
            raise

    def _run_options(self, run: RunContext) -> RunOptions:
        flags, anew = with_wishes(run.request)
        database, pull = self._app.database(), run.request.pull
        dismissed = Commands(database).dismissals(pull)
        confirmed = HumanQueue(database).confirmations(*pull)
        feedback = fit_feedback(Labels(database).list_labels(run.request.installation))
        return RunOptions(
            flags=flags,
            inputs=wiring.RunInputs(environ=self._app.environ, rates=run.rate, feedback=feedback),
            journal=run.journal,
            decisions=tuple(Decision(who, why, name, source="a comment") for name, who, why in dismissed),
            confirmed=tuple(Decision(who, why, name, source="the human queue") for name, who, why in confirmed),
            anew=anew,
            unposted=Runs(database).list_unposted(pull, MAX_UNPOSTED),
        )

    def _paused_by(self, request: ReviewRequest) -> str:
        """Who has paused the reviews that come by themselves; empty where the request is another, or they are not."""
        is_automatic = request.trigger.get("kind", AUTOMATIC) == AUTOMATIC
        return Commands(self._app.database()).paused_by(request.pull) if is_automatic else ""

    @staticmethod
    async def _refused(session: HostSession, ref: PullRef, why: str) -> End:
        """Say it in the check, and not in a comment."""
        await abandon_check(session, ref, await start_check(session, ref), why)
        return End("refused", why)

    def count(self, state: str, seconds: float) -> None:
        """As `RunSteps.count`."""
        wrong = [Tally("errors", {"kind": f"run {state}"}, 1.0)] if state in ("failed", "parked") else []
        self._add([Tally("runs", {"outcome": state}, 1.0), *wrong])
        if state == "posted":
            with suppress(InboxError):
                self._app.tallies.observe_run(seconds)

    def _add(self, tallies: list[Tally]) -> None:
        """Metrics are worth no run: what cannot be counted is not."""
        try:
            self._app.tallies.add_all(tallies)
        except InboxError as error:
            logger.warning("not counted: %s", error)


def _other(request: ReviewRequest, pull: PullRequest) -> End | None:
    """How a run ends whose pull request is not what was ordered."""
    if pull.repository_id != request.repository_id:
        return End("failed", OTHER)
    if not pull.is_open:
        return End("refused", CLOSED)
    if pull.head_sha != request.head_sha:
        return End("moved", head_sha=pull.head_sha)
    return None


def _refusal(session: HostSession, prepared: Prepared) -> str:
    """Why the repository's settings are against the review of the pull request as it is now; empty: they are not."""
    pull = session.host.pull_request(prepared.ref.repository, prepared.ref.number)
    return refusal_of(pull, prepared.settings, [file.path for file in prepared.subject.change.files])


def _to_stored(made: Made, prepared: Prepared) -> StoredReview:
    """What posting needs, and nothing that the reviewed code says."""
    settings, usage = prepared.settings, made.value.review.usage
    person = {"label": settings.person_label, "reviewers": _split_names(settings.person_reviewers)}
    tallies = [each._asdict() for each in tallies_of(made.value.review, made.trace.events)]
    value = {"review": made.value.model_dump(mode="json"), "person": person, "tallies": tallies}
    rows = made.value.review.workers
    costs = tuple(WorkerCost(row.worker, row.usage.cost_usd, used) for row in rows if (used := row.usage.tokens))
    return StoredReview(value, usage.cost_usd, usage.tokens, mask_trace(made.trace), costs)


def _split_names(text: str | None) -> list[str]:
    """The names in a setting, between commas."""
    return [name.strip() for name in (text or "").split(",") if name.strip()]
