"""Secrets in text. Every token here is put together at run time, so that no scanner takes this file for a leak."""

from __future__ import annotations

import base64
import re
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.redact.mask import SecretMask, redact
from reviewbot.redact.patterns import NAMED, PRIVATE_KEY, find_secrets

BODY = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0u1V2w3X4y5Z6"
UPPER = "Q7R2S9T4U1V8W3X6"
PEM = "-----BEGIN RSA PRIVATE" + " KEY-----"
TOKENS = {
    "AWS access key id": "AK" + "IA" + UPPER,
    "GitHub token": "gh" + "p_" + BODY[:36],
    "GitHub fine-grained token": "github" + "_pat_" + BODY[:22] + "_" + BODY,
    "GitLab token": "glp" + "at-" + BODY[:20],
    "Slack token": "xo" + "xb-" + "2048-4096-" + BODY[:24],
    "Slack webhook": "hooks.slack" + ".com/services/T0A1B2C3D/B4E5F6G7H/" + BODY[:24],
    "Stripe live key": "sk_" + "live_" + BODY[:24],
    "Google API key": "AI" + "za" + BODY[:35],
    "npm token": "np" + "m_" + BODY[:36],
    "PyPI token": "pyp" + "i-AgE" + BODY,
    "Anthropic key": "sk-" + "ant-" + BODY,
    "OpenAI key": "sk-" + "proj-" + BODY,
    "Hugging Face token": "h" + "f_" + BODY[:34],
    "SendGrid key": "S" + "G." + BODY[:22] + "." + BODY[:43],
}


@pytest.mark.parametrize(("kind", "token"), TOKENS.items(), ids=TOKENS.keys())
def test_a_token_of_each_provider_is_found_and_masked(kind: str, token: str) -> None:
    text = f"x = f('{token}')  # why"

    (secret,) = find_secrets(text)

    assert (secret.kind, text[secret.start : secret.end]) == (kind, token)
    assert secret.confidence == 75 if kind in {"Google API key", "AWS access key id"} else 95 <= secret.confidence <= 99
    assert not secret.placeholder
    masked = redact(text)
    assert token[secret.shown :] not in masked
    assert masked == f"x = f('{token[: secret.shown]}****')  # why"


@pytest.mark.parametrize("token", TOKENS.values(), ids=TOKENS.keys())
@pytest.mark.parametrize("template", ["{}", "https://u:{}@h/x", "\\n{}\\n", "a{}", "+{}\n-{}", '{{"k": "{}"}}'])
def test_a_token_is_masked_wherever_it_stands(token: str, template: str) -> None:
    masked = redact(template.replace("{{", "{").replace("}}", "}").replace("{}", token))

    assert token not in masked
    assert token[-12:] not in masked


@pytest.mark.parametrize(
    "text",
    [
        "AKIA is how it begins",
        "gh" + "p_short",
        "xo" + "xb-1",
        "xo" + "xb-my-bot-token",
        "sk_" + "test_" + BODY,
        "npm_config_registry = 1",
        "pypi-server",
        "hf_hub_download(x)",
        "task-anthropic",
        "-----BEGIN PUBLIC KEY-----",
        "-----BEGIN CERTIFICATE-----",
    ],
)
def test_what_only_begins_like_a_token_is_none(text: str) -> None:
    assert list(find_secrets(text)) == []
    assert redact(text) == text


@pytest.mark.parametrize(
    "token",
    [
        "AK" + "IAIOSFODNN7EXAMPLE",
        "gh" + "p_" + "x" * 36,
        "gh" + "p_" + "0123456789" * 4,
        "sk-" + "ant-your-key-goes-right-here-1",
        "glp" + "at-" + "A1" * 10,
        "np" + "m_" + "1234567890" * 3 + "123456",
    ],
)
def test_a_stand_in_is_known_as_one_and_masked_all_the_same(token: str) -> None:
    (secret,) = find_secrets(token)

    assert secret.placeholder
    assert redact(token).endswith("****")


LINES = [(BODY + BODY)[:64]] * 3 + ["MIIEpAIB=="]


