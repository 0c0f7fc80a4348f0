"""A runner of our own: it carries out the steps of a composite action as GitHub's runner does, and reads back the rest.

    runner = ActionRunner(folder_with_action_yml, temp_folder, api_url="http://127.0.0.1:1")
    ran = runner.run("push", payload, {"fail-on": "critical"})
    assert (ran.code, ran.outputs["verdict"]) == (1, "issues")

What it knows of GitHub's: https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands and
https://docs.github.com/en/actions/reference/workflows-and-actions/metadata-syntax . An expression or a key that it does
not know fails the test.
"""

from __future__ import annotations

from tests.action_runner.checkout import BEFORE, DEFECT, ROOT, MakeRunner
from tests.action_runner.composite import ActionRunner, Ran, outputs_in, read_yaml
from tests.action_runner.events import dispatched, pull_request, pushed, zeros

__all__ = [
    "BEFORE",
    "DEFECT",
    "ROOT",
    "ActionRunner",
    "MakeRunner",
    "Ran",
    "dispatched",
    "outputs_in",
    "pull_request",
    "pushed",
    "read_yaml",
    "zeros",
]
