"""Keys of messages that are gone from all locales while code asks for them."""

from __future__ import annotations

import asyncio
import difflib
import json
import re
from itertools import groupby
from typing import Any

import pytest

from reviewbot.analyzers.core.rules import packaged_rules
from reviewbot.analyzers.messages.keys import MAX_TEXT, is_message_file, message_keys
from reviewbot.analyzers.messages.relative_keys import MAX_LINE
from reviewbot.analyzers.messages.tool import MAX_FILES, MAX_FOUND, MAX_KEYS, MessageKeys
from reviewbot.domain.contracts import Candidate, Hunk
from reviewbot.domain.ports import ChangedFile
from tests.snapshots import InMemorySnapshot

TOOL = MessageKeys(packaged_rules("message_keys").of_tool("message-keys"))


def locale(**messages: Any) -> str:
    return json.dumps(messages, indent=2)


BASE = locale(cart={"emptyHint": "Nothing here", "title": "Cart"})
HEAD = locale(cart={"title": "Cart"})
USER = {"src/Cart.tsx": "export const Hint = () => <p>{t('cart.emptyHint')}</p>\n"}


def found(
    base: str = BASE,
    head: str = HEAD,
    others: dict[str, str] | None = None,
    path: str = "src/locales/en.json",
    before: dict[str, str] | None = None,
) -> list[Candidate]:
    """What is said of a file of messages beside others that the change leaves alone."""
    hunks: list[Hunk] = []
    old = new = 0
    lines = list(difflib.unified_diff(base.split("\n"), head.split("\n"), lineterm=""))[2:]
    for _, group in groupby(lines, key=lambda line: line.startswith("@@")):
        if (text := list(group))[0].startswith("@@"):
            old, new = (int(n) for n in re.findall(r"[-+](\d+)", text[0])[:2])
        else:
            hunks.append(Hunk(old_start=old, old_count=0, new_start=new, new_count=0, body="\n".join(text)))
    tree = USER if others is None else others
    sides = {**tree, path: head}, {**tree, **(before or {}), path: base}
    snapshot = InMemorySnapshot(*sides, searchable=True, whole=True)
    report = asyncio.run(TOOL.run(ChangedFile(path, path, "json", tuple(hunks), head, base), snapshot))
    return list(report.candidates)


def test_a_message_that_is_gone_while_code_asks_for_it_is_reported_at_its_removed_line() -> None:
    (one,) = found()

    assert (one.rule, one.side, one.near) == ("removed-message-key", "old", 3)
    assert one.message == "The message `cart.emptyHint` is gone from all locales, and still asked for at src/Cart.tsx:1"


RAILS = ("config/locales/en.yml", "en:\n  cart:\n    empty_hint: A\n    b: B\n", "en:\n  cart:\n    b: B\n")
JAVA = ("src/messages.properties", "cart.empty.hint=A\nb=B\n", "b=B\n")
JSON = ("i18n/en.json", BASE, HEAD)
FLAT = ("lang/en.json", locale(**{"cart.emptyHint": "A", "b": "B"}), locale(b="B"))


@pytest.mark.parametrize(
    ("sides", "user"),
    [
        (RAILS, {"app/a.rb": "I18n.t('cart.empty_hint')\n"}),
        (RAILS, {"app/a.erb": '<%= t("cart.empty_hint", count: 3) %>\n'}),
        (JAVA, {"src/A.java": 'source.getMessage("cart.empty.hint", null, locale);\n'}),
        (JAVA, {"web/a.html": '<p th:text="#{cart.empty.hint}"></p>\n'}),
        (JSON, {"src/a.vue": "<p>{{ $t('cart.emptyHint') }}</p>\n"}),
        (JSON, {"src/a.jsx": '<Trans i18nKey="cart.emptyHint" />\n'}),
        (JSON, {"src/a.jsx": "t('shop:cart.emptyHint', { name })\n"}),
        (FLAT, {"a.ts": "intl.formatMessage({ id: 'cart.emptyHint' })\n"}),
    ],
)
def test_other_formats_and_calls_are_known(sides: tuple[str, str, str], user: dict[str, str]) -> None:
    path, base, head = sides

    assert [each.rule for each in found(base, head, user, path)] == ["removed-message-key"]


