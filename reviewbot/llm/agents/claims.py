"""Turn a reader's claims into candidates: find the task of each, and check that its quotes stand where they should."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from reviewbot.diff.anchor import anchor, file_of
from reviewbot.diff.rows import payload_rows
from reviewbot.domain.contracts import Candidate, Payload, Proof, ReviewTask, Side
from reviewbot.domain.contracts.answers import Claim, ProofQuote
from reviewbot.redact.mask import MASK, redact

SURE_ENOUGH = 50
"""A claim below this confidence is not worth a further turn for its quotes."""
MAX_PROOF = 8
"""Quotes of one claim that are looked up."""
MAX_PROBLEMS = 20
"""Problems that one repair names."""

MAX_CWE, MAX_TITLE, MAX_MESSAGE, MAX_IMPACT, MAX_CODE, MAX_CATEGORY = 10_000, 200, 2_000, 1_000, 4_000, 80
"""What `Candidate` takes. A longer text is cut; a longer replacement would be wrong code then, and is left out."""
NO_WORDS = "the model gave no words for this"

FileText = Callable[[str, Side], str | None]
"""A side of a file of the repository; None where it is not at hand or must not be shown to a model."""

_NO_SLUG = re.compile(r"[^a-z0-9_.:/@-]+")
_MARK = re.compile(r"^\s*\d{0,6}\s?[+-]?")


@dataclass(frozen=True)
class QuoteFinder:
    """Looks for quoted lines in the change and in the repository."""

    slices: Sequence[Payload]
    text: FileText
    mask: Callable[[str], str] = lambda text: redact(text, keep_lines=True)
    """A text with masked secrets and as many lines as before: what the model was shown."""

    def unmask(self, claim: Claim) -> Claim:
        """The claim with the lines of the change in place of a quote that holds a masked secret, where they are found.

        A replacement with the mask in it is left out: it would put that into the code.
        """
        path = file_of(candidate_of(claim, "model", ()), self.slices) if MASK in claim.quote else None
        quote = None if path is None else self._original(path, claim)
        known: dict[str, str | None] = {} if quote is None else {"quote": quote}
        if MASK in (claim.replacement or "") and MASK not in (quote or ""):
            known["replacement"] = None
        return claim.model_copy(update=known)

    def _original(self, path: str, claim: Claim) -> str | None:
        """The lines of the change that a masked quote stands for: those at the claim's line, else the first ones."""
        rows = list(self._changed_lines(path, claim.side))
        shown = [(number, " ".join(text.split())) for number, text in self._masked(rows)]
        wanted = _plain_lines(claim.quote)
        at = _position(wanted, [line for line in shown if line[0] >= claim.line]) if claim.line else None
        if at is None or at[0] != claim.line:
            at = _position(wanted, shown)
        return None if at is None else "\n".join(text for number, text in rows if at[0] <= number <= at[1])

    def _masked(self, rows: Sequence[tuple[int, str]]) -> list[tuple[int, str]]:
        """The lines as a model was shown them: a secret may go over several."""
        shown = self.mask("\n".join(text for _, text in rows)).split("\n")
        return [(number, text) for (number, _), text in zip(rows, shown, strict=False)]

    def in_change(self, claim: Claim) -> bool:
        """Whether the code that a claim quotes stands in the change, once or where the claim says."""
        candidate = candidate_of(claim, "model", ())
        path = file_of(candidate, self.slices)
        return (
            path is not None
            and anchor(candidate, *(each for each in self.slices if each.file_path == path)) is not None
        )

    def outside(self, claim: Claim) -> Proof | None:
        """The lines of the claim's file that its quote names, where no hunk of the change shows them."""
        path = file_of(candidate_of(claim, "model", ()), self.slices) or claim.file
        wanted = _plain_lines(claim.quote)
        for side in ("new", "old"):  # what a hunk shows on the other side lies in the change as well
            shown = [(number, " ".join(text.split())) for number, text in self._changed_lines(path, side)]
            if _position(wanted, shown) is not None:
                return None
        return self._found(ProofQuote(path=path, side=claim.side, quote=claim.quote, why=""))

    def proof(self, claim: Claim) -> tuple[Proof, ...]:
        """The proof quotes that were found, with their lines as they stand there."""
        quotes = claim.proof[:MAX_PROOF]
        return tuple(found for quote in quotes if (found := self._found(quote)) is not None)

    def _found(self, quote: ProofQuote) -> Proof | None:
        # Twice where the side is wrong: models say "old" of code that the change removes and that both sides have.
        for side in dict.fromkeys((quote.side, "new", "old")):
            lines = self._lines(quote.path, side)
            at = _position(_plain_lines(quote.quote), [(number, " ".join(text.split())) for number, text in lines])
            if at is None:
                continue
            first, last = at
            shown = "\n".join(text for number, text in lines if first <= number <= last)
            return Proof(path=quote.path, side=side, line=first, end_line=last, quote=redact(shown), why=quote.why)
        return None

    def _lines(self, path: str, side: Side) -> Sequence[tuple[int, str]]:
        text = self.text(path, side)
        if text is not None:
            return list(enumerate(text.split("\n"), 1))
        return self._masked(list(self._changed_lines(path, side)))

    def _changed_lines(self, path: str, side: Side) -> Iterator[tuple[int, str]]:
        for payload in self.slices:
            if path in (payload.file_path, payload.old_path):
                for _, row in payload_rows(payload):
                    number = row.new if side == "new" else row.old
                    if number is not None:
                        yield number, row.text