@pytest.mark.parametrize("joint", ["\n", "\n+", "\\n", "\r\n", '",\n  "', "\n    "])
def test_a_private_key_is_masked_to_its_end(joint: str) -> None:
    text = joint.join([PEM, *LINES, "-----END RSA PRIVATE" + " KEY-----", "x = 1"])

    masked = redact(text)

    assert not any(line in masked for line in LINES)
    assert masked.startswith(PEM + "****")
    assert masked.endswith("x = 1")
    (secret,) = find_secrets(text)
    assert (secret.kind, secret.confidence) == (PRIVATE_KEY, 97)


def test_the_header_of_a_private_key_alone_is_a_hint_and_stays_readable() -> None:
    text = f"if text.startswith('{PEM}'): load the key"

    (secret,) = find_secrets(text)

    assert secret.confidence == 60
    assert redact(text) == text


@pytest.mark.parametrize(
    "line",
    [
        "password = '{}'",
        'API_KEY: "{}"',
        '"client_secret": "{}",',
        "const accessToken = `{}`;",
        "aws_secret_access_key='{}'",
        'token := "{}"',
        "'private-key' => '{}'",
    ],
)
def test_a_random_value_that_is_named_like_a_secret_is_a_hint_and_masked(line: str) -> None:
    (secret,) = find_secrets(line.format(BODY[:24]))

    assert (secret.kind, secret.confidence, secret.shown) == (NAMED, 60, 0)
    assert redact(line.format(BODY[:24])) == line.format("****")


@pytest.mark.parametrize(
    "line",
    [
        "password = 'correct horse battery staple'",
        "password = getpass('the password please')",
        "token = 'authentication-token-name'",
        "api_key = '${SECRET_FROM_VAULT_2}'",
        "secret_url = 'https://host/a1B2c3D4e5F6'",
        "token_path = '/var/run/secrets/x1y2z3/token'",
        "token = '{{ lookup.env.TOKEN_A1B2C3 }}'",
        "secret = 'your-secret-goes-here-12'",
        "password = 'aaaaaaaaaaaaaaaa1'",
        "key = 'a1B2c3D4e5F6g7H8i9J0'",
        "token = 'short1'",
    ],
)
def test_a_value_that_is_no_random_text_is_none(line: str) -> None:
    assert list(find_secrets(line)) == []


def test_a_token_that_is_also_named_is_one_secret() -> None:
    token = TOKENS["GitHub token"]

    assert [secret.kind for secret in find_secrets(f"token = '{token}'")] == ["GitHub token"]


def test_several_secrets_of_one_text_come_in_order() -> None:
    text = " ".join(TOKENS.values())

    assert [secret.kind for secret in find_secrets(text)] == list(TOKENS)


@given(
    st.lists(
        st.sampled_from([*TOKENS.values(), PEM, *LINES, "token = '", "'", " ", "\n", "****", "-----END"]), max_size=8
    ).map("".join)
)
def test_masking_twice_changes_nothing(text: str) -> None:
    assert redact(redact(text)) == redact(text)


@given(st.text())
def test_no_text_breaks_the_search(text: str) -> None:
    for secret in find_secrets(text):
        assert 0 <= secret.start <= secret.start + secret.shown <= secret.end <= len(text)


LONG = 200_000


