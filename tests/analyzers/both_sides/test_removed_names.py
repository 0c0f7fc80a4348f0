from __future__ import annotations

from typing import Any

import pytest

OLD = "LIMIT = 1\n\n\ndef first():\n    return LIMIT\n"
NEW = "MAX = 1\n\n\ndef first():\n    return MAX\n"


def test_a_name_that_is_still_imported_is_told_beside_where_it_stood(said: Any) -> None:
    found = said(OLD, NEW, {"src/b.py": "from app import LIMIT\n"})["removed-symbol"]

    assert (found.line, found.confidence) == (1, 92)
    assert found.message == "`LIMIT` is not in this file any more, and is still used at src/b.py:1."


@pytest.mark.parametrize(
    "other",
    [
        "try:\n    from app import LIMIT\nexcept ImportError:\n    LIMIT = 2\n",
        "import app\n\nif hasattr(app, 'LIMIT'):\n    x = app.LIMIT\n",
        "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    from app import LIMIT\n",
        "from other import LIMIT\n",
        "# LIMIT of the app\nfrom app import first\n",
        "LIMIT = 3\n",
    ],
)
def test_who_does_without_the_name_is_not_told(said: Any, other: str) -> None:
    assert said(OLD, NEW, {"src/b.py": other}) == {}


@pytest.mark.parametrize(
    "new",
    [
        "from limits import LIMIT\n",
        "import limits as LIMIT\n",
        "if x:\n    LIMIT = 1\nelse:\n    LIMIT = 2\n",
        "try:\n    LIMIT = 1\nexcept KeyError:\n    raise\n",
        "with a as LIMIT:\n    pass\n",
        "for LIMIT in (1,):\n    pass\n",
        "A, LIMIT = 1, 2\n",
        "def LIMIT(): ...\n",
        "class LIMIT: ...\n",
        "from limits import *\n",
        "def __getattr__(name): ...\n",
        "globals()['LIMIT'] = 1\n",
    ],
)
def test_a_name_that_is_bound_in_another_way_is_there(said: Any, new: str) -> None:
    assert said(OLD, f"{new}\n\ndef first():\n    return 2\n", {"src/b.py": "from app import LIMIT\n"}) == {}


def test_a_package_has_its_modules_as_names(said: Any) -> None:
    others = {"src/app/limits.py": "", "src/b.py": "from app import limits\n"}

    assert said("limits = 1\nx = 2\n", "x = 3\n", others, path="src/app/__init__.py") == {}
    assert "removed-symbol" in said(
        "limits = 1\nx = 2\n", "x = 3\n", {"src/b.py": "from app import limits\n"}, path="src/app/__init__.py"
    )


@pytest.mark.parametrize("name", ["__version__", "print"])
def test_names_that_python_has_anyway_are_not_missed(said: Any, name: str) -> None:
    assert said(f"{name} = 1\nx = {name}\n", f"y = 1\nx = {name}\n") == {}


def test_annotations_that_are_not_evaluated_do_not_fail(said: Any) -> None:
    old, new = "class A: ...\n\n\nx = 1\n", "class B: ...\n\n\nx = 1\n"
    uses = "def f(a: A, *, b: A) -> A:\n    c: A = a\n    return c\n"

    assert (
        said(f"from __future__ import annotations\n{old}{uses}", f"from __future__ import annotations\n{new}{uses}")
        == {}
    )
    assert "removed-symbol" in said(old + uses, new + uses)


def test_a_file_that_deletes_the_name_gets_along(said: Any) -> None:
    assert said("tmp = 1\nx = 2\n", "y = 1\nx = 2\n", {"src/b.py": "import app\n\ndel app.tmp\n"}) == {}


def test_a_method_that_is_gone_is_told_where_the_class_asks_for_it(said: Any) -> None:
    body = "class A:\n    def {}(self):\n        return 1\n\n    def go(self):\n        return self.find() + 1\n"

    found = said(body.format("find"), body.format("look"))["removed-method"]

    assert found.message == "`A` has no `find` any more, which is still used at src/app.py:6."


@pytest.mark.parametrize(
    ("head", "extra"),
    [
        ("class A(B):", ""),
        ("@dataclass\nclass A:", ""),
        ("class A(metaclass=M):", ""),
        ("class A:", "    def set(self):\n        setattr(self, 'find', 1)\n"),
        ("class A:", "    def set(self):\n        self.find = 1\n"),
        ("class A:", "    find = 1\n"),
    ],
)
def test_a_class_that_may_have_the_method_from_elsewhere_is_not_told(said: Any, head: str, extra: str) -> None:
    body = "{}\n    def {}(self):\n        return 1\n\n    def go(self):\n        return self.find() + 1\n{}"

    assert "removed-method" not in said(body.format(head, "find", extra), body.format(head, "look", extra))


def test_a_class_that_is_gone_is_one_name(said: Any) -> None:
    old = "class A:\n    def find_all(self):\n        return 1\n\n\nx = 1\n"

    assert list(said(old, "x = 2\n", {"src/b.py": "from app import A\nA().find_all()\n"})) == ["removed-symbol"]


def test_a_method_with_a_rare_name_is_guessed_where_nobody_else_defines_it(said: Any) -> None:
    body = "class A:\n    def {}(self):\n        return 1\n"
    caller = {"src/b.py": "def f(a):\n    return a.find_all_rows()\n"}
    namesake = {"src/c.py": "class C:\n    def find_all_rows(self): ...\n"}

    assert list(said(body.format("find_all_rows"), body.format("rows"), caller)) == ["removed-method-by-name"]
    assert said(body.format("find_all_rows"), body.format("rows"), {**caller, **namesake}) == {}
    assert said(body.format("find_all_rows"), body.format("rows"), caller, searchable=False) == {}
