"""`reviewbot mcp`: the tools of a coding agent over the Model Context Protocol, on standard input and output."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import ParamSpec

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations

from reviewbot import __version__
from reviewbot.cli.agent_session import AgentSession
from reviewbot.cli.arguments import build_parser
from reviewbot.domain.errors import ExitCode, ReviewbotError
from reviewbot.tables import packaged_table

P = ParamSpec("P")


def mcp_command(arguments: argparse.Namespace) -> int:
    """Serve until the client leaves. Raises InputError where the root is no folder."""
    given = {"--engine": arguments.engine, "--max-cost": arguments.max_cost, "--effort": arguments.effort}
    options = [f"{flag}={value}" for flag, value in given.items() if value is not None]
    session = AgentSession(arguments.repo or Path(), build_parser().parse_args, options)
    server_of(session).run("stdio")
    return ExitCode.REVIEWED


def server_of(session: AgentSession) -> MCPServer[None]:
    """A server with the tools of a session."""
    said = packaged_table("mcp")
    instructions = str(said["instructions"])
    server: MCPServer[None] = MCPServer("reviewbot", instructions=instructions, version=__version__, log_level="ERROR")
    for name, description in said["tools"].items():
        hints = ToolAnnotations(read_only_hint=name != "dismiss", destructive_hint=False)
        tool = _reporting(getattr(session, name))
        server.add_tool(tool, name=name, description=description, annotations=hints, structured_output=False)
    return server


def _reporting(tool: Callable[P, str]) -> Callable[P, str]:
    """The tool with its expected errors as messages for the agent."""

    @wraps(tool)
    def call(*args: P.args, **kwargs: P.kwargs) -> str:
        try:
            return tool(*args, **kwargs)
        except ReviewbotError as error:
            raise ToolError(str(error)) from error

    return call
