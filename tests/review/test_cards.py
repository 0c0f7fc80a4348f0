from __future__ import annotations

from pathlib import Path
from zipfile import Path as ZipPath
from zipfile import ZipFile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.analyzers.catalog import all_tools
from reviewbot.domain.contracts import WorkerCard
from reviewbot.domain.errors import ConfigError, ReviewbotError
from reviewbot.domain.ports import WorkerSet
from reviewbot.llm.client.budget import NOT_WORKERS
from reviewbot.review.cards import MAX_CARDS, RESERVED, build_worker_set, shipped_files

TOOLS = ("licences", "secrets")
CARD = """
name = "NAME"
description = "Finds files without a licence."
task_type = "licence"
prompt = "licence.md"
success_criterion = "Every new file was looked at."
tools = ["licences"]
applies_to = ["*.py", "@config"]
"""
SHIPPED = {"workers/security.toml": CARD.replace("NAME", "security"), "prompts/licence.md": "Look."}


def card_text(name: str = "licence", /, **changes: str) -> str:
    lines = dict(line.split(" = ", 1) for line in CARD.replace("NAME", name).strip().splitlines())
    lines.update(changes)
    return "\n".join(f"{key} = {value}" for key, value in lines.items() if value)


def own_workers(extra: dict[str, str]) -> WorkerSet:
    return build_worker_set(SHIPPED, extra, TOOLS)


def refusal(extra: dict[str, str]) -> str:
    with pytest.raises(ConfigError) as caught:
        own_workers(extra)
    message = str(caught.value)
    assert message.isprintable()
    assert len(message) < 500
    return message


def wrong_card(**changes: str) -> str:
    message = refusal({"workers/licence.toml": card_text(**changes)})
    assert message.startswith(".reviewbot/workers/licence.toml: ")
    return message.removeprefix(".reviewbot/workers/licence.toml: ")


# --- what is shipped ----------------------------------------------------------------------------------------------


def every_shipped_tool() -> set[str]:
    return {tool for name, text in shipped_files().items() if name.startswith("workers/") for tool in _tools(text)}


def _tools(text: str) -> list[str]:
    line = next(line for line in text.splitlines() if line.startswith("tools = "))
    return [part.strip(' "[]') for part in line.removeprefix("tools = ").split(",")]


def test_the_shipped_crew_loads_in_its_fixed_order() -> None:
    worker_set = build_worker_set(shipped_files(), {}, every_shipped_tool())

    assert [card.name for card in worker_set.cards][:4] == ["security", "logic", "performance", "style"]
    assert set(worker_set.origin.values()) == {"package"}
    assert all(len(worker_set.prompts[card.name]) > 100 for card in worker_set.cards)


def test_a_shipped_tool_belongs_to_one_worker_alone() -> None:
    worker_set = build_worker_set(shipped_files(), {}, every_shipped_tool())
    owned = [tool for card in worker_set.cards for tool in card.tools]

    assert len(owned) == len(set(owned))


def test_shipped_cards_ask_for_the_same_models_and_time_so_that_one_reader_can_answer_them() -> None:
    cards = {card.name: card for card in build_worker_set(shipped_files(), {}, every_shipped_tool()).cards}

    assert sorted(cards) == ["logic", "performance", "security", "style"]
    assert {card.tiers for card in cards.values()} == {("large",)}
    assert len({card.budget for card in cards.values()}) == 1


def test_cards_inside_the_package_come_before_the_folders_beside_it(tmp_path: Path) -> None:
    archive = tmp_path / "installed.zip"
    with ZipFile(archive, "w") as writer:
        writer.writestr("workers/one.toml", "inside")
        writer.writestr("workers/notes.txt", "no card")
    for kind, name in (("workers", "two.toml"), ("prompts", "two.md")):
        (tmp_path / kind).mkdir()
        (tmp_path / kind / name).write_text("beside")

    assert shipped_files(ZipPath(archive), tmp_path) == {"workers/one.toml": "inside", "prompts/two.md": "beside"}


def test_an_installation_without_cards_says_so(tmp_path: Path) -> None:
    with pytest.raises(ReviewbotError, match="installation is incomplete: the folder 'workers' is missing"):
        shipped_files(tmp_path, tmp_path)


# --- what a repository adds ---------------------------------------------------------------------------------------


