"""`reviewbot mcp`, driven over standard input and output by the client of the official SDK."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from reviewbot.cli.agent_session import AgentSession
from reviewbot.cli.arguments import build_parser
from reviewbot.cli.commands.mcp import server_of
from reviewbot.domain.errors import InputError
from tests.action_runner import BEFORE, DEFECT
from tests.git_repo import GitRepo

FIXED = "import subprocess\n\n\ndef run(name: str) -> None:\n    subprocess.run([name], check=True)\n"
WITHOUT = """
import sys
sys.modules["mcp"] = None
from reviewbot.cli.main import main
sys.exit(main(["mcp"]))
"""
"""What an installation without the extra looks like from inside."""


@pytest.fixture(name="checkout")
def _checkout(tmp_path: Path) -> GitRepo:
    """A repository whose staged change has a defect."""
    folder = tmp_path / "repository"
    folder.mkdir()
    checkout = GitRepo(folder)
    checkout.commit({"app.py": BEFORE})
    (folder / "run.py").write_text(DEFECT)
    checkout.git("add", "-A")
    return checkout


@pytest.fixture(name="session")
def _session(checkout: GitRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AgentSession:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return AgentSession(checkout.folder, build_parser().parse_args, ["--engine=analyzers"])


def over_stdio(checkout: GitRepo, talk: Callable[[Client], Awaitable[None]]) -> None:
    """Start the command for a repository, as an agent's client does, and talk to it."""
    program = str(Path(sys.executable).parent / "reviewbot")
    words = ["mcp", "--repo", str(checkout.folder), "--engine", "analyzers"]
    folders = {name: str(checkout.folder.parent / name) for name in ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME")}
    server = StdioServerParameters(command=program, args=words, env=folders)

    async def connected() -> None:
        async with asyncio.timeout(120), Client(server) as client:
            await talk(client)

    asyncio.run(connected())


async def call(client: Client, tool: str, **arguments: Any) -> str:
    """The text of an answer; an error of the tool begins with "ERROR"."""
    result = await client.call_tool(tool, arguments)
    return ("ERROR " if result.is_error else "") + "".join(getattr(part, "text", "") for part in result.content)


def records(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_an_agent_reviews_explains_fixes_and_finds_the_second_review_clean(checkout: GitRepo) -> None:
    async def talk(client: Client) -> None:
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == ["review", "explain", "dismiss", "ledger"]
        assert [tool.name for tool in tools if tool.annotations and not tool.annotations.read_only_hint] == ["dismiss"]
        assert "there is no review yet" in await call(client, "explain", place="run.py:5")

        verdict, *findings = records(await call(client, "review", staged=True))
        assert verdict["verdict"] == "issues"
        [critical] = [each for each in findings if each["severity"] == "critical"]
        assert critical["path"] == "run.py"

        said = await call(client, "explain", place=critical["fingerprint"][:8])
        assert said.startswith(f"run.py:{critical['line']} shown: ")
        assert said == await call(client, "explain", place=f"run.py:{critical['line']}")

        (checkout.folder / "run.py").write_text(FIXED)
        checkout.git("add", "-A")
        assert not any(
            each.get("severity") == "critical" for each in records(await call(client, "review", staged=True))
        )

    over_stdio(checkout, talk)


@pytest.mark.slow
def test_every_way_to_name_a_change_gives_the_same_finding(session: AgentSession, checkout: GitRepo) -> None:
    diff = checkout.git("diff", "--cached")
    (checkout.folder / "change.diff").write_text(diff)
    of_text, of_file, alone, staged = (
        session.review(diff=diff),
        session.review(diff_file="change.diff"),
        session.review(diff=diff, alone=True),
        session.review(staged=True),
    )
    checkout.git("commit", "-m", "defect")

    rules = [{each["rule"] for each in records(text)[1:]} for text in (of_text, of_file, alone, staged)]
    rules.append({each["rule"] for each in records(session.review(git_range="HEAD~1..HEAD"))[1:]})

    assert rules[0]
    assert rules == [rules[0]] * 5


def test_an_agent_dismisses_with_a_reason_and_reads_the_ledger(session: AgentSession, checkout: GitRepo) -> None:
    checkout.git("commit", "-m", "defect")
    session.review(git_range="HEAD~1..HEAD")
    [record] = [each for each in json.loads(session.ledger())["records"] if each["severity"] == "critical"]

    said = session.dismiss(record["names"][0][:8], "the name is a constant of ours")

    written = (checkout.folder / ".reviewbot" / "decisions.toml").read_text()
    assert said.endswith("it counts once the base branch has it")
    assert record["names"][0] in written
    assert 'author = "a coding agent"' in written


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"staged": True, "diff": "x"}, "give only one of"),
        ({"staged": True, "alone": True}, "alone is about a diff"),
        ({"staged": True, "folder": ".."}, "is outside of"),
        ({"diff_file": "/etc/passwd"}, "is outside of"),
        ({"diff_file": "link"}, "is outside of"),
        ({"git_range": "--output=/tmp/x"}, "--output=/tmp/x"),
        ({"diff": "no diff"}, "cannot be read as a diff|the diff is empty"),
    ],
)
def test_what_is_wrong_or_outside_is_refused(
    session: AgentSession, checkout: GitRepo, arguments: dict[str, Any], says: str
) -> None:
    (checkout.folder / "link").symlink_to("/etc/passwd")

    with pytest.raises(InputError, match=says):
        session.review(**arguments)


def test_a_root_that_is_no_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is no folder"):
        AgentSession(tmp_path / "nowhere", build_parser().parse_args)


def test_a_decision_is_not_written_above_the_root(checkout: GitRepo) -> None:
    below = checkout.folder / "below"
    below.mkdir()

    with pytest.raises(InputError, match="is outside of"):
        AgentSession(below, build_parser().parse_args).dismiss("S602", "no")

    assert not (checkout.folder / ".reviewbot").exists()


def test_an_expected_error_reaches_the_agent_in_words(session: AgentSession) -> None:
    async def talk() -> None:
        async with Client(server_of(session)) as client:
            assert "'..' is outside of" in await call(client, "review", folder="..", staged=True)

    asyncio.run(talk())


def test_without_the_extra_the_command_says_how_to_install_it(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT], env={"HOME": str(tmp_path)}, capture_output=True, text=True, check=False
    )

    assert (done.returncode, done.stdout) == (2, "")
    assert "reviewbot: mcp needs the extra 'mcp', which was not installed: pip install '.[mcp]'" in done.stderr
