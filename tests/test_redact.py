"""Secrets in text. Every token here is put together at run time, so that no scanner takes this file for a leak."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.redact import NAMED, PRIVATE_KEY, find_secrets, redact

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
    assert 95 <= secret.confidence <= 99
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
