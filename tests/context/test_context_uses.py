from __future__ import annotations

import ast
from typing import Any

import pytest

from reviewbot.context.python_text import MAX_CHARS, bound_names, dotted_name, parse_python, walk
from reviewbot.context.uses import (
    MAX_FILES,
    MAX_HELD,
    Library,
    PythonFile,
    imported_uses,
    imports_of,
    own_uses,
    python_file,
)

TARGET = "src/shop/price.py"


def a_file(path: str, text: str) -> PythonFile:
    found = python_file(path, text)
    assert found is not None
    return found


def uses(snapshot: Any, path: str, text: str, *, target: str = TARGET, symbol: str = "total") -> list[tuple[int, str]]:
    return [(use.row, type(use.node).__name__) for use in imported_uses(a_file(path, text), target, symbol, snapshot)]


@pytest.mark.parametrize(
    ("path", "text", "found"),
    [
        ("src/shop/cart.py", "from shop.price import total\ntotal(1)\n", [(1, "ImportFrom"), (2, "Name")]),
        ("src/shop/cart.py", "from .price import total as t\nt(1)\n", [(1, "ImportFrom"), (2, "Name")]),
        ("src/shop/sub/x.py", "from ..price import total\n", [(1, "ImportFrom")]),
        ("src/shop/cart.py", "from . import price\nprice.total(1)\n", [(2, "Attribute")]),
        ("src/shop/cart.py", "from shop import price as p\np.total\n", [(2, "Attribute")]),
        ("src/web.py", "import shop.price\nshop.price.total(1)\n", [(2, "Attribute")]),
        ("src/web.py", "import shop.price as p\np.total(1)\n", [(2, "Attribute")]),
        ("tests/test_price.py", "from shop.price import total\n", [(1, "ImportFrom")]),
        ("src/web.py", "from shop.price import other\ntotal(1)\n", []),
        ("src/web.py", "from shop.cart import total\n", []),
        ("src/web.py", "from price import total\n", []),
        ("src/web.py", "import shop\nshop.total(1)\n", []),
        ("web.py", "from ....price import total\n", []),
        ("src/web.py", "from shop.price import total\ntotal = 1\ntotal(1)\n", [(1, "ImportFrom")]),
        ("src/web.py", "import shop.price\nimport shop.cart\nshop.price.total(1)\n", []),
    ],
)
def test_uses_follow_imports(snapshot_with: Any, path: str, text: str, found: list[tuple[int, str]]) -> None:
    snapshot = snapshot_with({TARGET: "def total(): ...\n", "src/shop/__init__.py": ""})

    assert uses(snapshot, path, text) == found


@pytest.mark.parametrize("other", ["shop/price.py", "tests/shop/price/__init__.py", "tests/shop/price.py"])
def test_what_could_be_two_files_is_none(snapshot_with: Any, other: str) -> None:
    snapshot = snapshot_with({TARGET: "", other: ""})

    assert uses(snapshot, "tests/test_price.py", "from shop.price import total\n") == []


@pytest.mark.parametrize(
    ("target", "text", "known"),
    [
        ("app.py", "from app import total\n", True),
        ("src/app.py", "from app import total\n", True),
        ("deep/down/app.py", "from app import total\n", False),
        ("packages/one/app/limits.py", "from app.limits import total\n", True),
        ("vendor/app/limits.py", "from app.limits import total\n", False),
        ("src/app/__init__.py", "from app import total\n", True),
    ],
)
def test_absolute_imports_begin_at_known_roots(snapshot_with: Any, target: str, text: str, known: bool) -> None:  # noqa: FBT001 - a case
    assert bool(uses(snapshot_with({target: ""}), "web.py", text, target=target)) is known


def test_a_folder_that_is_a_package_is_no_root(snapshot_with: Any) -> None:
    snapshot = snapshot_with({"shop/__init__.py": "", "shop/price.py": ""})

    assert uses(snapshot, "shop/cart.py", "from price import total\n", target="shop/price.py") == []


