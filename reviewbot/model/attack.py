"""How candidates are put before a model that shall refute them: in which company, to which tier, in which words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from reviewbot.contracts import Finding, ReviewTask, Rulings, Tier
from reviewbot.llm.client.answers import schema_of
from reviewbot.model.fence import fenced
from reviewbot.model.told import Section
from reviewbot.model.worker_request import MAX_TITLE, UNTITLED
from reviewbot.ports import ModelRequest, Text, Turn
from reviewbot.supervisor.verifier import is_contested, meets

TOKENS_OF_A_RULING = 2_000
"""Its two texts may hold 2,000 characters each; the rest is room to run the code."""
TOKENS_TO_THINK = 2_000
"""Beside the rulings, once for each request."""

_STRENGTH: tuple[Tier, ...] = ("haiku", "sonnet", "opus")


@dataclass(frozen=True)
class Candidate:
    """A finding that is to be judged, and what its judge is shown of the code around it."""

    at: int
    """Its place among the findings of the result."""
    finding: Finding
    tier: Tier
    sections: tuple[Section, ...] = ()
    missing: tuple[str, ...] = ()
    """Names in its message that a search of the repository did not find."""


def tier_for(finding: Finding, findings: Iterable[Finding], finder: Tier) -> Tier:
    """Who judges a finding: the strongest tier where it is critical or contested, else the ordinary one.

    Never one that is weaker than whoever found it: a weak judge sinks what it cannot follow.
    """
    needed: Tier = "opus" if finding.severity == "critical" or is_contested(finding, findings) else "sonnet"
    return max(needed, finder, key=_STRENGTH.index)


def batched(candidates: Sequence[Candidate], most: int) -> list[tuple[Candidate, ...]]:
    """The candidates in groups that may share a request: of one file and one tier, no two about the same line.

    Two claims about one line would support each other, or look like a choice between them.
    """
    groups: list[list[Candidate]] = []
    for each in candidates:
        group = next((group for group in groups if len(group) < most and _fits(each, group)), None)
        if group is None:
            groups.append([each])
        else:
            group.append(each)
    return [tuple(group) for group in groups]


def handles_of(group: Sequence[Candidate]) -> tuple[str, ...]:
    """How the candidates of one request are called in it: by their order there, and by nothing outside of it."""
    return tuple(f"c{n}" for n in range(1, len(group) + 1))


def request_of(task: ReviewTask, prompt: str, group: Sequence[Candidate], title: str = "") -> ModelRequest:
    """The question about one group. All questions of a task begin alike, with its slices, and may share a cache.

    `title` is the change's: what was meant to change is shown to whoever judges claims by the meaning of the code.
    """
    handles = handles_of(group)
    code = "\n\n".join(fenced("slice", f"file: {each.file_path}\n{each.code}") for each in task.slices)
    sections = dict.fromkeys(section for each in group for section in each.sections)
    meant = title[:MAX_TITLE] if task.type not in UNTITLED and title.strip() else ""
    parts = [f"What its author calls the change:\n{fenced('title', meant)}"] if meant else []
    parts += [f"{section.name}:\n{fenced('around', section.text)}" for section in sections]
    parts += [_claim(handle, each) for handle, each in zip(handles, group, strict=True)]
    parts.append(f"Give one ruling for each of: {', '.join(handles)}.")
    return ModelRequest(
        purpose="verifier",
        subject=f"{task.task_id}/{handle_of(group[0])}",
        tier=group[0].tier,
        system=(Text(prompt, cached=True),),
        turns=(Turn("user", (Text(code, cached=True), Text("\n\n".join(parts)))),),
        max_tokens=TOKENS_TO_THINK + TOKENS_OF_A_RULING * len(group),
        schema=schema_of(Rulings),
    )


def handle_of(candidate: Candidate) -> str:
    """How a candidate is called in the trace: by its place among all findings of its task."""
    return f"f{candidate.at + 1}"


def once_more(request: ModelRequest, error: str) -> ModelRequest:
    """The same question after an answer that could not be used. The error may repeat words of that answer."""
    (turn,) = request.turns
    said = Text(f"An earlier answer could not be used:\n{fenced('error', error)}\nAnswer again, in full.")
    return replace(request, turns=(Turn("user", (*turn.parts, said)),))


def _fits(candidate: Candidate, group: Sequence[Candidate]) -> bool:
    first = group[0]
    if (first.tier, first.finding.path) != (candidate.tier, candidate.finding.path):
        return False
    return not any(meets(candidate.finding, other.finding) for other in group)


def _claim(handle: str, candidate: Candidate) -> str:
    """What is claimed, and neither by whom, nor how sure they were, nor how grave they found it."""
    finding = candidate.finding
    told = {
        "file": finding.path,
        "claim": finding.message,
        "trigger": finding.trigger,
        "violates": finding.contract,
        "symptom": finding.symptom,
        "found nowhere in the repository": ", ".join(candidate.missing),
        "quoted code": f"\n{finding.evidence}",
    }
    return f"Candidate {handle}\n" + fenced("claim", "\n".join(f"{k}: {v}" for k, v in told.items() if v.strip()))
