"""Ask the judge once more about one finding, with a person's reply as data: one request, without tools."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from reviewbot.config import Settings
from reviewbot.diff.rows import side_texts
from reviewbot.domain.contracts import Finding, Proof, Usage
from reviewbot.domain.contracts.answers import ReviewAnswer
from reviewbot.domain.errors import EngineError
from reviewbot.domain.ports import Journal, Text
from reviewbot.journal.secret_free import SecretFreeJournal
from reviewbot.redact.mask import SecretMask
from reviewbot.review.trace import Event, Trace
from reviewbot.sources.memory import MemoryJournal, SystemClock
from reviewbot.wiring.assembly import RunInputs
from reviewbot.wiring.change_sources import Subject
from reviewbot.wiring.models import RunServices, asks_models, own_secrets

HANDLE = "c1"


class SecondRuling(NamedTuple):
    """What the judge made of a finding, having read a reply to it."""

    confidence: int
    reason: str
    usage: Usage
    events: tuple[Event, ...]
    """With the call and its cost."""


async def judge_reply(
    subject: Subject, settings: Settings, given: RunInputs, journal: Journal | None, finding: Finding, reply: str
) -> SecondRuling | None:
    """The ruling; None where no model is configured. Raises ConfigError, ProviderError, EngineError and their kinds."""
    if not asks_models(settings, given.environ):
        return None
    # A deployment without models loads nothing that asks one.
    from reviewbot.llm.client.answers import read_answer  # noqa: PLC0415
    from reviewbot.llm.prompts.delimiters import RULE  # noqa: PLC0415
    from reviewbot.llm.prompts.judge_prompt import NamedClaim, judge_request, proof_excerpts  # noqa: PLC0415
    from reviewbot.llm.prompts.reader_prompt import NO_TOOLS, SharedPrefix  # noqa: PLC0415
    from reviewbot.llm.tools import RepositoryTools  # noqa: PLC0415
    from reviewbot.wiring.model_components import prompt  # noqa: PLC0415
    from reviewbot.wiring.model_session import open_session  # noqa: PLC0415

    clock, mask = SystemClock(), SecretMask(side_texts(subject.change), own_secrets(given.environ))
    trace, by_line = Trace(clock, None, mask), partial(mask, keep_lines=True)
    kept = MemoryJournal() if journal is None else SecretFreeJournal(journal, mask)
    view = RepositoryTools(subject.snapshot, mask=by_line, private=settings.private, symbols=False).view
    own = Proof(path=finding.path, line=finding.line, end_line=finding.end_line, side=finding.side, quote="", why="")
    code = proof_excerpts(
        (own, *finding.proof),
        {},
        lambda path, side: view.lines_or_none(path, "head" if side == "new" else "base") or (),
    )
    request = judge_request(
        SharedPrefix("large", system=(Text(RULE),)), [NamedClaim(HANDLE, finding)], code, prompt("judge"), NO_TOOLS,
        mask=by_line, subject="reply", reply=reply,
    )  # fmt: skip
    session = open_session(settings, RunServices(clock, kept, trace, given.environ, given.rates))
    answer = await session.model.ask(request)
    ruling = next((each for each in read_answer(answer, ReviewAnswer).rulings if each.claim == HANDLE), None)
    if ruling is None:
        raise EngineError("the judge ruled on another claim")
    return SecondRuling(ruling.confidence, ruling.reason, answer.usage, tuple(trace.events))
