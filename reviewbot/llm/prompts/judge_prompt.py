"""The request that a judge is sent: claims, each with its hunk and with its proof as the program found it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from reviewbot.contracts import ChangeSet, Finding, JudgeAnswer, Payload, Proof, Tier
from reviewbot.llm.client.answers import schema_of
from reviewbot.llm.prompts.change_view import hunk_views
from reviewbot.llm.prompts.delimiters import RULE, fenced
from reviewbot.ports import ModelRequest, OfferedTool, Text, Turn
from reviewbot.redact import redact

MAX_TITLE = 300
MAX_DESCRIPTION = 2_000
MAX_HUNK_CHARS = 6_000
"""Of one hunk; of a longer one the rows around its claims."""
ROWS, MAX_ROW = 30, 400
"""Rows around a claim that are shown of a longer hunk, and characters of each."""
NUMBER_WIDTH = 5
MAX_PROOF_CHARS = 2_500
"""Of one proof with the lines around it."""
ANSWER_TOKENS = 8_000
"""Twelve rulings with their reasons, and as much again to think."""

ProofLines = Callable[[Proof], str]
"""The numbered lines of a proof and those around it; may block; empty where they are not at hand."""


@dataclass(frozen=True)
class NamedClaim:
    """A finding under the handle by which the judge speaks of it."""

    handle: str
    finding: Finding


def judge_request(  # noqa: PLR0913 - what a request is made of
    change: ChangeSet,
    claims: Sequence[NamedClaim],
    slices: Sequence[Payload],
    proof_lines: ProofLines,
    system: str,
    tools: tuple[OfferedTool, ...],
    *,
    mask: Callable[[str], str] = lambda text: text,
    tier: Tier,
    subject: str,
    earlier: str = "",
    stated: str = "",
) -> ModelRequest:
    """One batch. `earlier`: what was ruled of these claims before, where they are asked about once more."""
    shared = [f"Title of the change:\n{fenced('title', change.title[:MAX_TITLE])}"] if change.title.strip() else []
    if change.description.strip():
        shared.append(f"Its description:\n{fenced('description', change.description[:MAX_DESCRIPTION])}")
    shared += [f"Code of the change:\n{fenced('hunk', mask(text))}" for text in _hunks(claims, slices)]
    shared += [_claim(each, proof_lines) for each in claims]
    if earlier:
        shared.append(f"Ruled before, and asked again because it decides:\n{fenced('ruling', earlier)}")
    handles = ", ".join(each.handle for each in claims)
    shared.append(f"{stated}\n\nRule on each of these claims, once: {handles}.".strip())
    return ModelRequest(
        purpose="judge",
        subject=subject,
        tier=tier,
        system=(Text(f"{system.strip()}\n\n{RULE}"),),
        turns=(Turn("user", (Text("\n\n".join(shared), cached=True),)),),
        max_tokens=ANSWER_TOKENS,
        tools=tools,
        schema=schema_of(JudgeAnswer),
    )


def _hunks(claims: Sequence[NamedClaim], slices: Sequence[Payload]) -> list[str]:
    """Each hunk that a claim stands in, once."""
    wanted: dict[tuple[str, int], tuple[str, set[int]]] = {}
    for claim in claims:
        finding = claim.finding
        for payload in (each for each in slices if each.file_path == finding.path):
            for shown, text in hunk_views(payload):
                if finding.line in shown:
                    wanted.setdefault((finding.path, shown.start), (text, set()))[1].add(finding.line)
    return [f"{path}\n{_around(text, lines)}" for (path, _), (text, lines) in wanted.items()]


def _around(text: str, numbers: Collection[int]) -> str:
    """A hunk, or of a long one the rows around each line of the new side that a claim is about."""
    if len(text) <= MAX_HUNK_CHARS:
        return text
    rows = text.split("\n")
    marks = {f"{number:5}" for number in numbers}
    at = [index for index, row in enumerate(rows) if row[:NUMBER_WIDTH] in marks]
    kept = sorted({near for each in at for near in range(max(0, each - ROWS), min(len(rows), each + ROWS + 1))})
    parts: list[str] = []
    for position, index in enumerate(kept):
        if index and (position == 0 or kept[position - 1] != index - 1):
            parts.append("[cut]")
        parts.append(rows[index][:MAX_ROW])
    return "\n".join([*parts, "[cut]"] if kept and kept[-1] < len(rows) - 1 else parts)


def _claim(claim: NamedClaim, proof_lines: ProofLines) -> str:
    finding = claim.finding
    texts = [
        f"{finding.type}, {finding.severity} as reported, at {finding.path}:{finding.line}",
        f"quote ({finding.side} side): {finding.evidence[:MAX_PROOF_CHARS]}",
        f"claim: {finding.title} {finding.message}".strip(),
        f"impact: {finding.trigger}",
        f"suggested: {finding.suggestion[:MAX_PROOF_CHARS]}" if finding.suggestion else "",
        f"disputed: {finding.disputed}" if finding.disputed else "",
    ]
    told = fenced("claim", redact("\n".join(text for text in texts if text)))
    proofs = [_proof(each, proof_lines) for each in finding.proof]
    return "\n".join([f"Claim {claim.handle}, and below it the code that it names as proof:", told, *proofs])


def _proof(proof: Proof, proof_lines: ProofLines) -> str:
    shown = proof_lines(proof)
    if not shown or len(shown) > MAX_PROOF_CHARS:
        # The lines themselves decide, and not those around them.
        shown = proof.quote
    where = f"{proof.path}:{proof.line} ({proof.side} side)"
    why = f"\nnamed because: {proof.why}" if proof.why else ""
    return fenced("proof", f"{where}\n{shown[:MAX_PROOF_CHARS]}{why}")
