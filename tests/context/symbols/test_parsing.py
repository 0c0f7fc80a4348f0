"""What a file defines and imports, by its language."""

from __future__ import annotations

import pytest

from reviewbot.context.symbols.languages import LANGUAGES
from reviewbot.context.symbols.model import FileSymbols, Import
from reviewbot.context.symbols.parsing import MAX_FILE_BYTES, parse_file

PYTHON = """\
import a.b as q, os.path
from .m import x as y
from m import *
try:
    import late
except ImportError:
    late = None
LIMIT: int = 2
A = B = 1
C, (D) = 1, 2
type Pair[T] = tuple[T, T]
# why it is so
# and more
@decorated
class Shop(base.Store, metaclass=Meta):
    rate = 1

    def __init__(self, other):
        self.cache = Cache()
        other.cache = 1
        local = 2

        def inner():
            pass

    @property
    async def total(self):
        return 1
def bare(): return [local for local in ()]
"""

TYPESCRIPT = """\
import q, { a as b } from './m'
import * as ns from "x"
export { f as ff } from './y'
export * from './z'
const { r, s: t } = require('./m'), w = require('w')
/** says why */
@Injectable()
export default abstract class Shop<T> extends Base<T> implements Store {
  private rate: number = 1;
  static #hidden = 2
  constructor(private cache: Cache, plain: string) { super() }
  async total(a: number) { const local = 1; const handler = () => {}; return local }
  get price() { return 1 }
  onClick = () => {}
  abstract open(): void
}
export interface Store extends Other { name: string; total(): void }
type Options = { deep: boolean }
enum Color { Red, Blue = 2 }
export const LIMIT = 5, run = async () => {}
let [first] = list
function* gen() {}
declare function later(): void
namespace Inner { export function deep() {} }
const table = { lookup() {}, 'data-key': () => 1, plain: 2 }
Shop.prototype.extra = function () {}
module.exports.made = () => {}
"""

GO = """\
package shop

import (
\t"fmt"
\tq "example.com/x/y"
\t. "dot"
\t_ "none"
)

// Shop sells.
type Shop struct {
\t*Base
\tName, Title string
}

type Store interface {
\tTotal(x int) error
\tOther
}

type (
\tID    = string
\tList[T any] []T
)

const (
\tRed = iota
\tBlue
)

var Limit, other = 1, 2

func (s *Shop) Total(x int) error {
\tlocal := struct{ Inner int }{1}
\tconst hidden = 1
\treturn nil
}

func (l List[T]) Len() int { return 0 }
func Free[T any](x T) {}
"""


JAVA = """\
package shop.tax;
import shop.base.Base;
import static shop.base.Rates.RATE;
import shop.more.*;
/** says why */
@Service
public class Shop<T> extends Base<T> implements Store, a.Closing {
    static final int LIMIT = 1, OTHER = 2;
    private final Cache<String, Long> cache;
    Shop(Cache<String, Long> cache) { this.cache = cache; }
    @Override
    public int total(int a) { int local = 1; return local; }
    enum Color { RED(1), BLUE }
}
interface Store extends Closing { int NAMES = 1; int total(int a); }
record Pair(int left, int right) { Pair {} }
@interface Marked { String value(); }
"""

RUBY = """\
require "set"
module Shop
  # says why
  class Cart < Base::Store
    LIMIT = 1
    attr_accessor :name, :title
    has_many :items, dependent: :destroy
    scope :open, -> { where(open: true) }
    def total(net, rate: 1) = net * rate
    def name=(value)
      @name = value
    end
    class << self
      def build; end
    end
    def self.find(id); end
    alias_method :sum, :total
    alias count total
  end
end
class Shop::Box; end
def bare; end
"""


def parsed(language: str, text: str) -> FileSymbols:
    return parse_file(LANGUAGES[language], text.encode())


def told(found: FileSymbols) -> set[str]:
    return {f"{each.kind} {each.qualified}" for each in found.symbols}


def lines(found: FileSymbols, name: str) -> tuple[int, int]:
    return next((each.first, each.last) for each in found.symbols if each.name == name)


def test_python() -> None:
    found = parsed("python", PYTHON)

    assert told(found) == {
        "constant late", "constant LIMIT", "constant A", "constant B", "constant C", "type Pair", "class Shop",
        "field Shop.rate", "method Shop.__init__", "field Shop.cache", "function inner", "method Shop.total",
        "function bare",
    }  # fmt: skip
    assert lines(found, "Shop") == (12, 28)
    assert lines(found, "total") == (26, 28)
    assert next(each.bases for each in found.symbols if each.name == "Shop") == ("Store",)
    assert found.imports == (
        Import("q", "a.b", ""),
        Import("os", "os.path", ""),
        Import("y", ".m", "x"),
        Import("*", "m", "*"),
        Import("late", "late", ""),
    )


