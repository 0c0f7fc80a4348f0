"""The App's client id and secret, with which people sign in to the pages."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from reviewbot.app.runtime.credentials import (
    FILE_NAME,
    Credentials,
    as_variables,
    credentials_from,
    read_credentials,
    store_credentials,
)
from reviewbot.domain.errors import ConfigError
from tests.webhooks import CREDENTIALS, KEY, SECRET

SIGN_IN = {"REVIEWBOT_CLIENT_ID": "Iv1.0a", "REVIEWBOT_CLIENT_SECRET": "the-client-secret"}
ENVIRON = {"REVIEWBOT_APP_ID": "77", "REVIEWBOT_PRIVATE_KEY": KEY, "REVIEWBOT_WEBHOOK_SECRET": SECRET}


def test_they_come_from_the_environment_or_a_file_of_a_secret(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("of-a-file\n")
    by_file = {"REVIEWBOT_CLIENT_ID": "Iv1.0a", "REVIEWBOT_CLIENT_SECRET_FILE": str(tmp_path / "secret")}

    for given, secret in ((SIGN_IN, "the-client-secret"), (by_file, "of-a-file")):
        found = credentials_from({**ENVIRON, **given}, tmp_path)
        assert found is not None
        assert (found.client_id, found.client_secret) == ("Iv1.0a", secret)


def test_they_are_stored_with_the_app_and_can_be_added_to_one_that_was_stored_before(tmp_path: Path) -> None:
    path = tmp_path / FILE_NAME
    with_sign_in = replace(CREDENTIALS, client_id="Iv1.0a", client_secret="stored-secret")

    store_credentials(path, with_sign_in)
    assert read_credentials(path) == with_sign_in
    store_credentials(path, CREDENTIALS)
    found = credentials_from(SIGN_IN, tmp_path)

    assert found == replace(CREDENTIALS, client_id="Iv1.0a", client_secret="the-client-secret")


@pytest.mark.parametrize(
    ("client_id", "secret"), [("Iv1.0a", ""), ("", "the-client-secret"), ("a b", "x" * 20), ("Iv1\r\nX: y", "x" * 20)]
)
def test_half_of_them_is_refused_without_being_quoted(client_id: str, secret: str) -> None:
    with pytest.raises(ConfigError, match="REVIEWBOT_CLIENT_ID") as caught:
        replace(CREDENTIALS, client_id=client_id, client_secret=secret)

    assert not secret or secret not in str(caught.value)


def test_the_secret_is_masked_in_logs_and_printed_for_a_secret_store_alone() -> None:
    known: Credentials = replace(CREDENTIALS, client_id="Iv1.0a", client_secret="the-client-secret")

    assert "the-client-secret" not in repr(known)
    assert "the-client-secret" in known.secrets()
    assert 'REVIEWBOT_CLIENT_SECRET="the-client-secret"\n' in as_variables(known)
    assert "CLIENT" not in as_variables(CREDENTIALS)
