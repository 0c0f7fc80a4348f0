"""Trees that would configure, silence or extend a program: nothing of them is read, and nothing in them runs."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING, NamedTuple

import pytest

from reviewbot.analyzers.catalog import all_tools
from reviewbot.analyzers.core.run import changed_file
from reviewbot.diff.language import language_of
from tests.make import one_fast

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from reviewbot.domain.contracts import FileChange
    from reviewbot.domain.ports import Snapshot, ToolReport

WORKFLOW = ".github/workflows/build.yml"
STEPS = "on: issues\npermissions: {}\njobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n"
INJECTION = f"{STEPS}      - run: echo ${{{{ github.event.issue.title }}}}"
REDIRECTION = "#!/bin/bash\nmake 2>&1 >log"
CANARY = "CANARY-5e21c9"


class Trap(NamedTuple):
    """A file with a defect that must be reported, and what lies in the tree around it."""

    tool: str
    path: str
    text: str
    rule: str
    tree: Mapping[str, str]


TRAPS = {
    "actionlint configuration": Trap(
        "actionlint",
        WORKFLOW,
        f"{STEPS}      - runs: make",
        "syntax-check",
        {
            ".github/actionlint.yaml": "paths:\n  '**':\n    ignore: ['.*']\n",
            ".github/actionlint.yml": "paths: {'**': {ignore: ['.*']}}\n",
        },
    ),
    "actionlint comment": Trap(
        "actionlint",
        WORKFLOW,
        f"{STEPS}      # actionlint:ignore-next-line\n      - runs: make # actionlint:ignore",
        "syntax-check",
        {},
    ),
    "actionlint started by name": Trap(
        "actionlint",
        WORKFLOW,
        f"{STEPS}      - runs: make\n      - run: make",
        "syntax-check",
        {"shellcheck": "#!/bin/sh\ntouch @CANARY@\n", "pyflakes": "#!/bin/sh\ntouch @CANARY@\n"},
    ),
    "zizmor configuration": Trap(
        "zizmor",
        WORKFLOW,
        INJECTION,
        "template-injection",
        dict.fromkeys(("zizmor.yml", ".github/zizmor.yml"), "rules:\n  template-injection:\n    disable: true\n"),
    ),
    "zizmor comment": Trap(
        "zizmor", WORKFLOW, f"{INJECTION} # zizmor: ignore[template-injection]", "template-injection", {}
    ),
    "shellcheck configuration": Trap(
        "shellcheck",
        "run.sh",
        REDIRECTION,
        "SC2069",
        {".shellcheckrc": "disable=all\nexternal-sources=true\n", "shellcheckrc": "disable=all\n"},
    ),
    "shellcheck comment": Trap(
        "shellcheck", "run.sh", "#!/bin/bash\n# shellcheck disable=all\nmake 2>&1 >log", "SC2069", {}
    ),
    "shellcheck comment with a shell": Trap(
        "shellcheck",
        "run.sh",
        "#!/bin/bash\n#\tshellcheck\tshell=bash disable=SC2069\nmake 2>&1 >log",
        "SC2069",
        {},
    ),
    "shellcheck source": Trap(
        "shellcheck",
        "run.sh",
        "#!/bin/bash\n# shellcheck source=/proc/self/environ\n. /proc/self/environ\nmake 2>&1 >log",
        "SC2069",
        {},
    ),
    "hadolint configuration": Trap(
        "hadolint",
        "Dockerfile",
        "FROM debian:12\nEXPOSE 80800",
        "DL3011",
        dict.fromkeys((".hadolint.yaml", ".hadolint.yml", ".config/hadolint.yaml"), "ignored: [DL3011]\n"),
    ),
    "hadolint comment": Trap(
        "hadolint",
        "Dockerfile",
        "# hadolint global ignore=DL3011\nFROM debian:12\n# hadolint ignore=DL3011\nEXPOSE 80800",
        "DL3011",
        {},
    ),
    "oxlint configuration": Trap(
        "oxlint",
        "web/a.js",
        "const a = 1;\na = 2;",
        "no-const-assign",
        {
            ".oxlintrc.json": '{"rules": {"no-const-assign": "off"}, "ignorePatterns": ["**"]}',
            "web/.oxlintrc.json": '{"rules": {"no-const-assign": "off"}, "jsPlugins": ["./plugin.js"]}',
            "oxlint.config.ts": "throw new Error()",
            "web/plugin.js": "require('fs').writeFileSync('@CANARY@', '')",
            "tsconfig.json": '{"exclude": ["**"]}',
            ".eslintignore": "**",
            ".gitignore": "*",
        },
    ),
    "oxlint comment": Trap(
        "oxlint",
        "web/a.ts",
        "/* eslint-disable */\n/* oxlint-disable */\n/* eslint no-const-assign: 0 */\nconst a = 1;\n"
        "// oxlint-disable-next-line\na = 2; // eslint-disable-line",
        "no-const-assign",
        {},
    ),
    "squawk configuration": Trap(
        "squawk",
        "migrations/1.sql",
        "DROP DATABASE a;",
        "ban-drop-database",
        {".squawk.toml": 'excluded_rules = ["ban-drop-database"]\nexcluded_paths = ["*"]\n'},
    ),
    "squawk comment": Trap(
        "squawk",
        "migrations/1.sql",
        "-- squawk-ignore-file\n/* squawk-ignore ban-drop-database */\nDROP DATABASE a;",
        "ban-drop-database",
        {},
    ),
    "yamllint configuration": Trap(
        "yamllint",
        "a.yaml",
        "a: 1\na: 2",
        "key-duplicates",
        dict.fromkeys(
            (".yamllint", ".yamllint.yaml", ".yamllint.yml", ".config/yamllint/config"), "rules: {}\nignore: '*'\n"
        ),
    ),
    "yamllint comment": Trap(
        "yamllint", "a.yaml", "# yamllint disable-file\na: 1 # yamllint disable-line\na: 2", "key-duplicates", {}
    ),
    "yamllint module in the tree": Trap(
        "yamllint",
        "a.yaml",
        "a: 1\na: 2",
        "key-duplicates",
        {
            f"{name}.py": "open('@CANARY@', 'w')\n"
            for name in ("yamllint", "yaml", "pathspec", "argparse", "sitecustomize")
        },
    ),
    "a name like an option": Trap("shellcheck", "--exclude=SC2069.sh", REDIRECTION, "SC2069", {}),
    "a name like a response file": Trap(
        "hadolint", "@args/Dockerfile", "FROM debian:12\nEXPOSE 80800", "DL3011", {"args": "--ignore=DL3011"}
    ),
    "a name that leaves the tree": Trap(
        "squawk", "migrations/..//$(touch x).sql", "DROP DATABASE a;", "ban-drop-database", {}
    ),
}


@pytest.mark.parametrize("name", one_fast(TRAPS))
def test_a_trap_neither_runs_nor_leaks_nor_silences(
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    file_of: Callable[..., FileChange],
    snapshot_of: Callable[..., Snapshot],
) -> None:
    """Reviewed from a working folder that is the tree, which is also the home and the first folder of PATH."""
    trap, tree = TRAPS[name], tmp_path / "tree"
    for path, text in trap.tree.items():
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_text(text.replace("@CANARY@", str(tmp_path / "canary")), "utf-8")
        (tree / path).chmod(0o755)
    tree.mkdir(exist_ok=True)
    monkeypatch.chdir(tree)
    for variable, value in {
        "HOME": str(tree),
        "XDG_CONFIG_HOME": str(tree / ".config"),
        "PATH": f"{tree}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(tree),
        "SHELLCHECK_OPTS": "--exclude=SC2069",
        "HADOLINT_IGNORE": "DL3011",
        "YAMLLINT_CONFIG_FILE": str(tree / ".yamllint"),
        "ANTHROPIC_API_KEY": CANARY,
    }.items():
        monkeypatch.setenv(variable, value)

    async def review() -> ToolReport:
        snapshot = snapshot_of(trap.text)
        section = file_of(trap.text, path=trap.path, language=language_of(trap.path))
        return await all_tools()[trap.tool].run(changed_file([section], snapshot), snapshot)

    report = asyncio.run(review())

    assert trap.rule in [found.rule for found in report.candidates]
    assert report.gap is None
    assert CANARY not in repr(report)
    assert not (tmp_path / "canary").exists()
    assert sorted(str(path.relative_to(tree)) for path in tree.rglob("*") if path.is_file()) == sorted(trap.tree)