def test_own_uses_count_where_no_scope_hides_the_name() -> None:
    plain = a_file("a.py", "def f(): ...\nf()\nx = f\n")
    hidden = a_file("a.py", "def f(): ...\ndef g(f):\n    f()\n")

    assert [use.row for use in own_uses(plain, "f", bindings=1)] == [2, 3]
    assert list(own_uses(hidden, "f", bindings=1)) == []


def test_a_use_knows_its_call_and_place() -> None:
    call, name = own_uses(a_file("a.py", "def f(): ...\nf(1)\ng(f)\n"), "f", bindings=1)

    assert isinstance(call.call, ast.Call)
    assert call.place == "a.py:2"
    assert name.call is None


@pytest.mark.parametrize(
    ("text", "lenient"),
    [
        ("try:\n    f()\nexcept ImportError:\n    pass\n", True),
        ("try:\n    f()\nexcept (KeyError, errors.NameError):\n    pass\n", True),
        ("try:\n    f()\nexcept:\n    pass\n", True),
        ("try:\n    f()\nexcept KeyError:\n    pass\n", False),
        ("try:\n    f()\nfinally:\n    pass\n", False),
        ("if TYPE_CHECKING:\n    f()\n", True),
        ("x = f() if hasattr(m, 'f') else 1\n", True),
        ("if ready:\n    f()\n", False),
    ],
)
def test_a_place_may_reckon_with_a_missing_name(text: str, lenient: bool) -> None:  # noqa: FBT001 - a case
    file = a_file("a.py", text)
    [use] = own_uses(file, "f", bindings=0)

    assert file.is_lenient(use.node) is lenient


@pytest.mark.parametrize(
    ("text", "is_open"),
    [
        ("from a import *\n", True),
        ("def __getattr__(name): ...\n", True),
        ("globals()['x'] = 1\n", True),
        ("from a import b\n", False),
    ],
)
def test_names_can_come_from_where_a_file_does_not_spell_them(text: str, is_open: bool) -> None:  # noqa: FBT001 - a case
    assert a_file("a.py", text).is_open is is_open


def test_only_some_files_with_a_word_are_parsed(snapshot_with: Any) -> None:
    files = {f"m{n:03}.py": "word\n" for n in range(MAX_FILES + 5)} | {"a.txt": "word", "broken.py": "word ("}

    found = Library(snapshot_with(files)).files_with("word", but="m000.py")

    assert len(found) == MAX_FILES - 1
    assert "m000.py" not in [file.path for file in found]


@pytest.mark.parametrize("text", [None, "x = (", "a\rb", "\0", "x" * (MAX_CHARS + 1)])
def test_what_has_no_tree_is_none(text: str | None) -> None:
    assert parse_python(text) is None
    assert python_file("a.py", text) is None


def test_deep_code_is_no_failure() -> None:
    assert parse_python("x = " + "(" * 5_000 + ")" * 5_000) is None


def test_windows_line_ends_keep_their_rows() -> None:
    tree = parse_python("a = 1\r\nb = 2\r\n")

    assert tree is not None
    assert [node.lineno for node in tree.body] == [1, 2]


def test_names_are_bound_in_many_ways() -> None:
    text = (
        "import a.b, c as d\nfrom e import f as g\nh = 1\ndef i(j, *k, l=1, **m): ...\nclass n: ...\n"
        "try: ...\nexcept E as o: ...\nexcept F: ...\nfor v in w: ...\n"
        "match x:\n    case [p, *q]: ...\n    case {'r': s, **t}: ...\n    case _: ...\n    case {'u': 1}: ...\n"
    )
    tree = parse_python(text)
    assert tree is not None

    found = {name for node in walk(tree) for name in bound_names(node)}

    assert found == set("adghijklmnopqstv")


