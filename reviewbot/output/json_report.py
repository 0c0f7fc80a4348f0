"""Review -> JSON: the whole review, for programs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reviewbot.contracts import Plan, Review


def render_json(model: Review | Plan) -> str:
    """The model's fields in their order (`schema_version` first), indented by two, ASCII only, with a last LF."""
    text = json.dumps(model.model_dump(mode="json"), indent=2, ensure_ascii=True, allow_nan=False)
    # DEL is ASCII, and json leaves it as it is; outside a string it cannot occur.
    return text.replace("\x7f", "\\u007f") + "\n"
