"""Files that no model is shown."""

from __future__ import annotations

import pytest

from reviewbot.llm.tools.view import CREDENTIALS, PRIVATE, withheld


@pytest.mark.parametrize(
    "path",
    [
        ".env",
        "app/.env",
        "app/.ENV.production",
        ".env.local",
        ".envrc",
        "deploy/prod.env",
        "tls/server.pem",
        "tls/server.key",
        "store.p12",
        "id_rsa",
        "keys/id_ed25519.bak",
        ".npmrc",
        ".netrc",
        "_netrc",
        ".pypirc",
        ".git-credentials",
        "credentials",
        "Credentials.json",
        "gcp-credentials.json.bak",
        "secrets.yaml",
        "config/secrets.local.yml",
        "infra/prod.tfstate",
        "infra/prod.tfstate.backup",
        "infra/prod.tfvars",
        "kubeconfig",
        "ops/prod.kubeconfig",
        "service-account-prod.json",
        "client_secret_123.json",
        "home/.ssh/config",
        "home/.aws/config",
        "home/.kube/config",
        "home/.docker/config.json",
    ],
)
def test_a_file_that_usually_holds_credentials_is_withheld(path: str) -> None:
    assert withheld(path) == CREDENTIALS


@pytest.mark.parametrize(
    "path",
    [
        "app/credentials.py",
        "src/secrets.ts",
        "environment.py",
        ".env.example",
        "app/.env.sample",
        "id_rsa.pub",
        "keys.py",
        "docs/pem.md",
        "config.json",
        "kube/config",
        "monkey.py",
        "secretary.json",
        "README",
    ],
)
def test_code_and_samples_of_credentials_are_shown(path: str) -> None:
    assert withheld(path) is None


def test_private_globs_are_withheld_below_any_folder_they_name() -> None:
    private = ("legal/**", "src/**/*.secret.py")

    assert withheld("legal/a/b.txt", private) == PRIVATE
    assert withheld("src/x.secret.py", private) == PRIVATE
    assert withheld("src/a/b/x.secret.py", private) == PRIVATE
    assert withheld("src/x.py", private) is None


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("./" * 200_000, None),
        (".env." * 80_000, CREDENTIALS),
        ("secret.json" * 36_000 + "x", None),
        ("a." * 9**6, None),
    ],
)
def test_a_hostile_name_is_decided(name: str, reason: str | None) -> None:
    # An expression that goes back to each character would take hours, which pytest's limit of a test ends.
    assert withheld(name) == reason
