"""How a run ends by its review: the same for every door."""

from __future__ import annotations

from reviewbot.config import Settings
from reviewbot.contracts import SEVERITY_ORDER, Review
from reviewbot.errors import ExitCode
from reviewbot.supervisor.synthesizer import Rules
from reviewbot.supervisor.verifier import by_a_model_alone


def exit_code(answer: Review, settings: Settings, rules: Rules) -> ExitCode:
    """What a review ends with. The gate speaks before incompleteness does: its finding is certain."""
    found = [*answer.findings, *(entry.finding for entry in answer.withheld if entry.reason in ("over_cap", "minor"))]
    found += [finding for conflict in answer.conflicts for finding in conflict.findings]
    # A program's certain finding goes to a person where a model disputes it. No words of a model open the gate.
    people = [item.finding for item in answer.human if item.finding is not None]
    found += [finding for finding in people if not by_a_model_alone(finding)]
    if settings.fail_on is not None:
        worst_allowed = SEVERITY_ORDER[settings.fail_on]
        # A conflict is shown for the sake of one side; the other side may be a guess, and no guess closes the gate.
        if any(SEVERITY_ORDER[f.severity] <= worst_allowed for f in found if rules.let_through(f)):
            return ExitCode.GATE
    if not answer.incomplete or settings.allow_partial:
        return ExitCode.REVIEWED
    return ExitCode.PROVIDER if answer.provider_failure else ExitCode.INCOMPLETE
