"""The request that a judge is sent: the code that the claims are about, each line once, and below it the claims."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from reviewbot.contracts import ChangeSet, Finding, Payload, Proof, Tier
from reviewbot.contracts.answers import JudgeAnswer
from reviewbot.llm.client.answers import schema_of
from reviewbot.llm.prompts.delimiters import RULE, fenced
from reviewbot.llm.prompts.judged_code import LinesOfSide, hunk_excerpts, proof_excerpts
from reviewbot.ports import ModelRequest, OfferedTool, Text, Turn
from reviewbot.redact import redact

MAX_TITLE = 300
MAX_DESCRIPTION = 2_000
MAX_QUOTE = 1_500
"""Characters of a claim's quote, of its suggestion, and of the quote of each proof."""
ANSWER_TOKENS = 8_000
"""Twelve rulings with their reasons, and as much again to think."""


@dataclass(frozen=True)
class NamedClaim:
    """A finding under the handle by which the judge speaks of it."""

    handle: str
    finding: Finding


def judge_request(  # noqa: PLR0913 - what a request is made of
    change: ChangeSet,
    claims: Sequence[NamedClaim],
    slices: Sequence[Payload],
    lines_of: LinesOfSide,
    system: str,
    tools: tuple[OfferedTool, ...],
    *,
    mask: Callable[[str], str] = redact,
    tier: Tier,
    subject: str,
    earlier: str = "",
    stated: str = "",
) -> ModelRequest:
    """One batch. May block.

    Args:
        change: its title and description are shown.
        claims: what is to be ruled on.
        slices: the change; each claim is shown with the rows of its hunk.
        lines_of: the masked lines of one side of a file, for what stands around each proof; none where it has none.
        system: the system prompt.
        tools: what the judge may look up with.
        mask: a text with masked secrets.
        tier: of the model.
        subject: the name of the request in trace and journal.
        earlier: what was ruled of these claims before, where they are asked about once more.
        stated: how much may be looked up, in words.
    """
    # Masked before they are cut: a secret that is cut in two has lost its form.
    title, description = mask(change.title)[:MAX_TITLE], mask(change.description)[:MAX_DESCRIPTION]
    shared = [f"Title of the change:\n{fenced('title', title)}"] if title.strip() else []
    if description.strip():
        shared.append(f"Its description:\n{fenced('description', description)}")
    hunks = hunk_excerpts([each.finding for each in claims], slices)
    shared += [f"Code of the change:\n{fenced('hunk', mask(text))}" for text in hunks.texts]
    proofs = [proof for each in claims for proof in each.finding.proof]
    shared += [f"Code around proofs:\n{fenced('code', text)}" for text in proof_excerpts(proofs, hunks.shown, lines_of)]
    shared += [_claim(each, mask) for each in claims]
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


def _claim(claim: NamedClaim, mask: Callable[[str], str]) -> str:
    finding = claim.finding
    texts = [
        f"{finding.type}, {finding.severity} as reported, at {finding.path}:{finding.line}",
        f"quote ({finding.side} side): {finding.evidence[:MAX_QUOTE]}",
        f"claim: {finding.title} {finding.message}".strip(),
        f"impact: {finding.trigger}",
        f"suggested: {finding.suggestion[:MAX_QUOTE]}" if finding.suggestion else "",
        f"disputed: {finding.disputed}" if finding.disputed else "",
        *(_proof(each) for each in finding.proof),
    ]
    return f"Claim {claim.handle}:\n{fenced('claim', mask(chr(10).join(text for text in texts if text)))}"


def _proof(proof: Proof) -> str:
    why = f", named because: {proof.why}" if proof.why else ""
    return f"proof: {proof.path}:{proof.line} ({proof.side} side){why}\n{proof.quote[:MAX_QUOTE]}"