@pytest.mark.parametrize("language", ["typescript", "tsx"])
def test_typescript(language: str) -> None:
    found = parsed(language, TYPESCRIPT)

    assert told(found) == {
        "constant r", "constant t", "constant w", "class Shop", "field Shop.rate", "field Shop.#hidden",
        "method Shop.constructor", "field Shop.cache", "method Shop.total", "function handler", "method Shop.price",
        "field Shop.onClick", "method Shop.open", "interface Store", "field Store.name", "method Store.total",
        "type Options", "field Options.deep", "type Color", "field Color.Red", "field Color.Blue", "constant LIMIT",
        "function run", "constant first", "function gen", "function later", "namespace Inner", "method Inner.deep",
        "constant table", "method table.lookup", "method table.data-key", "method Shop.extra", "function made",
    }  # fmt: skip
    assert lines(found, "Shop") == (6, 16)
    assert next(each.bases for each in found.symbols if each.name == "Shop") == ("Base", "Store")
    assert set(found.imports) == {
        Import("q", "./m", "default"),
        Import("b", "./m", "a"),
        Import("ns", "x", ""),
        Import("ff", "./y", "f"),
        Import("*", "./z", "*"),
        Import("r", "./m", "r"),
        Import("t", "./m", "s"),
        Import("w", "w", ""),
    }


def test_javascript_without_types() -> None:
    found = parsed("javascript", "class A { x = 1; static #y() {} }\nvar f = function () {}\nexports.h = class {}\n")

    assert told(found) == {"class A", "field A.x", "method A.#y", "function f", "function h"}


def test_go() -> None:
    found = parsed("go", GO)

    assert told(found) == {
        "class Shop", "field Shop.Name", "field Shop.Title", "interface Store", "method Store.Total", "type ID",
        "type List", "constant Red", "constant Blue", "constant Limit", "constant other", "method Shop.Total",
        "method List.Len", "function Free",
    }  # fmt: skip
    assert found.package == "shop"
    assert lines(found, "Shop") == (10, 14)
    assert next(each.bases for each in found.symbols if each.name == "Shop") == ("Base",)
    assert found.imports == (
        Import("fmt", "fmt", ""),
        Import("q", "example.com/x/y", ""),
        Import("*", "dot", "*"),
    )


def test_java() -> None:
    found = parsed("java", JAVA)

    assert told(found) == {
        "class Shop", "field Shop.LIMIT", "field Shop.OTHER", "field Shop.cache", "method Shop.Shop",
        "method Shop.total", "type Shop.Color", "field Color.RED", "field Color.BLUE", "interface Store",
        "field Store.NAMES", "method Store.total", "class Pair", "field Pair.left", "field Pair.right",
        "interface Marked", "method Marked.value",
    }  # fmt: skip
    assert found.package == "shop.tax"
    assert lines(found, "total") == (11, 12)
    assert lines(found, "Pair") == (16, 16)
    assert next(each.bases for each in found.symbols if each.name == "Shop") == ("Base", "Store", "Closing")
    assert found.imports == (
        Import("Base", "shop.base.Base", "Base"),
        Import("RATE", "shop.base.Rates", "RATE"),
        Import("*", "shop.more.*", "*"),
    )


def test_ruby() -> None:
    found = parsed("ruby", RUBY)

    assert told(found) == {
        "namespace Shop", "class Shop.Cart", "field Cart.LIMIT", "field Cart.name", "field Cart.title",
        "field Cart.items", "method Cart.open", "method Cart.total", "method Cart.name=", "method Cart.build",
        "method Cart.find", "method Cart.sum", "method Cart.count", "class Box", "function bare",
    }  # fmt: skip
    assert lines(found, "Cart") == (3, 19)
    assert next(each.bases for each in found.symbols if each.name == "Cart") == ("Store",)
    assert found.imports == ()


def test_a_file_that_does_not_parse_defines_what_can_be_made_out() -> None:
    assert "function whole" in told(parsed("python", "def whole():\n    pass\n\ndef broken(:\n  ]]\n"))


@pytest.mark.parametrize("language", sorted(LANGUAGES))
@pytest.mark.parametrize("text", ["", "\0\0", "((((" * 2_000, "\xff" * 50, "class " * 500])
def test_any_text_is_survived(language: str, text: str) -> None:
    assert isinstance(parsed(language, text), FileSymbols)


def test_a_very_long_file_is_not_parsed() -> None:
    assert parsed("python", "x = 1\n" * (MAX_FILE_BYTES // 6 + 1)).symbols == ()