@pytest.mark.parametrize(("text", "name"), [("a", "a"), ("a.b.c", "a.b.c"), ("a().b", ""), ("a[0].b", ""), ("1", "")])
def test_only_names_with_dots_are_dotted(text: str, name: str) -> None:
    assert dotted_name(ast.parse(text, mode="eval").body) == name


def test_imports_name_modules_and_symbols(snapshot_with: Any) -> None:
    file = a_file(
        "src/web.py", "import shop.price as p\nfrom shop import price, cart\nfrom shop.price import total as t\n"
    )

    found = [(each.name, each.symbol) for each in imports_of(file.nodes, file.path, TARGET, snapshot_with({}))]

    assert found == [("p", ""), ("price", ""), ("t", "total")]


def test_each_file_is_parsed_once_while_there_is_room(snapshot_with: Any) -> None:
    files = {"a.py": "x = 1\n", "b.py": "x = (", "large.py": "#" * (MAX_HELD - 20), "c.py": "x = 1\n" * 9}
    library = Library(snapshot_with(files))

    assert library.file("a.py") is library.file("a.py")
    assert library.file("b.py") is None
    assert library.file("large.py") is library.file("large.py")
    assert library.file("c.py") is not library.file("c.py")


def test_only_files_that_may_import_from_a_module_are_parsed(snapshot_with: Any) -> None:
    files = {"a.py": "from shop.price import total\n", "b.py": "total = 1\n", "shop/c.py": "from . import total\n"}
    library = Library(snapshot_with(files))

    def found(module: str) -> list[str]:
        return [file.path for file in library.files_with("total", but="", module=module)]

    assert found("") == ["a.py", "b.py", "shop/c.py"]
    assert found("shop/price.py") == ["a.py"]
    assert found("shop/__init__.py") == ["a.py", "shop/c.py"]


@pytest.mark.parametrize(
    ("caller", "text", "known"),
    [
        ("web.py", "from .price import total\n", True),
        ("web.py", "from ..price import total\n", False),
        ("web.py", "from ...price import total\n", False),
        ("a/web.py", "from ..price import total\n", True),
        ("a/web.py", "from .price import total\n", False),
        ("a/__init__.py", "from ..price import total\n", True),
    ],
)
def test_a_relative_import_never_reaches_above_the_repository(
    snapshot_with: Any, caller: str, text: str, *, known: bool
) -> None:
    assert bool(uses(snapshot_with({"price.py": ""}), caller, text, target="price.py")) is known


@pytest.mark.parametrize(
    ("target", "caller", "text", "known"),
    [
        *((f"{root}/app.py", "web.py", "from app import total\n", True) for root in ("src", "lib", "python")),
        ("app.py", "deep/down/web.py", "from app import total\n", True),
        ("deep/app.py", "deep/down/web.py", "from app import total\n", True),
        ("deep/down/app.py", "deep/down/web.py", "from app import total\n", True),
        ("deep/down/app.py", "deep/web.py", "from app import total\n", False),
        ("tools/app.py", "web.py", "from app import total\n", False),
        *(
            (f"{folder}/app/limits.py", "web.py", "from app.limits import total\n", folder == "packages")
            for folder in (
                "packages", "vendor", "_vendor", "vendored", "third_party", "extern", "external", "site-packages"
            )
        ),
        ("src/shop/price.py", "web.py", "from other import price\nprice.total(1)\n", False),
        ("src/shop/price.py", "web.py", "from shop import cart, price\nprice.total(1)\n", True),
        ("src/shop/price.py", "web.py", "from shop import cart\nprice.total(1)\n", False),
        ("src/shop/price.py", "web.py", "from . import price\nprice.total(1)\n", False),
        ("src/shop/price.py", "src/shop/cart.py", "from . import cart, price as p\np.total(1)\n", True),
    ],
)  # fmt: skip
def test_an_import_means_a_file_below_one_of_the_places_where_imports_begin(
    snapshot_with: Any, target: str, caller: str, text: str, *, known: bool
) -> None:
    assert bool(uses(snapshot_with({target: ""}), caller, text, target=target)) is known
