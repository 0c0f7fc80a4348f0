"""What runs of the Action review."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.action_runner.composite import ActionRunner

ROOT = Path(__file__).parents[2]
BEFORE = "def greet(name):\n    return name\n"
DEFECT = "import subprocess\n\n\ndef run(request):\n    subprocess.run(request.args['c'], shell=True)\n"

MakeRunner = Callable[..., ActionRunner]
