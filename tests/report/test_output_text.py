from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from reviewbot.report.text import (
    block,
    clip,
    clip_block,
    escape_runner_commands,
    label,
    md,
    md_block,
    md_cell,
    md_code,
    one_line,
    visible,
)

# Half of the characters are those that mean something to Markdown or to GitHub.
TEXTS = st.text(st.one_of(st.characters(), st.sampled_from("`~*_[]()<>#|\\!@/:$&-+=.1 \t\n\rabGH"))) | st.text(
    st.sampled_from("`$ |\\@\n")
)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x07", "\\x1b[31mred\\x07"),
        ("a\x00b\x7fc\x9bd", "a\\x00b\\x7fc\\x9bd"),
        ("over\rwrite", "over\\x0dwrite"),
        ("a\u202eb\u2066c", "a<U+202E>b<U+2066>c"),
        ("zero\u200bwidth\u2060\ufeff", "zero<U+200B>width<U+2060><U+FEFF>"),
        ("\U000e0049\U000e0067", "<U+E0049><U+E0067>"),
        ("\ud800", "<U+D800>"),
        ("\ue000\uffff", "<U+E000><U+FFFF>"),
        ("line\u2028par\u2029nel\x85fs\x1c", "line<U+2028>par<U+2029>nel\\x85fs\\x1c"),
        ("\u3164\u115f\u034f", "<U+3164><U+115F><U+034F>"),
        ("a\u200db", "a<U+200D>b"),
        ("\u200d", "<U+200D>"),
        ("a\ufe0f", "a<U+FE0F>"),
        ("\ufe0f", "<U+FE0F>"),
        ("❤\ufe0f\ufe01\U000e0101", "❤\ufe0f<U+FE01><U+E0101>"),
    ],
)
def test_what_hides_or_acts_is_shown_as_an_escape(text: str, shown: str) -> None:
    assert visible(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "",
        "plain ASCII ~",
        "two\nlines\tand a tab",
        "שלום עולם",
        "مرحبا",
        "e\u0301 und ä",
        "no-break\xa0space and an ideographic\u3000one",
        "👩\u200d💻 👨🏽\u200d🚀 ❤\ufe0f\u200d🔥 1\ufe0f\u20e3",
        "漢字 кириллица ελληνικά",
    ],
)
def test_normal_text_of_any_script_stays(text: str) -> None:
    assert visible(text) == text


@given(TEXTS)
def test_visible_text_holds_no_character_that_hides_or_acts(text: str) -> None:
    shown = visible(text).replace("\u200d", "")

    assert not [
        c for c in shown if c not in "\n\t" and unicodedata.category(c) in {"Cc", "Cf", "Co", "Cn", "Cs", "Zl", "Zp"}
    ]


@given(TEXTS)
def test_making_visible_twice_changes_nothing(text: str) -> None:
    assert visible(visible(text)) == visible(text)
    assert one_line(one_line(text)) == one_line(text)


def test_blanks_and_line_ends_collapse_on_one_line() -> None:
    assert one_line("  a \r\n\r\n\tb\xa0\u3000c\n\xa0") == "a b c"


def test_a_block_keeps_its_lines_and_loses_blank_ends() -> None:
    assert block("\n \n  a\r\n\n\tb\n\n") == "  a\n\n\tb"


def test_a_name_keeps_its_spaces_and_shows_its_line_ends() -> None:
    assert label(" a\nb\tc ") == " a\\nb\\tc "
    assert label("") == "(no name)"


def test_clipping_says_that_it_clipped() -> None:
    assert clip("12345678", 8) == "12345678"
    assert clip("123456789", 8) == "1234 ..."


def test_a_clipped_block_counts_the_lines_left_out() -> None:
    assert clip_block("a\nb\nc", lines=2, chars=9) == "a\nb\n... 1 more line"
    assert clip_block("a\nb\nc", lines=1, chars=9) == "a\n... 2 more lines"
    assert clip_block("a\n1234567890", lines=2, chars=9) == "a\n12345 ..."


@pytest.mark.parametrize(
    ("text", "markdown"),
    [
        ("plain words, and more.", "plain words, and more."),
        ("cc @octocat, @github/security", "cc `@octocat`, `@github/security`"),
        ("mail user@example.invalid", "mail `user@example.invalid`"),
        ("see #1 (GH-2) and owner/repo#3", "see `#1` (`GH-2`) and `owner/repo#3`"),
        ("in deadbeefcafe, not in dead", "in `deadbeefcafe`, not in dead"),
        ("http://127.0.0.1:9/x www.example.invalid", "`http://127.0.0.1:9/x` `www.example.invalid`"),
        ("costs $x$.", "costs ` $x$ `."),
        (":tada: std::x", "`:tada:` std::x"),
        ("<b>&amp;</b>", "&lt;b&gt;&amp;amp;&lt;/b&gt;"),
        ("*a* _b_ ~~c~~ [d](e) ![f][g] a|b", "\\*a\\* \\_b\\_ \\~\\~c\\~\\~ \\[d\\](e) !\\[f\\]\\[g\\] a&#124;b"),
        ("[^1] [ ] x", "\\[^1\\] \\[ \\] x"),
        ("\\", "\\\\"),
        ("# heading", "\\# heading"),
        ("- item", "\\- item"),
        ("--flag", "\\--flag"),
        ("1. item", "1\\. item"),
        ("1 item", "1 item"),
        ("=====", "\\====="),
        ("a - b = 1. c", "a - b = 1. c"),
        ("\n/merge\nbors r+", "`/merge` bors r+"),
        ("bors r+", "`bors` r+"),
        ("(/etc/passwd)", "(`/etc/passwd`)"),
        ("call `f(@x)`, then `g`", "call `f(@x)`, then `g`"),
        ("odd ` backtick", "odd &#96; backtick"),
        ("``a`b``", "``a`b``"),
        ("`a`@b", "`a` `@b`"),
        ("", ""),
    ],
)
def test_prose_is_shown_and_does_not_act(text: str, markdown: str) -> None:
    assert md(text) == markdown


