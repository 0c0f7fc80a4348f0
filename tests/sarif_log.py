"""A review as SARIF, with the fingerprints that are made of what is around each finding."""

from __future__ import annotations

from reviewbot.domain.contracts import Review
from reviewbot.memory.fingerprints import PlaceOf, known_place, of_review
from reviewbot.report.formats import ReportInput
from reviewbot.report.sarif import log


def render_sarif(review: Review, place_of: PlaceOf = known_place) -> str:
    """The log with a last LF, ASCII only. The two functions say what is around a finding, for its fingerprint."""
    return log.render(ReportInput(review, of_review(review, place_of)))