def test_a_repositorys_worker_joins_the_crew() -> None:
    extra = {"workers/house.toml": card_text("house", prompt='"house.md"'), "prompts/house.md": "Be strict."}

    worker_set = own_workers(extra)

    assert [card.name for card in worker_set.cards] == ["security", "house"]
    assert worker_set.origin == {"security": "package", "house": "repository"}
    assert worker_set.prompts == {"security": "Look.", "house": "Be strict."}
    assert worker_set.cards[1].tools == ("licences",)
    assert worker_set.cards[1].applies_to == ("*.py", "@config")


def test_a_repositorys_card_may_use_a_shipped_prompt() -> None:
    assert own_workers({"workers/licence.toml": card_text()}).prompts["licence"] == "Look."


def test_other_workers_follow_the_four_by_name() -> None:
    names = ("zebra", "style", "apple", "logic")

    worker_set = own_workers({f"workers/{name}.toml": card_text(name) for name in names})

    assert [card.name for card in worker_set.cards] == ["security", "logic", "style", "apple", "zebra"]


def test_files_that_are_neither_cards_nor_prompts_are_let_be() -> None:
    extra = {"README.md": "x", "workers/.gitkeep": "", "rules/a.txt": "x"}

    assert own_workers(extra) == own_workers({})


def test_two_shipped_cards_cannot_have_one_tool() -> None:
    twice = {**SHIPPED, "workers/twin.toml": card_text("twin")}

    with pytest.raises(ConfigError) as caught:
        build_worker_set(twice, {}, TOOLS)

    assert str(caught.value) == "workers/twin.toml: the tool 'licences' belongs to the worker 'security' alone"


def test_a_repositorys_card_may_run_an_analyzer_of_a_shipped_one() -> None:
    assert own_workers({"workers/licence.toml": card_text()}).cards[1].tools == ("licences",)


def test_the_shipped_crew_is_checked_with_the_tools_that_the_code_offers() -> None:
    worker_set = build_worker_set(shipped_files(), {}, all_tools().keys())

    assert {tool for card in worker_set.cards for tool in card.tools} == set(all_tools())


@pytest.mark.parametrize("path", ["workers/security.toml", "prompts/licence.md"])
def test_a_shipped_file_cannot_be_replaced(path: str) -> None:
    assert refusal({path: card_text("security")}) == (
        f".reviewbot/{path}: is the name of a shipped file; choose another one"
    )


def test_a_shipped_worker_cannot_be_taken_over_by_another_file() -> None:
    message = refusal({"workers/other.toml": card_text("security")})

    assert message == ".reviewbot/workers/other.toml: its name is 'security'; call the file security.toml"


@pytest.mark.parametrize("name", sorted(NOT_WORKERS))
def test_a_worker_cannot_have_the_name_of_somebody_else_who_asks_models(name: str) -> None:
    """Its calls would be theirs in the usage ledger, outside of the budget of a worker."""
    message = refusal({f"workers/{name}.toml": card_text(name)})

    assert message == f".reviewbot/workers/{name}.toml: '{name}' is no name for a worker; choose another one"


def test_all_names_that_the_budgets_know_are_reserved() -> None:
    assert RESERVED >= NOT_WORKERS


@pytest.mark.parametrize(
    "path", ["workers/a.yaml", "workers/a.md", "prompts/a.toml", "workers/deep/a.toml", "prompts/"]
)
def test_a_file_of_the_wrong_kind_is_refused(path: str) -> None:
    assert "belong there" in refusal({path: "x"})


