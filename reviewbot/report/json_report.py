"""Review -> JSON: the whole review, for programs."""

from __future__ import annotations

from reviewbot.domain.contracts import Plan, Review
from reviewbot.report.formats import ReportInput
from reviewbot.strict_json import for_logs


def render(report: ReportInput) -> str:
    """The review as the registry of formats asks for it."""
    return render_json(report.review)


def render_json(model: Review | Plan) -> str:
    """The model's fields in their order (`schema_version` first), indented by two, ASCII only, with a last LF."""
    return for_logs(model.model_dump_json(indent=2, ensure_ascii=True)) + "\n"
