"""The last look over the finished review: a model may drop or demote what a model found, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from reviewbot.contracts import ChangeSet, Critique, Finding, Remark, Severity, Withheld
from reviewbot.errors import EngineError
from reviewbot.llm.client.answers import read_answer, schema_of
from reviewbot.model.fence import RULE
from reviewbot.model.showing import shown_code, shown_finding
from reviewbot.ports import Model, ModelRequest, Recorder, Text, Turn
from reviewbot.redact import redact
from reviewbot.supervisor.verifier import by_a_model_alone
from reviewbot.supervisor.weighing import Weighed, rank

ANSWER_TOKENS = 6_000
"""A sentence for each finding that it holds something against."""
MAX_FINDINGS = 100
"""That are looked over, the gravest first: as many as an answer has room for."""

FAILED = "the last look over the review did not take place; nothing was dropped or demoted"
LOWER: Mapping[Severity, Severity] = {"critical": "warning", "warning": "info", "info": "info"}
"""One step down."""


class Criticized(NamedTuple):
    """The findings after the last look, and what a reader should know of it."""

    weighed: Weighed
    notes: tuple[str, ...] = ()


class Critic:
    """Asks once. Without a model's finding among those that are shown it asks nobody."""

    def __init__(self, model: Model, prompt: str, trace: Recorder) -> None:
        self._model = model
        self._prompt = prompt
        self._trace = trace

    async def criticized(self, change: ChangeSet, weighed: Weighed) -> Criticized:
        """The same findings, some withheld or one step less severe. No error: it leaves them as they are."""
        named = {f"f{number}": finding for number, finding in enumerate(weighed.shown[:MAX_FINDINGS], 1)}
        if not any(map(by_a_model_alone, named.values())):
            return Criticized(weighed)
        try:
            reply = await self._model.ask(request_of(change, named, self._prompt))
            remarks = _by_handle(read_answer(reply, Critique).remarks, named)
            judged = [(finding, remarks.get(name)) for name, finding in named.items()]
            criticized = Criticized(_applied(weighed, judged, weighed.shown[MAX_FINDINGS:]))
        except Exception as error:  # noqa: BLE001 - an extra at the end: no fault in it may cost the finished review
            # Of an error that is not ours the type alone: its text may hold anything.
            why = str(error) if isinstance(error, EngineError) else type(error).__name__
            self._trace.record("settled", by="critic", effect="failed", reason=why)
            return Criticized(weighed, (FAILED,))
        for handle, remark in remarks.items():
            self._record(handle, named[handle], remark)
        return criticized

    def _record(self, handle: str, finding: Finding, remark: Remark) -> None:
        place = {"type": finding.type, "path": finding.path, "line": finding.line}
        self._trace.record(
            "settled", by="critic", finding=handle, effect=remark.action, reason=redact(remark.reason), findings=[place]
        )


def request_of(change: ChangeSet, named: Mapping[str, Finding], prompt: str) -> ModelRequest:
    """The one question about all findings, by their handles."""
    return ModelRequest(
        purpose="critic",
        subject=f"{len(named)} findings",
        tier="sonnet",
        system=(Text(f"{prompt.rstrip()}\n\n{RULE}", cached=True),),
        turns=(Turn("user", (Text("\n\n".join(_told(change, named))),)),),
        max_tokens=ANSWER_TOKENS,
        schema=schema_of(Critique),
    )


def _told(change: ChangeSet, named: Mapping[str, Finding]) -> Iterator[str]:
    for handle, finding in named.items():
        by = "a model" if by_a_model_alone(finding) else "a program, not yours to judge"
        head = f"Finding {handle}, by {by}, for the worker {finding.type}, severity {finding.severity}"
        yield shown_finding(finding, [head])
        yield from filter(None, [shown_code(change, [finding])])


def _by_handle(remarks: Iterable[Remark], named: Mapping[str, Finding]) -> dict[str, Remark]:
    """The remark that counts for each finding of a model, in our order; of two, the milder one."""
    said: dict[str, list[Remark]] = {}
    for remark in remarks:
        said.setdefault(remark.finding, []).append(remark)
    allowed = [handle for handle, finding in named.items() if by_a_model_alone(finding) and handle in said]
    return {handle: min(said[handle], key=lambda each: (each.action, each.reason)) for handle in allowed}


def _applied(weighed: Weighed, judged: Iterable[tuple[Finding, Remark | None]], rest: Sequence[Finding]) -> Weighed:
    shown = list(rest)
    dropped: list[Withheld] = []
    for finding, remark in judged:
        if remark is None:
            shown.append(finding)
        elif remark.action == "drop":
            dropped.append(Withheld(finding=finding, reason="critic", message=remark.reason))
        else:
            shown.append(_demoted(finding, remark.reason))
    return Weighed(sorted(shown, key=rank), [*weighed.withheld, *dropped], weighed.human, weighed.conflicts)


def _demoted(finding: Finding, reason: str) -> Finding:
    if LOWER[finding.severity] == finding.severity:
        return finding
    proof = f"{finding.judgement} Demoted from {finding.severity}: {reason}".lstrip()
    return finding.model_copy(update={"severity": LOWER[finding.severity], "judgement": proof})