def test_a_crew_has_at_most_twenty_cards() -> None:
    cards = {f"workers/w{n}.toml": card_text(f"w{n}") for n in range(MAX_CARDS - 1)}

    assert len(own_workers(cards).cards) == MAX_CARDS
    assert "more than 20 cards" in refusal({**cards, "workers/more.toml": card_text("more")})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": ""}, "name is missing"),
        ({"name": '"Licence"'}, "name: String should match pattern '^[a-z][a-z0-9_-]{0,39}$', not 'Licence'"),
        ({"name": "7"}, "name: Input should be a valid string, not 7"),
        ({"description": '"short"'}, "description: String should have at least 10 characters, not 'short'"),
        ({"aplies_to": '["*"]'}, "unknown key 'aplies_to'; did you mean 'applies_to'?"),
        ({"command": '"rm -rf /"'}, "unknown key 'command'; known: applies_to, brief, budget"),
        ({"budget": "{ tokens = 1 }"}, "unknown key 'tokens'; did you mean 'max_tokens'?"),
        ({"budget": "{ max_turns = 99 }"}, "budget.max_turns: Input should be less than or equal to 10, not 99"),
        ({"budget": "{ max_turns = true }"}, "budget.max_turns: Input should be a valid integer, not true"),
        ({"threshold": "101"}, "threshold: Input should be less than or equal to 100, not 101"),
        ({"threshold": "nan"}, "threshold: Input should be a valid integer, not nan"),
        ({"applies_to": "[]"}, "applies_to: List should have at least 1 item"),
        ({"applies_to": '[["*"]]'}, "applies_to.0: Input should be a valid string, not a list"),
        ({"applies_to": '"*"'}, "applies_to: Input should be a valid list, not '*'"),
        ({"applies_to": '["@cod"]'}, "unknown kind '@cod' in applies_to; did you mean '@code'?"),
        ({"applies_to": '[""]'}, "the glob '' in applies_to is empty"),
        ({"applies_to": f'["{"*" * 300}"]'}, "in applies_to is longer than 256 characters"),
        ({"tools": '["licenses"]'}, "unknown tool 'licenses'; did you mean 'licences'?"),
        ({"tiers": '["gpt"]'}, "tiers.0: Input should be 'small', 'medium' or 'large', not 'gpt'"),
        ({"prompt": '"../licence.md"'}, "prompt: String should match pattern"),
        ({"prompt": '"license.md"'}, "there is no prompt 'prompts/license.md'; did you mean 'licence.md'?"),
        ({"depends_on": '["securty"]'}, "depends_on names an unknown worker 'securty'; did you mean 'security'?"),
        ({"depends_on": '["licence"]'}, "depends_on goes in a circle: licence -> licence"),
        ({"name": "["}, "is not valid TOML"),
        ({"description": '"' + "x" * 66_000 + '"'}, "is larger than 64 KiB"),
    ],
)
def test_a_wrong_card_is_refused_with_its_file_and_what_is_expected(changes: dict[str, str], message: str) -> None:
    assert message in wrong_card(**changes)


def test_workers_that_wait_for_each_other_are_refused() -> None:
    extra = {
        "workers/a.toml": card_text("a", depends_on='["b"]'),
        "workers/b.toml": card_text("b", depends_on='["c", "security"]'),
        "workers/c.toml": card_text("c", depends_on='["a"]'),
    }

    message = refusal(extra)

    assert message.startswith(".reviewbot/workers/a.toml: depends_on goes in a circle: ")
    assert message.count(" -> ") == 3


def test_a_worker_may_wait_for_another() -> None:
    worker_set = own_workers({"workers/late.toml": card_text("late", depends_on='["security"]')})

    assert worker_set.cards[1].depends_on == ("security",)


def test_the_name_of_an_odd_file_is_escaped_in_messages() -> None:
    message = refusal({"workers/a\n\x1b.toml": "x"})

    assert message.startswith(".reviewbot/'workers/a\\n\\x1b.toml': is not valid TOML")


@pytest.mark.parametrize(("text", "message"), [(" \n", "is empty"), ("x" * 66_000, "is larger than 64 KiB")])
def test_an_empty_or_huge_prompt_is_refused(text: str, message: str) -> None:
    extra = {"workers/house.toml": card_text("house", prompt='"house.md"'), "prompts/house.md": text}

    assert message in refusal(extra)


def test_a_tool_is_refused_where_there_are_none() -> None:
    with pytest.raises(ConfigError, match=r"workers/security\.toml: unknown tool 'licences'; none is known"):
        build_worker_set(SHIPPED, {}, ())


@given(st.text(max_size=200))
def test_any_text_as_a_card_gives_one_line_of_refusal(text: str) -> None:
    refusal({"workers/licence.toml": text})


@given(st.dictionaries(st.sampled_from(sorted(WorkerCard.model_fields)), st.text(max_size=30), min_size=1, max_size=3))
def test_a_card_of_odd_values_gives_a_crew_or_one_line_of_refusal(changes: dict[str, str]) -> None:
    line = "fine"
    try:
        own_workers({"workers/licence.toml": card_text(**changes)})
    except ConfigError as error:
        line = str(error)
    assert line.isprintable()
