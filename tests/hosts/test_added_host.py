"""A further host is a further folder: tried in a program that has one more of them, in another place."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.git_repo import GitRepo
from tests.host_cases import LocalCase

TOKEN = "forge-token-0123456789abcdef"
FOLDER = {
    "__init__": "",
    "registration": """
from reviewbot.hosts.pull_name import PullName

FORMS = "forge:PATH!NUMBER for one in a forge"
SECRETS = ("FORGE_TOKEN",)


def pull_name(text):
    path, _, number = text.removeprefix("forge:").partition("!")
    return PullName("local/shop", int(number), path) if text.startswith("forge:") else None
""",
    "host": "from reviewbot.hosts.local.host import open_host\n",
    "links": """
class Links:
    def lines(self, path, first, last, side="new"):
        return f"https://forge.example/{path}/{first}"

    def in_change(self, path, line):
        return f"https://forge.example/change/{path}/{line}"


def links_of(pull_url, head_sha, base_sha):
    return Links() if "/pulls/1." in pull_url else None
""",
}
PROGRAM = """
import sys
import reviewbot.hosts
reviewbot.hosts.__path__.append(sys.argv.pop(1))
from reviewbot.cli.main import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "added" / "forge").mkdir(parents=True)
    for name, text in FOLDER.items():
        (tmp_path / "added" / "forge" / f"{name}.py").write_text(text)
    return tmp_path / "added"


def run(folder: Path, *argv: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "FORGE_TOKEN": TOKEN, "COLUMNS": "500"}
    command = [sys.executable, "-c", PROGRAM, str(folder), *argv]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_a_pull_request_of_the_added_host_is_reviewed_with_its_links_and_without_its_token(
    folder: Path, local_case: LocalCase, pay_repo: GitRepo
) -> None:
    pay_repo.commit({"src/pay.py": f"def pay(order):\n    return order is '{TOKEN}'\n"})

    done = run(folder, "review", "--pr", f"forge:{pay_repo.folder}!1", "--post")

    assert done.returncode == 0, done.stderr
    posted = json.dumps(local_case.read("1.activity.json"))
    assert "https://forge.example/" in posted
    assert "F632" in posted
    assert TOKEN not in posted + done.stdout


@pytest.mark.slow
def test_the_help_and_the_message_about_a_name_say_how_it_is_named_there(folder: Path) -> None:
    assert "forge:PATH!NUMBER for one in a forge" in run(folder, "review", "--help").stdout
    assert "write forge:PATH!NUMBER for one in a forge; or OWNER" in run(folder, "review", "--pr", "elsewhere").stderr
