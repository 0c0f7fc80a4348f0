"""The secret scan. Every token here is put together at run time, so that no scanner takes this file for a leak."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from reviewbot.analyzers.core.run import changed_file
from reviewbot.analyzers.text.secrets import SecretScan
from reviewbot.diff.language import language_of
from reviewbot.redact.mask import redact
from tests.secret_parts import FOOTER, GIVEN_OUT, HEADER, KEY_LINE, TOKEN, scan

if TYPE_CHECKING:
    from collections.abc import Callable

    from reviewbot.domain.contracts import FileChange
    from reviewbot.domain.ports import Snapshot

    FileOf = Callable[..., FileChange]


def test_a_token_is_critical_and_its_value_is_nowhere(file_of: FileOf, bare: Snapshot) -> None:
    (found,) = scan(file_of(f" a: 1\n+token: {TOKEN}", path="deploy.yml", language="yaml", start=4), bare)

    assert (found.line, found.severity, found.confidence, found.cwe) == (5, "critical", 99, 798)
    assert found.message == "Hard-coded GitHub token: ghp_****"
    assert found.quote == "token: ghp_****"
    assert found.rule == "github-token"
    assert TOKEN not in found.model_dump_json()
    assert TOKEN[4:16] not in found.model_dump_json()


@pytest.mark.parametrize("line", [f" x = '{TOKEN}'", f"-x = '{TOKEN}'\n+x = ENV['X']"])
def test_a_token_that_was_not_added_is_not_told(file_of: FileOf, bare: Snapshot, line: str) -> None:
    assert scan(file_of(f"{line}\n+y = 1"), bare) == []


def test_a_stand_in_stays_far_below_the_threshold(file_of: FileOf, bare: Snapshot) -> None:
    (found,) = scan(file_of("key = '" + "AK" + "IAIOSFODNN7EXAMPLE'"), bare)

    assert (found.severity, found.confidence) == ("info", 30)


def test_a_private_key_is_one_finding_over_its_lines(file_of: FileOf, bare: Snapshot) -> None:
    text = f"{HEADER}\n{KEY_LINE}\n{KEY_LINE}\n{FOOTER}"

    (found,) = scan(file_of(text, path="id_ec", language="text"), bare)

    assert (found.line, found.end_line, found.severity, found.confidence) == (1, 3, "critical", 75)
    assert KEY_LINE not in found.model_dump_json()
    assert found.message == "Hard-coded private key"


@pytest.mark.parametrize(
    ("path", "before", "least"),
    [
        ("tests/data/key.pem", "", 70),
        ("deploy/local_testing.yml", "key: ", 70),
        ("src/keys.py", 'TEST_KEY = """', 70),
        ("src/keys.go", "const localKey = `", 70),
        ("src/keys.kt", " * ", 70),
        ("README.md", "", 70),
        ("src/latest.go", "const key = `", 75),
        ("deploy/contest.yml", "attestation: ", 75),
        ("config/production.yml", "key: ", 97),
        ("src/server.go", "const liveKey = `", 97),
        ("src/products.go", "const key = `", 75),
    ],
)
def test_a_private_key_that_is_there_to_be_read_or_tried_out_is_less_sure_to_matter(
    file_of: FileOf, bare: Snapshot, path: str, before: str, least: int
) -> None:
    text = f"{before}{HEADER}\n{KEY_LINE}\n{FOOTER}"

    (found,) = scan(file_of(text, path=path, language=language_of(path)), bare)

    assert (found.severity, found.confidence) == ("warning" if least == 70 else "critical", least)


def test_a_token_that_is_cut_off_by_dots_is_a_sample_and_masked_like_any_other(file_of: FileOf, bare: Snapshot) -> None:
    (found,) = scan(file_of(f"+# token = '{GIVEN_OUT}...'", path="src/config.py"), bare)

    assert (found.severity, found.confidence) == ("warning", 70)
    assert GIVEN_OUT not in found.model_dump_json()


def test_a_token_in_a_test_is_told_like_any_other_where_its_checksum_shows_that_it_was_given_out(
    file_of: FileOf, bare: Snapshot
) -> None:
    told = [scan(file_of(f"+t = '{token}'", path="tests/api_test.go"), bare)[0] for token in (GIVEN_OUT, TOKEN)]

    assert [(found.severity, found.confidence) for found in told] == [("critical", 99), ("warning", 70)]


@pytest.mark.parametrize(
    ("path", "line", "confidence"),
    [
        ("deploy/keys.env", "KEY={key}", 75),
        ("spec/fixtures/build.json", "KEY={key}", 70),
        ("web/links.html", "<img src='https://b.example/a?AWSAccessKeyId={key}&Expires=1'>", 70),
        ("web/links.html", "<img src='https://b.example/a?X-Amz-Credential={key}/20260101'>", 70),
    ],
)
def test_the_id_of_a_key_is_no_leak_in_a_signed_address_or_a_test(
    file_of: FileOf, bare: Snapshot, path: str, line: str, confidence: int
) -> None:
    key = "AK" + "IA" + "Q3EGRIZ7WX5TJ2LM"

    (found,) = scan(file_of(f"+{line.format(key=key)}", path=path), bare)

    assert (found.rule, found.confidence) == ("aws-access-key-id", confidence)


def test_a_key_of_which_only_some_lines_are_shown_is_a_placeholder(file_of: FileOf, bare: Snapshot) -> None:
    text = "\n".join(f"# {line}" for line in (HEADER, KEY_LINE, "...", KEY_LINE, FOOTER))

    (found,) = scan(file_of(text, path="src/main/app.yml", language="yaml"), bare)

    assert (found.severity, found.confidence) == ("info", 30)


def test_code_that_names_the_header_of_a_key_is_only_mentioned(file_of: FileOf, bare: Snapshot) -> None:
    (found,) = scan(file_of(f"if '{HEADER}' in text:\n    load_pem_private_key(text)"), bare)

    assert (found.severity, found.confidence) == ("info", 40)


def test_a_named_value_goes_to_a_person_and_in_a_test_to_nobody(file_of: FileOf, bare: Snapshot) -> None:
    line = "db_password = 'q8W3e7R2t6Y1u5I9'"

    (outside,) = scan(file_of(line), bare)
    (inside,) = scan(file_of(line, path="tests/test_db.py"), bare)

    assert (outside.severity, outside.confidence, outside.message) == ("critical", 60, "Hard-coded named value")
    assert (inside.severity, inside.confidence) == ("info", 40)
    assert outside.quote == "db_password = '****'"


def test_lines_are_told_apart_also_over_several_hunks(file_of: FileOf, bare: Snapshot) -> None:
    found = scan(
        file_of(f"+x = '{TOKEN}'\n y = 1\n+z = '{TOKEN}'\n-w = 2\n+v = '{TOKEN}'", f"+u = '{TOKEN}'\n t = 5", start=10),
        bare,
    )

    assert [candidate.line for candidate in found] == [10, 12, 13, 1010]


def test_the_quote_of_each_finding_is_what_redaction_leaves(file_of: FileOf, bare: Snapshot) -> None:
    line = f"login('{TOKEN}', password='q8W3e7R2t6Y1u5I9')"

    found = scan(file_of(line), bare)

    assert {candidate.quote for candidate in found} == {redact(line)}
    assert len(found) == 2


def test_any_language_is_read(file_of: FileOf, bare: Snapshot) -> None:
    assert SecretScan().languages is None
    report = asyncio.run(SecretScan().run(changed_file([file_of("")], bare), bare))

    assert (report.candidates, report.gap, report.run.exit_code) == ((), None, None)
