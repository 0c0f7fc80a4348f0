"""The command line: its arguments, and the exit code of each ending. Imports nothing heavy: `--help` is quick."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import get_args

from reviewbot import __version__
from reviewbot.cli.arguments import Parser
from reviewbot.cli.flags import add_flags
from reviewbot.cli.output.writing import reader_may_leave, say
from reviewbot.config.settings import FlagGroup
from reviewbot.domain.errors import ExitCode, InputError, ReviewbotError
from reviewbot.hosts.registry import name_forms
from reviewbot.report.formats import FORMATS
from reviewbot.wording import install_command

EXIT_CODES = """\
exit codes:
  0    reviewed, or nothing to review
  1    --fail-on: a finding of that severity or worse is in the report
  2    wrong usage or bad input; nothing was reviewed
  3    a fault of reviewbot itself; the message names a log file
  4    incomplete: something that should have been reviewed was not (0 with --allow-partial)
  5    the code host could not be reached, refused, or moved on; the message says which and why
  6    the model provider could not be used; what analyzers found is in the report
  130  interrupted; run again with --resume to go on
"""
EXAMPLES = """\
examples:
  reviewbot review                     what this branch has beyond its upstream or the default branch
  reviewbot review --staged            what would be committed
  reviewbot review --git HEAD          what the last commit changed; also a range, such as main...HEAD
  git diff | reviewbot review -        what is not staged yet
  reviewbot review --pr acme/shop#12   a pull request on GitHub
"""
COMPLETION = """\
where to put it:
  bash   reviewbot completion bash > ~/.local/share/bash-completion/completions/reviewbot
  fish   reviewbot completion fish > ~/.config/fish/completions/reviewbot.fish
  zsh    reviewbot completion zsh > "${fpath[1]}/_reviewbot"
"""

MODULES = {
    **dict.fromkeys(("workers", "schema"), "describe"),
    **dict.fromkeys(("eval", "calibrate"), "evaluate"),
    **{name: f"app.{name}" for name in ("serve", "worker", "runs")},
    **{name: f"traces.{name}" for name in ("replay", "explain")},
    "trace": "traces.timeline",
    "config": "configuration",
    "dismiss": "ledger",
    **{name: f"feedback.{name}" for name in ("calibration", "queue")},
}
"""Below `commands`: the module of each command that is not called as the command is. Its function is NAME_command."""
DECISIONS = ".reviewbot/decisions.toml"
SERVER_PARTS = ("dbos", "flask", "prometheus_client", "psycopg", "sqlalchemy", "waitress")
EXTRAS = {"mcp": "mcp", "mcp_types": "mcp", **dict.fromkeys(SERVER_PARTS, "server")}
"""What comes with an extra alone, and with which."""
_VERBOSE_HELP = "end the terminal's report with the names of all tools that ran, and what the tasks took"


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; the result is the exit code."""
    # A caller may have closed them (`2>&-`); what is said then goes nowhere, and the exit code still counts.
    sys.stdout = sys.stdout or Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - open until the end
    sys.stderr = sys.stderr or Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - the same
    command = "unknown"
    try:
        # What a stop has begun is tidied up, like after Ctrl-C: copies of the reviewed files must not stay behind.
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        arguments = build_parser().parse_args(argv)
        command = arguments.run
        code: int = ExitCode.REVIEWED  # where the reader goes before the command could say more
        with reader_may_leave():
            code = _run(arguments)
    except ReviewbotError as error:
        say(str(error))
        return int(error.exit_code)
    except KeyboardInterrupt:
        say("interrupted; review with --resume, or eval again, goes on from here (not with --no-cache)")
        return ExitCode.INTERRUPTED
    except Exception as error:  # noqa: BLE001 - a door: our fault becomes one line
        from reviewbot.cli.output.fault_report import write_fault_report

        say(f"internal fault ({type(error).__name__}); {write_fault_report(command)}")
        return ExitCode.FAULT
    return code


def _run(arguments: argparse.Namespace) -> int:
    """Run the command that was asked for. Each loads what it needs here: pydantic alone outlasts all of --help."""
    if arguments.run == "version":
        sys.stdout.write(f"reviewbot {__version__}\n")
        return ExitCode.REVIEWED
    if arguments.run == "completion":
        from reviewbot.cli.commands.completion import completion_command

        return completion_command(arguments, build_parser())
    form = FORMATS.get(getattr(arguments, "format", ""))
    if form and not form.for_terminals and arguments.output is None and sys.stdout.isatty():
        raise InputError(f"--format {form.name} is not readable in a terminal; add --output report{form.suffix}")
    name = str(arguments.run).replace("-", "_")
    module = MODULES.get(name, name)
    try:
        command: Callable[[argparse.Namespace], int] = getattr(
            import_module(f"reviewbot.cli.commands.{module}"), f"{name}_command"
        )
        return command(arguments)
    except ModuleNotFoundError as error:
        # The name may be of a module inside of a part, such as `mcp.server`.
        if (extra := EXTRAS.get((error.name or "").partition(".")[0])) is None:
            raise
        raise InputError(
            f"{arguments.run} needs the extra '{extra}', which was not installed: {install_command(extra)}, in a clone"
        ) from None