@pytest.mark.parametrize(
    ("text", "markdown"),
    [
        ("a.py", "`a.py`"),
        ("``` ` `` x", "```` ``` ` `` x ````"),
        ("a`b", "``a`b``"),
        (" a ", "`  a  `"),
        ("$x", "` $x `"),
        ("a\nb", "`a b`"),
        ("", "`(no name)`"),
    ],
)
def test_a_code_span_has_a_fence_that_its_text_cannot_close(text: str, markdown: str) -> None:
    assert md_code(text) == markdown


def test_a_pipe_leaves_the_code_span_of_a_cell() -> None:
    assert md_cell("a|b|") == "`a`&#124;`b`&#124;"
    assert md_cell("a\\|b") == "`a\\`&#124;`b`"


@given(TEXTS)
def test_a_code_span_is_one_code_span_with_the_text(text: str) -> None:
    inline = MarkdownIt("commonmark").parseInline(md_code(text))[0]

    assert [(child.type, child.content) for child in inline.children or []] == [
        ("code_inline", label(one_line(text) if "\n" in text else text))
    ]


@given(TEXTS)
def test_prose_is_one_paragraph_of_text_and_code(text: str) -> None:
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(md(text))

    assert [token.type for token in tokens] in ([], ["paragraph_open", "inline", "paragraph_close"])
    kinds = {child.type for token in tokens for child in token.children or []}
    assert kinds <= {"text", "text_special", "code_inline"}


@given(TEXTS)
def test_prose_loses_no_letter(text: str) -> None:
    tokens = MarkdownIt("commonmark").parse(md(text))
    read = "".join(child.content for token in tokens for child in token.children or [])

    assert re.sub(r"[` ]", "", read) == re.sub(r"[` ]", "", one_line(text))


@given(TEXTS)
def test_a_cell_never_holds_a_pipe(text: str) -> None:
    assert "|" not in md_cell(text)
    assert "|" not in re.sub(r"`+[^`]*`+", "", md(text)) or "`" in text


@given(TEXTS, st.sampled_from(["", "  ", "    "]))
def test_a_block_is_one_fence_with_the_text(text: str, indent: str) -> None:
    markdown = "- x\n\n" + md_block(text, "python", indent="  ") if indent else md_block(text, "python")
    fences = [token for token in MarkdownIt("commonmark").parse(markdown) if token.type == "fence"]

    assert [(fence.info, fence.content.rstrip("\n")) for fence in fences] == [("python", block(text))]


@pytest.mark.parametrize("info", ["suggestion", "mermaid", "math", "python\n# x", "py`", ""])
def test_an_info_string_outside_the_list_becomes_text(info: str) -> None:
    assert md_block("x", info) == "```text\nx\n```"


def test_every_line_of_a_block_is_indented() -> None:
    assert md_block("/merge\n```\n\n@bot", "text", indent="  ") == "  ````text\n  /merge\n  ```\n  \n  @bot\n  ````"


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("::set-output name=a::b", r"\x3a:set-output name=a::b"),
        ("a\n \t\u00a0::stop-commands::x\nb", "a\n \t\u00a0\\x3a:stop-commands::x\nb"),
        ("\x1b[1m  \x1b[31m::debug::x\x1b[0m", "\x1b[1m  \x1b[31m\\x3a:debug::x\x1b[0m"),
        ("a\r::debug::x", "a\r\\x3a:debug::x"),
        ("a ##[add-mask]x ##vso[b]c ##teamcity[d]", r"a #\x23[add-mask]x #\x23vso[b]c #\x23teamcity[d]"),
        ("####[group]x", r"###\x23[group]x"),
        ("std::move(a) | ::b\n## Title [link](x)\n#[derive]", "std::move(a) | ::b\n## Title [link](x)\n#[derive]"),
    ],
)
def test_commands_for_a_runner_are_escaped_where_one_would_find_them(text: str, escaped: str) -> None:
    assert escape_runner_commands(text) == escaped
    assert escape_runner_commands(escaped) == escaped


@pytest.mark.parametrize("unit", ["#", " ", "\n", "\r ", "##a", "\x1b[1m ", ":"])
def test_the_search_for_commands_is_linear(unit: str) -> None:
    assert escape_runner_commands("x" + unit * (200_000 // len(unit))).startswith("x")