@pytest.mark.parametrize(
    "others",
    [
        {},
        {"src/Cart.tsx": "t('cart.emptyHint', 'Nothing here')\n"},
        {"src/Cart.tsx": "t('cart.emptyHint', { defaultValue: 'Nothing here' })\n"},
        {"src/Cart.tsx": "t('cart.emptyHint', fallback)\n"},
        {"src/Cart.tsx": "t('cart.emptyHintLong')\n"},
        {"src/Cart.tsx": "// t('cart.emptyHint')\n"},
        {"src/Cart.tsx": "select('cart.emptyHint')\n"},
        {"src/Cart.test.tsx": "t('cart.emptyHint')\n"},
        USER | {"other/locales/en.json": BASE},
        USER | {"src/locales/de.json": locale(cart={"emptyHint": "Nichts"})},
        USER | {"other/locales/en.json": locale(shop={"cart": {"emptyHint_one": "One"}})},
        USER | {"other/locales/en.json": json.dumps({"cart": {"emptyHint": 1}})},
        {f"src/a{number}.ts": "emptyHint, t('cart.emptyHint')\n" for number in range(MAX_FOUND)},
    ],
)
def test_a_message_that_nothing_asks_for_or_that_another_file_may_have_draws_nothing(others: dict[str, str]) -> None:
    assert found(others=others) == []


@pytest.mark.parametrize(
    "head",
    [
        locale(cart={"emptyHint_one": "One", "emptyHint_other": "More", "title": "Cart"}),
        locale(cart={"emptyHint": {"short": "A"}, "title": "Cart"}),
        "",
        '{"cart": {"title": "Cart"}}',
    ],
    ids=["plural forms", "a group", "no text", "on one line"],
)
def test_a_message_that_took_another_form_draws_nothing(head: str) -> None:
    assert found(head=head) == []


def test_a_line_that_the_change_wrote_is_no_former_form() -> None:
    path = "src/locales/en.json"
    removed = Hunk(old_start=3, old_count=1, new_start=3, new_count=0, body='-    "emptyHint": "Nothing here",')
    snapshot = InMemorySnapshot({**USER, path: HEAD}, {path: BASE, "src/Cart.tsx": ""}, searchable=True)

    report = asyncio.run(TOOL.run(ChangedFile(path, path, "json", (removed,), HEAD, BASE), snapshot))

    assert report.candidates == ()


def test_what_all_languages_have_lost_is_reported_in_english_alone() -> None:
    path = "src/locales/de.json"
    removed = Hunk(old_start=3, old_count=1, new_start=3, new_count=0, body='-    "emptyHint": "Nichts",')
    head = {**USER, path: HEAD, "src/locales/en.json": HEAD}
    snapshot = InMemorySnapshot(head, {**USER, path: BASE, "src/locales/en.json": BASE}, searchable=True)

    report = asyncio.run(TOOL.run(ChangedFile(path, path, "json", (removed,), HEAD, BASE), snapshot))

    assert report.candidates == ()


def test_messages_of_a_library_and_a_file_that_was_laid_out_anew_draw_nothing() -> None:
    many = {f"emptyHint{number}": "x" for number in range(MAX_KEYS + 1)}
    users = {"src/a.ts": "".join(f"t('cart.{key}')\n" for key in many)}
    rails = {"app/a.rb": "t('devise.empty_hint')\n"}

    assert found(locale(cart={**many, "title": "Cart"}), HEAD, users) == []
    assert found("en:\n  devise:\n    empty_hint: A\n  b: B\n", "en:\n  b: B\n", rails, "config/locales/en.yml") == []


