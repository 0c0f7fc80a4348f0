"""Which definition is meant: by receiver, by import, by place; and what is said where nobody can tell."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import pytest

from reviewbot.context.symbols.index import MAX_PARSED, SymbolIndex
from reviewbot.context.symbols.resolve import Resolution, resolve

FILES = {
    "shop/service.py": "class ReservationService(Base):\n    def get(self, key):\n        return self.find(key)\n",
    "shop/cache.py": "class Cache:\n    def get(self, key): ...\n\n    def drop(self): ...\n",
    "shop/base.py": "class Base:\n    def find(self, key): ...\n",
    "shop/__init__.py": "from .impl import helper\n",
    "shop/impl.py": "def helper(): ...\n\ndef total(): ...\n",
    "shop/tax.py": "def total(): ...\nRATE = 1\n",
    "shop/use.py": (
        "import requests\nimport shop.tax as tax\nfrom shop.service import ReservationService as Service\n"
        "from shop import helper\nfrom requests import post\nfrom .tax import *\n\n"
        "def run(cache: Cache, made: Optional[ReservationService]):\n"
        "    service = Service()\n    with Cache(1) as held:\n        held.drop()\n    tax.total()\n"
    ),
    "tests/test_tax.py": "def total(): ...\nclass FakeCache:\n    def get(self): ...\n",
    "web/store.ts": (
        "export interface Store {\n  open(): void\n}\nexport class Disk implements Store {\n  open(): void {}\n}\n"
    ),
    "web/index.ts": "export * from './store'\n",
    "web/use.tsx": (
        "import { Store, Disk } from './store'\nimport helperDefault from '@/lib/helper'\n"
        "class Page { constructor(private store: Store) {} run() { this.store.open();\n"
        "const d = new Disk(); d.open() } }\n"
    ),
    "web/lib/helper.ts": "export function helper() {}\nexport const MyButton = () => 1\n",
    "go/pkg/shop/shop.go": "package shop\n\ntype Shop struct{ Base }\n\nfunc New() *Shop { return nil }\n",
    "go/pkg/shop/total.go": (
        "package shop\n\nfunc (s *Shop) Total() int { return helper() }\n\nfunc helper() int { return 1 }\n"
    ),
    "go/pkg/base/base.go": "package shop\n\ntype Base struct{}\n\nfunc (b Base) Close() {}\n",
    "go/main.go": (
        'package main\n\nimport "example.com/go/pkg/shop"\n\n'
        "func main() {\n\ts := shop.New()\n\tvar t *shop.Shop\n\ts.Total()\n\tt.Close()\n}\n"
    ),
    "go/other/other.go": (
        "package other\n\ntype Other struct{}\n\nfunc (o *Other) Total() int { return 2 }\n\nfunc New() {}\n"
    ),
    "java/src/a/Depot.java": (
        "package a;\n\npublic class Depot {\n    public static final int DUTY = 1;\n"
        "    int load(int a) { return weigh(); }\n"
        "    int weigh() { return 1; }\n}\n"
    ),
    "java/src/b/Other.java": "package b;\n\nclass Other {\n    int load(int a) { return 1; }\n}\n",
    "java/src/c/Use.java": (
        "package c;\n\nimport a.Depot;\n\nclass Use {\n    private Depot depot;\n"
        "    int run() { return depot.load(1); }\n}\n"
    ),
    "java/src/a/Near.java": "package a;\n\nclass Near {\n    Depot depot;\n}\n",
    "ruby/depot.rb": "class Hall < Barn\n  def open_gate; end\n  def self.locate(id); end\nend\n",
    "ruby/barn.rb": "class Barn\n  SIZE = 1\n  def sweep; end\nend\n",
    "ruby/use.rb": "hall = Hall.new\nhall.open_gate\nhall.sweep\nHall.locate(1)\n",
    "notes.md": "class Cache\n",
}  # fmt: skip


@pytest.fixture
def index() -> Callable[..., SymbolIndex]:
    def make(files: Mapping[str, str] = FILES) -> SymbolIndex:
        def contents(paths: Iterable[str]) -> Iterator[tuple[str, bytes]]:
            return ((path, files[path].encode()) for path in paths)

        return SymbolIndex(sorted(files), contents)

    return make


def looked_up(index: SymbolIndex, name: str, near: str = "") -> Resolution:
    return resolve(index, name, near, FILES.get)


def best(found: Resolution) -> list[str]:
    return [f"{each.path} {each.symbol.qualified}" for each in found.best]


@pytest.mark.parametrize(
    ("name", "near", "meant"),
    [
        ("ReservationService.get", "", ["shop/service.py ReservationService.get"]),
        ("Cache.get", "", ["shop/cache.py Cache.get"]),
        ("cache.get", "shop/use.py", ["shop/cache.py Cache.get"]),
        ("service.get", "shop/use.py", ["shop/service.py ReservationService.get"]),
        ("made.get()", "shop/use.py", ["shop/service.py ReservationService.get"]),
        ("held.drop", "shop/use.py", ["shop/cache.py Cache.drop"]),
        ("reservation_service.get", "", ["shop/service.py ReservationService.get"]),
        ("Service.find", "shop/use.py", ["shop/base.py Base.find"]),
        ("self.get", "shop/service.py", ["shop/service.py ReservationService.get"]),
        ("self.find", "shop/service.py", ["shop/base.py Base.find"]),
        ("tax.total", "shop/use.py", ["shop/tax.py total"]),
        ("tax.total", "", ["shop/tax.py total"]),
        ("total", "shop/use.py", ["shop/tax.py total"]),
        ("total", "shop/impl.py", ["shop/impl.py total"]),
        ("helper", "shop/use.py", ["shop/impl.py helper"]),
        ("Service", "shop/use.py", ["shop/service.py ReservationService"]),
        ("RATE", "", ["shop/tax.py RATE"]),
        ("this.store.open", "web/use.tsx", ["web/store.ts Store.open"]),
        ("d.open", "web/use.tsx", ["web/store.ts Disk.open"]),
        ("Store", "web/use.tsx", ["web/store.ts Store"]),
        ("my-button", "", ["web/lib/helper.ts MyButton"]),
        ("shop.New", "go/main.go", ["go/pkg/shop/shop.go New"]),
        ("Shop.Total", "", ["go/pkg/shop/total.go Shop.Total"]),
        ("t.Close", "go/main.go", ["go/pkg/base/base.go Base.Close"]),
        ("helper", "go/pkg/shop/shop.go", ["go/pkg/shop/total.go helper"]),
        ("other::New", "", ["go/other/other.go New"]),
        ("depot.load", "java/src/c/Use.java", ["java/src/a/Depot.java Depot.load"]),
        ("Depot", "java/src/c/Use.java", ["java/src/a/Depot.java Depot"]),
        ("Depot", "java/src/a/Near.java", ["java/src/a/Depot.java Depot"]),
        ("Depot.DUTY", "", ["java/src/a/Depot.java Depot.DUTY"]),
        ("this.weigh", "java/src/a/Depot.java", ["java/src/a/Depot.java Depot.weigh"]),
        ("hall.open_gate", "ruby/use.rb", ["ruby/depot.rb Hall.open_gate"]),
        ("hall.sweep", "ruby/use.rb", ["ruby/barn.rb Barn.sweep"]),
        ("Hall.locate", "ruby/use.rb", ["ruby/depot.rb Hall.locate"]),
        ("Barn::SIZE", "", ["ruby/barn.rb Barn.SIZE"]),
    ],
)
def test_the_definition_that_is_meant_comes_first(
    index: Callable[..., SymbolIndex], name: str, near: str, meant: list[str]
) -> None:
    assert best(looked_up(index(), name, near)) == meant


def test_without_anything_to_tell_by_all_are_given_sources_before_tests(index: Callable[..., SymbolIndex]) -> None:
    assert best(looked_up(index(), "total")) == ["shop/impl.py total", "shop/tax.py total", "tests/test_tax.py total"]


@pytest.mark.parametrize(
    ("name", "near", "note"),
    [
        ("thing.get", "shop/use.py", "nothing here tells what thing is: these are all of that name"),
        ("post", "shop/use.py", "shop/use.py imports it from requests, of which no file here defines it"),
        ("requests.get", "shop/use.py", "shop/use.py imports requests from requests, of which no file here defines it"),
        ("self.total", "shop/cache.py", "no class of this file has it"),
        ("nothing", "", ""),
        ("a.nothing", "", ""),
        ("...", "", ""),
    ],
)
def test_what_cannot_be_told_is_said(index: Callable[..., SymbolIndex], name: str, near: str, note: str) -> None:
    found = looked_up(index(), name, near)

    assert found.best == ()
    assert found.note == note
    assert bool(found.others) is (name in {"thing.get", "requests.get", "self.total"})


def test_of_a_name_in_very_many_files_the_nearest_are_parsed(index: Callable[..., SymbolIndex]) -> None:
    files = {f"far/{number:04}.py": "def go(): ...\n" for number in range(MAX_PARSED + 50)}
    files |= {"near/a.py": "def go(): ...\n", "near/b.py": "x = 1\n"}
    found = resolve(index(files), "go", "near/b.py", files.get)

    assert len(found.best) == MAX_PARSED
    assert found.best[0].path == "near/a.py"


def test_a_file_is_parsed_once(index: Callable[..., SymbolIndex]) -> None:
    read: list[list[str]] = []
    made = index()
    contents = made._contents

    def recorded(paths: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        read.append(list(paths))
        return contents(read[-1])

    made._contents = recorded
    resolve(made, "RATE", "", lambda _: None)
    resolve(made, "RATE", "", lambda _: None)

    assert read[1:] == [["shop/tax.py"], []]
    assert made.file("notes.md").symbols == ()


def test_a_class_that_names_itself_as_its_base_ends_the_search(index: Callable[..., SymbolIndex]) -> None:
    files = {"a.py": "class A(A, B):\n    pass\n\nclass B(A):\n    pass\n", "b.py": "class C:\n    def go(self): ...\n"}

    assert resolve(index(files), "A.go", "", files.get).best == ()


def test_any_name_is_answered(index: Callable[..., SymbolIndex]) -> None:
    made = index()
    odd: list[Any] = ["", ".", "a" * 399, "ü.ö", "x\ny", "(", "a.b.c.d.e", "\ud800", "-", "--", "$", "*"]

    assert all(resolve(made, name, "shop/use.py", FILES.get).best == () for name in odd)
