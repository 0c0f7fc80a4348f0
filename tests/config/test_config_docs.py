"""The page about settings, held against the declarations. UPDATE_SNAPSHOTS=1 writes its table and the schema anew."""

from __future__ import annotations

import datetime as dt
import os
import re
from pathlib import Path

from reviewbot.cli.commands.describe import schema_text
from reviewbot.config import Settings, load_settings
from reviewbot.config.load import FILE_NAME, USER_FILE_NAME
from reviewbot.config.settings import KEYS, Key, RepositoryRule
from reviewbot.memory.decisions import read_decisions

DOCS = Path(__file__).parents[2] / "docs"
START, END = "<!-- settings:start -->\n", "<!-- settings:end -->"


def page() -> str:
    return (DOCS / "configuration.md").read_text("utf-8")


def row(key: Key) -> str:
    flag = "" if key.flag is None else f"`{key.flag.name}`"
    default = key.unset or str(getattr(Settings(), key.name)).lower()
    by_repository = (
        key.repository.short if isinstance(key.repository, RepositoryRule) else ["no", "yes"][key.repository]
    )
    names = f"| `{key.name}`<br>`{key.variable}` | {flag} | {key.meaning} |"
    return f"{names} {key.kind.expected} | {default} | {by_repository} |\n"


def table() -> str:
    head = "| key and variable | flag | meaning | value | default | repository |\n|---|---|---|---|---|---|\n"
    return head + "".join(map(row, KEYS.values()))


def test_the_pages_table_is_made_of_the_declarations() -> None:
    before, _, rest = page().partition(START)
    shown, _, after = rest.partition(END)
    if os.environ.get("UPDATE_SNAPSHOTS"):
        (DOCS / "configuration.md").write_text(f"{before}{START}{table()}{END}{after}", "utf-8")
        (DOCS / "schemas" / "settings.json").write_text(schema_text("settings"), "utf-8")
        return

    assert shown == table()


def test_the_pages_examples_load() -> None:
    user, repository, workers, decided = re.findall(r"```toml\n(.*?)```", page(), re.DOTALL)

    assert load_settings(repository, {}, {}).min_confidence == 85
    assert load_settings(None, {}, {}, user_text=user).min_confidence == 75
    assert len(load_settings(workers, {}, {}).worker) == 5
    assert [len(each) for each in read_decisions(decided, dt.date(2026, 1, 1))] == [2, 0]


def test_the_page_names_the_sources_in_their_order() -> None:
    listed = re.findall(r"^\d\. .*", page(), re.MULTILINE)

    assert ["default" in listed[0], FILE_NAME in listed[1], USER_FILE_NAME in listed[2]] == [True] * 3
    assert ["variable" in listed[3], "flag" in listed[4]] == [True] * 2