def candidate_of(claim: Claim, source: str, proof: tuple[Proof, ...]) -> Candidate:
    """The claim as an engine hands it on; its place is looked for by the quote."""
    known_cwe = claim.cwe is not None and 0 < claim.cwe <= MAX_CWE
    return Candidate(
        severity=claim.severity,
        path=claim.file,
        quote=claim.quote[:MAX_CODE],
        near=claim.line if claim.line is not None and claim.line > 0 else None,
        title=" ".join(claim.title.split())[:MAX_TITLE],
        message=(claim.message.strip() or claim.title.strip() or NO_WORDS)[:MAX_MESSAGE],
        confidence=claim.confidence,
        source=source,
        category=_NO_SLUG.sub("-", claim.category.strip().lower())[:MAX_CATEGORY] or claim.cause,
        trigger=claim.impact[:MAX_IMPACT],
        suggestion=(claim.suggestion or claim.replacement or "")[:MAX_CODE],
        replacement=None if claim.replacement is None or len(claim.replacement) > MAX_CODE else claim.replacement,
        cwe=claim.cwe if known_cwe else None,
        cause=claim.cause,
        side=claim.side,
        worth=claim.worth,
        proof=proof,
    )


def with_own_ids(claims: Iterable[Claim]) -> tuple[Claim, ...]:
    """The claims, each with an id that no other one has."""
    seen: Counter[str] = Counter()
    found: list[Claim] = []
    for claim in claims:
        seen[claim.id] += 1
        name = claim.id if seen[claim.id] == 1 else f"{claim.id[:30]}-{seen[claim.id]}"
        found.append(claim.model_copy(update={"id": name}))
    return tuple(found)


def problems_of(claims: Iterable[Claim], finder: QuoteFinder) -> dict[str, str]:
    """Problems that one more turn may repair, by claim: misplaced quotes, as text for the model."""
    problems: dict[str, str] = {}
    for claim in (each for each in claims if each.confidence >= SURE_ENOUGH):
        if not finder.in_change(claim):
            problems[claim.id] = _misplaced(claim, finder.outside(claim))
        elif claim.proof and not finder.proof(claim):
            problems[claim.id] = "no quote of its proof stands in the file that it names"
    return dict(islice(problems.items(), MAX_PROBLEMS))


def _misplaced(claim: Claim, outside: Proof | None) -> str:
    if outside is not None:
        return (
            f"the quote is in `{claim.file}`, at line {outside.line} of the {outside.side} side, but no hunk of the "
            "change shows that line: quote the changed line that brings the defect about, and name this one as proof"
        )
    return (
        f"the quote is not in `{claim.file}` on the {claim.side} side of the change, or stands there more than once "
        "and `line` does not tell which"
    )


def apply_repair(claims: Sequence[Claim], later: Sequence[Claim], asked: Collection[str]) -> tuple[Claim, ...]:
    """The claims after a repair of those with the ids `asked`: what it does not name again of them was withdrawn.

    It changes and adds nothing else.
    """
    by_id = {claim.id: claim for claim in later}
    return tuple(by_id.get(claim.id, claim) if claim.id in asked else claim
                 for claim in claims if claim.id not in asked or claim.id in by_id)  # fmt: skip


def by_task(claims: Iterable[Claim], tasks: Sequence[ReviewTask]) -> dict[str, list[Claim]]:
    """The claims of each task, by the worker's name. A model may name the worker or the type of a task.

    A claim about a file that its task does not have, such as a logic fault in a configuration file, goes to the first
    task that has it: a reader sees the files of all of its tasks. One that names no task goes to the first one.
    """
    names = {**{task.type: task for task in tasks}, **{task.worker: task for task in tasks}}
    found: dict[str, list[Claim]] = {task.worker: [] for task in tasks}
    for claim in claims:
        named = names.get(claim.task, tasks[0])
        fitting = [task for task in (named, *tasks) if file_of(candidate_of(claim, "model", ()), task.slices)]
        found[(fitting or [named])[0].worker].append(claim)
    return found


def _plain_lines(quote: str) -> list[str]:
    lines = [" ".join(line.split()) for line in quote.split("\n")]
    return [line for line in lines if any(char.isalnum() for char in line)]


def _position(wanted: Sequence[str], lines: Sequence[tuple[int, str]]) -> tuple[int, int] | None:
    """The first and the last line where the wanted lines stand one below the other, blank ones apart."""
    if not wanted:
        return None
    for reading in (list(wanted), [_MARK.sub("", line).strip() for line in wanted]):
        dense = [(number, text) for number, text in lines if any(char.isalnum() for char in text)]
        for at in range(len(dense) - len(reading) + 1):
            if all(text == want for want, (_, text) in zip(reading, dense[at : at + len(reading)], strict=True)):
                return dense[at][0], dense[at + len(reading) - 1][0]
    return _inside(wanted, lines)


MIN_PART = 12
"""Characters of a quote that is a part of one line."""


def _inside(wanted: Sequence[str], lines: Sequence[tuple[int, str]]) -> tuple[int, int] | None:
    """The one line that holds a quote of one line as a part."""
    if len(wanted) != 1 or len(wanted[0]) < MIN_PART:
        return None
    found = [number for number, text in lines if wanted[0] in text]
    return (found[0], found[0]) if len(found) == 1 else None