@pytest.mark.parametrize(
    "text",
    [
        "a: &x\n  b: c\n",
        "<<: *x\n",
        " " * 100_000,
        '{"a": ' * 10_000,
        '"' * 100_000,
        "a" * (MAX_TEXT + 1),
        "\x00: \n" * 9,
    ],
)
def test_texts_that_are_no_plain_lists_of_messages_have_no_keys(text: str) -> None:
    assert not message_keys("locales/en.yml", text)


def test_only_files_in_folders_of_messages_are_looked_at() -> None:
    assert is_message_file("app/locales/de/shop.json")
    assert is_message_file("src/main/resources/messages_de.properties")
    assert not is_message_file("package.json")
    assert not is_message_file("src/lang/parser.ts")


PO = 'msgid ""\nmsgstr "Language: de"\n\nmsgid "Empty cart"\nmsgstr "Leer"\n\nmsgid "Total"\nmsgstr "Summe"\n'
PO_HEAD = PO.replace('msgid "Empty cart"', 'msgid "Empty basket"')
GERMAN = "locale/de/LC_MESSAGES/shop.po"


@pytest.mark.parametrize(
    "user",
    [
        {"shop/cart.py": "show(_('Empty cart'))\n"},
        {"shop/cart.py": 'show(gettext_lazy("Empty cart"))\n'},
        {"shop/cart.py": 'show(ngettext("Empty cart", "Empty carts", n))\n'},
        {"shop/cart.html": "{% trans 'Empty cart' %}\n"},
        {"shop/cart.php": "echo esc_html__( 'Empty cart', 'shop' );\n"},
        {"shop/cart.php": "echo $this->l10n->t('Empty cart');\n"},
        {"shop/cart.tpl": '{translate key="Empty cart"}\n'},
        {"shop/cart.rb": 'flash[:error] = _("Empty cart")\n'},
        {"shop/Cart.cs": 'Show (Translations.GetString ("Empty cart"));\n'},
    ],
)
def test_a_text_of_gettext_that_is_gone_is_found_in_the_calls_of_each_language(user: dict[str, str]) -> None:
    (one,) = found(PO, PO_HEAD, user, GERMAN)

    assert (one.rule, one.side, one.near) == ("removed-message-key", "old", 4)
    assert "`Empty cart`" in one.message


@pytest.mark.parametrize(
    ("head", "others"),
    [
        (PO_HEAD, {"shop/cart.py": "show(_('Empty cart' + name))\n"}),
        (PO_HEAD, {"shop/cart.py": "show(_('Empty cart'\n    ' of yours'))\n"}),
        (PO_HEAD, {"shop/cart.py": "select('Empty cart')\n"}),
        (PO_HEAD, {"shop/cart.py": "# _('Empty cart')\n"}),
        (PO_HEAD, {"shop/cart.py": "_('Empty carts')\n"}),
        (PO.replace('"Empty cart"', '""\n"Empty "\n"cart"'), {"shop/cart.py": "_('Empty cart')\n"}),
        (PO.replace("msgid", 'msgctxt "shop"\nmsgid'), {"shop/cart.py": "_('Empty cart')\n"}),
        (PO_HEAD, {"shop/cart.py": "_('Empty cart')\n", "locale/shop.pot": PO}),
        (PO_HEAD, {"shop/cart.py": "_('Empty cart')\n", "locale/fr/LC_MESSAGES/shop.po": PO}),
        (
            PO_HEAD,
            {"shop/cart.py": "_('Empty cart')\n"}
            | {f"locale/a{each}/shop.po": f'{PO_HEAD}\n#~ msgid "Empty cart"\n' for each in range(MAX_FILES)},
        ),
    ],
    ids=[
        "joined", "goes on", "no call", "a comment", "a longer text", "in several lines", "in a context", "a template",
        "another language", "too many languages",
    ],
)  # fmt: skip
def test_a_text_of_gettext_that_is_there_or_not_asked_for_draws_nothing(head: str, others: dict[str, str]) -> None:
    assert found(PO, head, others, GERMAN) == []