@pytest.mark.slow
@pytest.mark.parametrize(
    "unit",
    [
        "a",
        "xo" + "xb-",
        "sk-" + "ant-",
        "gh" + "p_",
        "token",
        "token='",
        PEM,
        PEM + "A" * 16,
        "-----BEGIN ",
        "A" * 15 + " ",
        "S" + "G.",
        '"',
        "\\n",
    ],
)
def test_the_search_is_linear_in_the_text(unit: str) -> None:
    """A pattern that goes back over the text would not come to an end here."""
    text = unit * (LONG // len(unit))

    assert len(redact(text)) <= len(text)


@given(st.text(alphabet="\n aAb-=\"'", max_size=30), st.integers(0, 6), st.text(alphabet="\n ab", max_size=10))
def test_with_keep_lines_a_text_has_as_many_lines_as_before(before: str, rows: int, after: str) -> None:
    key = "-----BEGIN PRIVATE KEY-----\n" + "QUJDREVGR0hJSktMTU5P\n" * rows
    text = before + key + after

    masked = redact(text, keep_lines=True)

    assert masked.count("\n") == text.count("\n")
    assert redact(masked, keep_lines=True) == masked
    assert "QUJD" not in masked


HIDDEN = ["\u200b", "\u200d", "\u00ad", "\ufeff", "\u2060", "\U000e0041", "\x00", "\x1b"]


@pytest.mark.parametrize("hidden", HIDDEN, ids=ascii)
@pytest.mark.parametrize("token", TOKENS.values(), ids=TOKENS.keys())
def test_a_token_with_a_character_in_it_that_is_not_shown_is_masked(token: str, hidden: str) -> None:
    if hidden.isascii():
        hidden += "\u200b"  # a text of ASCII alone is searched as it is
    for at in (1, len(token) // 2, len(token) - 2):
        text = f"x = '{token[:at]}{hidden}{token[at:]}'"

        (secret,) = find_secrets(text)

        assert text[secret.start : secret.end].replace(hidden, "") == token
        assert token[-6:] not in redact(text).replace(hidden, "")
        assert redact(redact(text)) == redact(text)


@pytest.mark.parametrize("hidden", HIDDEN, ids=ascii)
def test_a_private_key_with_such_characters_in_it_is_masked_to_its_end(hidden: str) -> None:
    lines = [line[:9] + hidden + "\u200b" + line[9:] for line in LINES]

    masked = redact("\n".join([PEM[:7] + "\u200b" + PEM[7:], *lines, "-----END RSA PRIVATE" + " KEY-----", "x = 1"]))

    assert not any(line in masked or line[-20:] in masked for line in LINES[:3])
    assert masked.endswith("-----END RSA PRIVATE" + " KEY-----\nx = 1")


@pytest.mark.parametrize("joint", ["\n-", "\n> ", "\n# ", "\n// ", "\n * ", "\n| ", "`\n`", "\\n-", ";\n"], ids=ascii)
def test_a_private_key_is_masked_whatever_marks_its_lines(joint: str) -> None:
    masked = redact(joint.join([PEM, *LINES, "-----END RSA PRIVATE" + " KEY-----", "x = 1"]))

    assert not any(line in masked for line in LINES)
    assert masked.endswith("x = 1")


@pytest.mark.parametrize(
    "headers",
    [
        ["Proc-Type: 4,ENCRYPTED", "DEK-Info: AES-128-CBC,1F2E3D4C5B6A79880123456789ABCDEF", ""],
        ["Version: GnuPG v2", "Comment: https://example.org/key", ""],
    ],
)
def test_a_private_key_with_headers_is_masked_to_its_end(headers: list[str]) -> None:
    text = "\n".join([PEM, *headers, *LINES, "-----END RSA PRIVATE" + " KEY-----", "x = 1"])

    masked = redact(text)

    assert not any(line in masked for line in LINES)
    assert masked.endswith("x = 1")
    assert len(redact(text, keep_lines=True).split("\n")) == len(text.split("\n"))


KEY_LINES = [
    "MIIEpAIBAAKCAQEA1xq9Zk3vR8sT5wYbN2mC7dFgHjKlPoIuYtReWqAsDfGh4Jk6",
    "Zx8Cv0Bn2Mm4Qw6Er8Ty1Ui3Op5As7Df9Gh0Jk2Lz4Xc6Vb8Nm1Qa3Ws5Ed7Rf9T",
    "pL0oK9iJ8uH7yG6tF5rD4eS3wA2qZ1xC0vB9nM8bV7cX6zL5kJ4hG3fD2sA1pO0",
]
KEY = "\n".join([PEM, *KEY_LINES, "-----END RSA PRIVATE" + " KEY-----"])
HINT = "zQ8wX3eV7rB2tN6yM1u"
BY_VALUE = SecretMask([KEY, f"t = '{TOKENS['GitHub token']}'", f"password = '{HINT}'"])


@pytest.mark.parametrize(
    "quote",
    [
        KEY_LINES[1],
        f'  key += "{KEY_LINES[1]}"',
        KEY_LINES[1][10:40],
        KEY_LINES[0][-10:] + "\n" + KEY_LINES[1][:10],
        KEY_LINES[0][-20:] + "` then `" + KEY_LINES[1][:20],
        "".join(f"{char}\u200b" for char in KEY_LINES[1][:30]),
        " ".join(KEY_LINES[1][:30]),
        "\u2028".join(KEY_LINES[1][:30]),
        KEY_LINES[1][:30][::-1],
        KEY_LINES[1][::-1],
        TOKENS["GitHub token"][4:],
        TOKENS["GitHub token"][7:],
        TOKENS["GitHub token"][4:16] + "`\n`" + TOKENS["GitHub token"][16:],
        TOKENS["GitHub token"][4:].encode().hex(),
        base64.b64encode(TOKENS["GitHub token"].encode()).decode(),
        base64.b64encode(b"a" + TOKENS["GitHub token"].encode()).decode(),
        base64.b64encode(b"ab" + TOKENS["GitHub token"].encode() + b"c").decode(),
        HINT,
        f"it is {HINT[:9]}-{HINT[9:]}, which",
    ],
    ids=ascii,
)
def test_a_known_secret_is_masked_however_it_is_quoted(quote: str) -> None:
    masked = BY_VALUE(f"The value {quote} stands here")

    letters = re.sub("[^A-Za-z0-9]", "", masked)
    assert masked.startswith("The value ")
    assert masked.endswith(" stands here")
    assert "****" in masked
    assert len(letters) < len("Thevaluestandshere") + 12 + len("itiswhichkeythen")
    assert BY_VALUE(masked) == masked


@pytest.mark.parametrize(
    "text",
    [
        "An ordinary sentence, with `code` in it.",
        HINT[:-1],  # of a hint only the whole value is taken for one
        KEY_LINES[1][:11],
        "",
        "short",
    ],
)
def test_what_is_no_known_secret_stays(text: str) -> None:
    assert BY_VALUE(text) == text


def test_lines_are_kept_where_that_is_asked_for() -> None:
    text = f"a\n{KEY_LINES[0][-20:]}\n{KEY_LINES[1]}\nb"

    assert BY_VALUE(text) == "a\n****\nb"
    assert BY_VALUE(text, keep_lines=True) == "a\n****\n\nb"


def test_a_stand_in_is_no_known_value() -> None:
    mask = SecretMask(["k = 'AK" + "IAIOSFODNN7EXAMPLE'"])

    assert mask("see IOSFODNN7EXAMPLE") == "see IOSFODNN7EXAMPLE"


@pytest.mark.slow
def test_values_without_end_are_known_up_to_a_limit() -> None:
    tokens = ["gh" + "p_" + sha256(str(number).encode()).hexdigest()[:36] for number in range(4_000)]
    mask = SecretMask(tokens)

    assert mask(tokens[0][4:]) == "****"
    assert mask(tokens[-1][4:]) == tokens[-1][4:]
    assert mask(tokens[-1]) == "gh" + "p_****"


@given(
    st.integers(0, 180),
    st.integers(15, 60),
    st.text(st.characters(exclude_categories=["Lu", "Ll", "Nd"], exclude_characters=["\n"]), max_size=3),
    st.text(max_size=20),
)
def test_of_any_quote_of_a_known_secret_no_twelve_letters_are_left(
    start: int, length: int, between: str, around: str
) -> None:
    value = "".join(KEY_LINES)
    quote = value[start : start + length]
    if len(quote) >= 15:
        masked = re.sub("[^A-Za-z0-9]", "", BY_VALUE(f"{around} {between.join(quote)} {around}"))

        assert not any(value[at : at + 12] in masked for at in range(start, start + len(quote) - 11))


@pytest.mark.slow
@pytest.mark.parametrize("unit", ["q8W3e7R2", "a", "ab1", "q8W3e7R2t6"])
def test_the_search_by_value_is_linear_in_the_text(unit: str) -> None:
    mask = SecretMask([f"{PEM}\n{'q8W3e7R2' * 400}\n-----END", "password = 'q8W3e7R2q8W3e7R2q8W3e7R2!'"])
    text = unit * (LONG // len(unit))

    assert len(mask(text)) <= len(text)
