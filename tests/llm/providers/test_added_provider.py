"""A further provider is a further folder and a further row: tried in a program that has one more of each."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = '''
"""Models that answer that a change is fine."""

from reviewbot.domain.contracts import Usage
from reviewbot.domain.errors import ConfigError
from reviewbot.domain.ports import ModelReply

ANSWER = '{"summary": "It prints.", "themes": [], "findings": [], "hints": [], "tasks": []}'


class Client:
    address = "echo"

    def __init__(self, request):
        self.request = request

    async def ask(self, request):
        used = Usage(calls=1, input_tokens=3_000)
        model = self.request.models[request.tier]
        cost = self.request.prices.cost(model, used)
        return ModelReply(ANSWER, (), "end", used.model_copy(update={"cost_usd": cost}), model)


def preload():
    return None


def connect(request):
    if "ECHO_KEY" not in request.environ:
        raise ConfigError("no key for a model: set ECHO_KEY")
    return Client(request)
'''
ROW = '\n[echo]\nfolder = "echo"\ntitle = "Echo"\nkeys = ["ECHO_KEY"]\nsmall = "e-1"\nmedium = "e-2"\nlarge = "e-3"\n'
PRICE = '\n[[echo]]\nmodel = "e-3"\ninput = 2.0\noutput = 1.0\ncache_read = 0.1\ncache_write = 0.2\n'
PROGRAM = """
import sys
from importlib.machinery import SourceFileLoader
from pathlib import Path
added, as_stored = {"providers.toml": sys.argv.pop(1), "prices.toml": sys.argv.pop(1)}, SourceFileLoader.get_data
SourceFileLoader.get_data = lambda self, path: as_stored(self, path) + added.get(Path(path).name, "").encode()
import reviewbot.llm.providers
reviewbot.llm.providers.__path__.append(".")
from reviewbot.cli.main import main
sys.exit(main(sys.argv[1:]))
"""
DIFF = "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-print(1)\n+print(2)\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "echo").mkdir()
    (tmp_path / "echo" / "__init__.py").write_text(FOLDER)
    (tmp_path / "a.diff").write_text(DIFF)
    return tmp_path


def run(folder: Path, *argv: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "REVIEWBOT_PROVIDER": "echo", **variables}
    program = [sys.executable, "-c", PROGRAM, ROW, PRICE, *argv]
    return subprocess.run(program, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_a_review_is_made_by_the_added_provider_with_its_model_and_price(folder: Path) -> None:
    done = run(folder, "review", "a.diff", "--format", "json", "--no-cache", ECHO_KEY="secret")

    assert done.returncode == 0, done.stderr
    review = json.loads(done.stdout)
    assert review["coverage"][0]["models"][0].endswith(":e-3")
    assert (review["usage"]["cost_usd"] > 0, review["usage"]["unpriced_calls"]) == (True, 0)


@pytest.mark.slow
def test_the_added_provider_is_a_choice_and_its_models_are_shown(folder: Path) -> None:
    shown = run(folder, "config", "--show-origin", ECHO_KEY="secret").stdout

    assert 'engine = "models"' in shown
    assert "# default: ECHO_KEY is set" in shown
    assert 'model_large = "e-3"' in shown
    refused = run(folder, "config", REVIEWBOT_PROVIDER="ecko").stderr
    assert "REVIEWBOT_PROVIDER must be one of anthropic, bedrock, vertex, echo, none, not 'ecko'" in refused


@pytest.mark.slow
def test_the_added_providers_key_is_missed_in_its_own_words(folder: Path) -> None:
    done = run(folder, "review", "a.diff", "--engine", "models", "--no-cache")

    assert (done.returncode, done.stderr) == (2, "reviewbot: no key for a model: set ECHO_KEY\n")
