"""Parameters that a framework fills: those that somebody chooses freely, and those that are limited."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from reviewbot.analyzers.taint.annotations import allows_few

if TYPE_CHECKING:
    from tests.analyzers.taint.conftest import Agree

HEAD = """
import datetime, decimal, enum, os, uuid
from enum import Enum, StrEnum
from typing import Annotated, Literal, Optional, Union
from fastapi import BackgroundTasks, Depends, FastAPI, Path, Query, Response, Security, WebSocket
from pydantic import BaseModel, Field
from sqlalchemy.ext.asyncio import AsyncSession
from shop.deps import CurrentUser
app = FastAPI()
StoreDep = Annotated[Store, Depends(get_store)]
AgainDep = StoreDep
Loop = Loop
Order = Annotated[str, Query(pattern="^(name|price)$")]
Word: TypeAlias = Annotated[str, Query()]
class Base(Enum):
    A = "a"
class Colour(str, Base):
    RED = "red"
class Tone(enum.StrEnum):
    LOW = "low"
"""

HARMLESS = {
    "a dependency": "a: Annotated[Store, Depends(get_store)]",
    "a dependency with scopes": "a: Annotated[Store, Security(get_store, scopes=['x'])]",
    "a dependency as the default": "a: Store = Depends(get_store)",
    "a dependency by name": "a: StoreDep",
    "a dependency by the name of a name": "a: AgainDep",
    "a dependency as a text": "a: 'StoreDep'",
    "a whole annotation as a text": "a: 'Annotated[Store, Depends(get_store)] | None'",
    "a dependency that may be missing": "a: Optional[StoreDep] = None",
    "a dependency from elsewhere": "a: CurrentUser",
    "a name that says so": "a: MailDep",
    "tasks": "a: BackgroundTasks",
    "an answer": "a: Response",
    "a session": "a: AsyncSession",
    "a socket": "a: WebSocket",
    "some words": "a: Annotated[str, Query(pattern='^(name|price)$')]",
    "some words by name": "a: Order",
    "some words as the default": "a: str = Query('name', pattern='^(?:name|price)$')",
    "letters of an address": "a: Annotated[str, Path(pattern=r'^[a-z0-9_]{1,20}$')]",
    "one of some classes": "a: Colour",
    "a class of words": "a: Tone",
    "fixed words": "a: Literal['x', 'y']",
    "fixed words that may be missing": "a: Literal['x', 'y'] | None = None",
    "a number or nothing": "a: Union[int, None] = None",
    "a number of two kinds": "a: int | float",
    "numbers": "a: list[int]",
    "pairs of numbers": "a: tuple[int, ...]",
    "lists of words": "a: list[list[Literal['x']]]",
    "a moment": "a: datetime.datetime",
    "an amount": "a: decimal.Decimal",
    "an identifier": "a: uuid.UUID",
}
HARMLESS["letters in the older way"] = "a: str = Query(regex='^[a-z_]+$')"


@pytest.mark.parametrize("parameter", HARMLESS.values(), ids=HARMLESS)
def test_no_attack_comes_in_by(parameter: str, agree: Agree) -> None:
    agree(f"{HEAD}\n@app.get('/x')\nasync def view({parameter}):\n    os.system(f'ls {{a}}')\n")


OPEN = {
    "a text": "a: str",
    "a text with a note": "a: Annotated[str, Query(max_length=50)]",
    "a text by name": "a: Word",
    "a text as a text": "a: 'str'",
    "what is no annotation": "a: 'str or'",
    "a name for itself": "a: Loop",
    "a number": "a: 12",
    "a text or a number": "a: int | str",
    "texts": "a: list[str]",
    "a pattern for the beginning": "a: str = Query(pattern='^[a-z]+')",
    "a pattern for anything": "a: str = Query(pattern='^.*$')",
    "a pattern that is no constant": "a: str = Query(pattern=WORDS)",
    "a class of another kind": "a: Store",
    "lists that are too deep": "a: list[list[list[list[list[list[int]]]]]]",
}


@pytest.mark.parametrize("parameter", OPEN.values(), ids=OPEN)
def test_an_attack_comes_in_by(parameter: str, agree: Agree) -> None:
    agree(f"{HEAD}\n@app.get('/x')\nasync def view({parameter}):\n    os.system(f'ls {{a}}')  # <<< command-external\n")


def test_the_fields_of_a_model_are_told_apart(agree: Agree) -> None:
    agree(f"""{HEAD}
class Stamp(BaseModel):
    by: str
    day: datetime.date
class Item(Stamp):
    name: str
    count: int = 1
    colour: Optional[Colour] = None
    code: str = Field(pattern="^[a-z]+$")
    day: str
    other.x: int = 1
@app.post("/items")
def add(item: Item):
    os.system(f"ls {{item.count}} {{item.colour}} {{item.code}}")
    os.system(f"ls {{item.name}}")  # <<< command-external
    os.system(f"ls {{item.by}}")  # <<< command-external
    os.system(f"ls {{item.day}}")  # <<< command-external
""")


def test_what_a_socket_receives_comes_from_outside(agree: Agree) -> None:
    agree(f"""{HEAD}
@app.websocket("/ws")
async def talk(socket: WebSocket, store: StoreDep):
    await store.get("x").run(os.system(f"ls {{socket.client}}"))
    os.system(await socket.receive_text())  # <<< command-external
""")


@pytest.mark.parametrize(
    "pattern", ["^a$", "^(a|b)$", "^[a-zA-Z0-9_-]+$", r"^\w{1,3}$", r"^\d+-\d*$", "^(?:asc|desc)?$"]
)
def test_a_pattern_lets_few_through(pattern: str) -> None:
    assert allows_few(pattern)


@pytest.mark.parametrize(
    "pattern",
    [
        "a",
        "^a",
        "a$",
        "^a|b$",
        "^.+$",
        "^[^;]+$",
        r"^\S+$",
        "^[A-z]+$",
        "^[ -~]+$",
        "^" + "a" * 400 + "$",
        "^a\\$",
        "^[a/]$",
    ],
)
def test_a_pattern_lets_anything_through(pattern: str) -> None:
    assert not allows_few(pattern)