def build_parser() -> argparse.ArgumentParser:
    """The parser of all commands."""
    parser = Parser(
        prog="reviewbot",
        description="Reviews a change the way a careful team would, and says what it looked at and what it did not.",
        epilog=f"{EXAMPLES}\n{EXIT_CODES}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"reviewbot {__version__}")
    commands = parser.add_subparsers(dest="run", metavar="COMMAND", required=True)
    review = _command(commands, "review", "review a change", epilog=f"{EXAMPLES}\n{EXIT_CODES}")
    _add_input(review)
    _add_review(review)
    plan = _command(commands, "plan", "print what a review would do, and run nothing")
    _add_input(plan)
    _add_routing(plan)
    plan.add_argument("--format", choices=("terminal", "json"), default="terminal")
    parse = _command(commands, "parse", "print how a diff is read, file by file")
    parse.add_argument("diff", metavar="DIFF", help="a diff file, or - for standard input")
    parse.add_argument("--format", choices=("json",), default="json")
    workers = _command(commands, "workers", "list the workers")
    workers.add_argument(
        "--repo", metavar="DIR", type=Path, help="with those of this repository (default: where you stand)"
    )
    workers.add_argument("--format", choices=("terminal", "json"), default="terminal")
    tools = _command(commands, "tools", "list the tools that look at files: versions, languages, what is missing")
    tools.add_argument("--format", choices=("terminal", "json"), default="terminal")
    schema = _command(commands, "schema", "print the JSON Schema of a report, a plan, a worker's card or the settings")
    schema.add_argument("contract", choices=("review", "plan", "card", "settings"), help="what the schema is of")
    replay = _command(commands, "replay", "make the review of a trace again, without a model")
    replay.add_argument("trace", metavar="TRACE", type=Path, help="what review --trace has written")
    replay.add_argument("--format", choices=tuple(FORMATS), default="terminal")
    replay.add_argument("--output", metavar="FILE", type=Path, help="write the report there")
    replay.add_argument("--verbose", action="store_true", help=_VERBOSE_HELP)
    timeline = _command(commands, "trace", "show the run of a trace as a timeline")
    timeline.add_argument("trace", metavar="TRACE", type=Path, help="what review --trace has written")
    explain = _command(commands, "explain", "say why a finding was shown or withheld, or why there is none at a line")
    explain.add_argument("trace", metavar="TRACE", type=Path, help="what review --trace has written")
    explain.add_argument("place", metavar="PATH:LINE", help="the line; or a finding, by 8 digits of its fingerprint")
    _add_own(commands, parser.parse_args)
    _add_evaluation(commands)
    _command(commands, "action", "review what a GitHub workflow run is about; a step of it starts this")
    _add_app(commands)
    _command(commands, "version", "print the version")
    return parser


def _command(commands: argparse._SubParsersAction[Parser], name: str, purpose: str, epilog: str = "") -> Parser:
    """A command whose own help begins with its purpose as well."""
    return commands.add_parser(
        name,
        help=purpose,
        description=f"{purpose[0].upper()}{purpose[1:]}.",
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def _add_own(
    commands: argparse._SubParsersAction[Parser], parse: Callable[[Sequence[str]], argparse.Namespace]
) -> None:
    """`parse`: reads a whole command line."""
    config = _command(commands, "config", "print the settings, and where each comes from")
    config.add_argument(
        "--repo", metavar="DIR", type=Path, help="with the settings of this repository (default: where you stand)"
    )
    config.add_argument("--show-origin", action="store_true", help="say where each value comes from")
    config.add_argument("--format", choices=("terminal", "json"), default="terminal")
    ledger = _command(commands, "ledger", "list what is remembered of a pull request's findings, or of this branch's")
    ledger.add_argument("pr", metavar="PR", nargs="?", help="as for review --pr (default: the branch checked out)")
    ledger.add_argument("--repo", metavar="DIR", type=Path, help="the repository of the branch (default: .)")
    ledger.add_argument("--format", choices=("terminal", "json"), default="terminal")
    dismiss = _command(commands, "dismiss", f"decide against a finding, or a rule, in {DECISIONS}")
    add = dismiss.add_argument
    add("target", metavar="FINDING", help="its fingerprint (8 digits of one in the ledger), or the name of a rule")
    add("reason", metavar="REASON", help="why; reports show it")
    add("--path", metavar="GLOB", help="of a rule: only in these files")
    add("--until", metavar="DATE", help="the last day on which it counts, such as 2027-01-31")
    add("--author", metavar="NAME", help="who decides (default: GIT_AUTHOR_NAME, or your user name)")
    add("--repo", metavar="DIR", type=Path, help="the repository (default: .)")
    calibration = _command(commands, "calibration", "print how often findings were right, and fixed before the merge")
    add = calibration.add_argument
    add(
        "source",
        metavar="SOURCE",
        nargs="?",
        type=Path,
        help="a file of labels, or a folder of ledgers as JSON (default: the App's database, or this machine's labels)",
    )
    add("--format", choices=("terminal", "json"), default="terminal")
    new = _command(commands, "new-worker", "write card, prompt and a labelled example of a worker into a repository")
    new.add_argument("name", metavar="NAME", help="small letters, digits, - and _")
    new.add_argument("--repo", metavar="DIR", type=Path, help="the repository (default: .)")
    mcp = _command(commands, "mcp", "serve coding agents over the Model Context Protocol, on standard input and output")
    mcp.add_argument("--repo", metavar="DIR", type=Path, help="the one folder that is reviewed (default: .)")
    add_flags({"models": mcp, "what is looked for": mcp, "the run": mcp}, ("engine", "effort", "max_cost"))
    mcp.set_defaults(parse=parse)
    completion = _command(commands, "completion", "print a completion script for a shell", epilog=COMPLETION)
    completion.add_argument("shell", choices=("bash", "zsh", "fish"), help="your shell")


def _add_app(commands: argparse._SubParsersAction[Parser]) -> None:
    serve = _command(commands, "serve", "run the GitHub App: answer its events, and review")
    add = serve.add_argument
    add("--host", metavar="H", default="127.0.0.1", help="the address to listen on (default: this machine alone)")
    add("--port", metavar="P", type=int, default=8000, help="the port to listen on (default: 8000; 0: any)")
    add("--no-worker", action="store_true", help="only answer events; workers run elsewhere, on the same Postgres")
    add("--print-credentials", action="store_true", help="let /setup print the new App's secrets and store none")
    _command(commands, "worker", "review what the App was asked for; several of them on one Postgres")
    runs = _command(commands, "runs", "list the runs of the App, or show one")
    add = runs.add_argument
    add(
        "run_id",
        metavar="ID",
        nargs="?",
        help="OWNER/REPO#N or N for a pull request, or how the id or head of a run begins",
    )
    add("--trace", action="store_true", help="print the trace of the run")
    add("--limit", metavar="N", type=int, default=50, help="list the newest N (default: 50)")
    add("--format", choices=("terminal", "json"), default="terminal")

    queue = _command(commands, "queue", "list the App's findings that wait for a person, or decide about one")
    add = queue.add_argument
    add("item", metavar="ITEM", nargs="?", help="how the name of an item begins (default: list what waits)")
    add("decision", nargs="?", choices=("confirm", "dismiss", "ask-again"), help="what you decide about it")
    add("reason", metavar="REASON", nargs="?", help="why; the log keeps it")
    add("--author", metavar="NAME", help="who decides (default: your user name)")
    add("--all", action="store_true", help="list what was decided as well")
    add("--format", choices=("terminal", "json"), default="terminal")


def _add_evaluation(commands: argparse._SubParsersAction[Parser]) -> None:
    judge = _command(commands, "eval", "review labelled cases and write the results")
    add = judge.add_argument
    add("cases", metavar="CASES", type=Path, help="a folder of GROUP/CASE/ folders, each with a change.diff")
    add(
        "--out", metavar="FILE", type=Path, required=True, help="one line of JSON per case; what is there is not redone"
    )
    add_flags(dict.fromkeys(get_args(FlagGroup), judge), ("engine", "effort", "deadline_s"))
    add("--baseline", choices=("request", "reader"), help="one request without tools, or one reader without a judge")
    add("--script", metavar="FILE", type=Path, help="the answers of --engine scripted")
    add("--group", metavar="G", nargs="+", action="extend", help="only these groups")
    add("--repo", metavar="DIR", type=Path, help="with the settings and workers of this repository in all cases")
    add("--stage", choices=("plan", "workers", "synthesis"), default="synthesis", help="how far each review goes")
    add("--jobs", metavar="N", type=int, help="cases at a time (default: the number of processors)")
    add("--limit", metavar="N", type=int, help="only the first N cases")
    add("--calibration", metavar="FILE", type=Path, help="a table of calibration in place of the packaged one")
    add("--fresh", action="store_true", help="do all cases again")
    add("--check", action="store_true", help="say how many labelled defects were found; else no label is opened")
    calibrate = _command(commands, "calibrate", "count which rules, or models, were right, from results of eval")
    add = calibrate.add_argument
    add("results", metavar="RESULTS", nargs="+", type=Path, help="results of eval; for rules, of --stage workers")
    add("--cases", metavar="CASES", action="append", type=Path, required=True, help="the folder with their labels")
    add("--group", metavar="G", nargs="+", action="extend", help="count these groups alone")
    add("--type", metavar="T", nargs="+", action="extend", help="count only findings of these types, such as security")
    add("--leave-out", metavar="G", nargs="+", action="extend", help="do not count these groups")
    add("--out", metavar="FILE", type=Path, help="write the table there instead of standard output")
    models = calibrate.add_argument_group("models in place of rules")
    add = models.add_argument
    add("--models", action="store_true", help="fit the numbers that models state; --out is added to, and not replaced")
    add("--truth", metavar="G", nargs="+", action="extend", help="groups whose labels name every defect")
    add(
        "--worth", metavar="G", nargs="+", action="extend", help="groups of real changes, with what people said of them"
    )
    add("--judged", metavar="FILE", type=Path, help="claims that were judged by hand, one JSON object per line")


def _add_input(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group(
        "the change (one of DIFF, --git, --staged, --pr)",
        "Without any of them: what this branch has beyond its upstream or the default branch.",
    )
    group.add_argument("diff", metavar="DIFF", nargs="?", help="a diff file, mails of patches, or - for standard input")
    group.add_argument("--git", metavar="RANGE", help="a range of commits: A..B, A...B, or one commit")
    group.add_argument("--staged", action="store_true", help="what is staged in the git repository")
    group.add_argument("--pr", metavar="PR", help=f"a pull request: {name_forms()}")
    group.add_argument(
        "--full", action="store_true", help="with --pr: models read the whole change, not only what was pushed since"
    )
    group.add_argument(
        "--repo",
        metavar="DIR",
        type=Path,
        help="the repository, at the base or the head of the change (default where there is no DIFF: .)",
    )
    group.add_argument("--title", metavar="TEXT", help="of the change, for models; a mail and a pull request have one")
    group.add_argument("--description", metavar="TEXT", help="likewise what its author says of it")


def _add_routing(parser: argparse.ArgumentParser) -> dict[str, argparse._ArgumentGroup]:
    """Add what decides about the plan of a review; the groups by their titles."""
    groups = {title: parser.add_argument_group(title) for title in ("what is looked for", "models")}
    add_flags(groups)
    groups["what is looked for"].add_argument(
        "--results",
        "--sarif",
        metavar="FILE",
        nargs="+",
        action="extend",
        help="results of other programs: SARIF, rdjson, checkstyle, or a log with its problem matcher",
    )
    groups["models"].add_argument(
        "--script", metavar="FILE", type=Path, help="the answers of --engine scripted, for tests"
    )
    return groups


def _add_review(parser: argparse.ArgumentParser) -> None:
    add = _add_routing(parser)["models"].add_argument
    add("--estimate", action="store_true", help="print the calls, tokens and dollars to expect, and review nothing")
    add("--dump-prompts", metavar="DIR", type=Path, help="write what models would be sent first, and review nothing")
    report, run = parser.add_argument_group("the report"), parser.add_argument_group("the run")
    add_flags({"the report": report, "the run": run})
    add = report.add_argument
    add("--format", choices=tuple(FORMATS), default="terminal")
    add("--output", metavar="FILE", type=Path, help="write the report there instead of standard output")
    add("--verbose", action="store_true", help=_VERBOSE_HELP)
    add("--quiet", action="store_true", help="show no progress on standard error; also where CI is set")
    add("--post", action="store_true", help="post the review on the pull request of --pr, once")
    add = run.add_argument
    add("--trace", metavar="FILE", type=Path, help="write everything that happened there, as JSON")
    add("--resume", action="store_true", help="go on where the last run on the same change was stopped")
    add("--no-cache", action="store_true", help="keep nothing on disk, print nothing that was kept")