def test_a_text_that_all_languages_of_gettext_have_lost_is_reported_in_one_of_them() -> None:
    french = "locale/fr/LC_MESSAGES/shop.po"
    tree = {"shop/cart.py": "_('Empty cart')\n", french: PO_HEAD + '\n#~ msgid "Empty cart"\n'}
    other = {"shop/cart.py": "_('Empty cart')\n", GERMAN: PO_HEAD}

    assert len(found(PO, PO_HEAD, tree, GERMAN, {french: PO})) == 1
    assert found(PO, PO_HEAD, other, french, {GERMAN: PO}) == []


RAILS_BASE = "en:\n  carts:\n    show:\n      title: Cart\n      hint: Empty\n"
RAILS_HEAD = "en:\n  carts:\n    show:\n      hint: Empty\n"


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("app/views/carts/show.html.erb", "<%= t('.title') %>\n"),
        ("app/views/carts/_show.html.haml", "%h1= t '.title'\n"),
        ("shop/app/views/carts/show.text.erb", '<%= translate(".title", count: 1) %>\n'),
        ("app/controllers/carts_controller.rb", "  def show\n    @title = t('.title')\n  end\n"),
        ("app/mailers/carts.rb", "  def show\n    mail(subject: t('.title'))\n  end\n"),
    ],
)
def test_the_end_of_a_key_of_rails_is_asked_for_in_the_view_or_action_that_it_begins_with(path: str, text: str) -> None:
    (one,) = found(RAILS_BASE, RAILS_HEAD, {path: text}, "config/locales/en.yml")

    assert f"`carts.show.title` is gone from all locales, and still asked for at {path}:" in one.message


VIEW = {"app/views/carts/show.html.erb": "<%= t('.title') %>\n"}


@pytest.mark.parametrize(
    "others",
    [
        {"app/views/carts/index.html.erb": "<%= t('.title') %>\n"},
        {"app/views/carts/show.html.erb": "<%= t('.title', default: 'Cart') %>\n"},
        {"app/views/carts/show.html.erb": "<%= I18n.t('.title') %>\n"},
        {"app/views/carts/show.html.erb": "<%= t('.title_of') %>\n"},
        {"app/controllers/carts_controller.rb": "  def index\n    t('.title')\n  end\n"},
        VIEW | {"config/locales/views/en.yml": RAILS_BASE},
        VIEW | {"config/locales/carts.yml": RAILS_BASE},
        VIEW | {"config/locales/views/en.yml": "en:\n  carts:\n    show:\n      title:\n        one: A\n"},
        VIEW | {"config/locales/views/en.yml": "en:\n  carts: &carts\n    title: x\n"},
    ],
    ids=[
        "another view", "a text of its own", "no end", "another key", "another action", "another file",
        "a file of no language", "forms of a number", "parts that stand elsewhere",
    ],
)  # fmt: skip
def test_the_end_of_a_key_that_means_another_message_draws_nothing(others: dict[str, str]) -> None:
    assert found(RAILS_BASE, RAILS_HEAD, others, "config/locales/en.yml") == []


def test_a_language_that_keeps_a_message_does_not_hide_that_another_one_lost_it() -> None:
    others = VIEW | {"config/locales/de.yml": RAILS_BASE.replace("en:", "de:")}

    assert len(found(RAILS_BASE, RAILS_HEAD, others, "config/locales/en.yml")) == 1


def test_a_file_of_gettext_is_read_once_whatever_its_lines_are() -> None:
    text = 'msgid "' + "a" * MAX_LINE + '\n"' * 50_000 + '\nmsgid "' * 50_000

    assert message_keys("a.po", text) == {}
    assert message_keys("a.po", 'msgid "a"\n' * 3 + "msgid_plural " + '"b"\n"c"') == {"a": 3, "bc": 4}
