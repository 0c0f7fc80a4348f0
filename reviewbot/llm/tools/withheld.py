"""Files that no model is shown: those that usually hold credentials, and those that the repository keeps private."""

from __future__ import annotations

import re
from collections.abc import Sequence

from reviewbot.config.globs import matches_any

CREDENTIALS = "files like this one usually hold credentials, so that no model is shown them"
PRIVATE = "the repository's settings keep this file private"

_DATA = r"(?:\.(?:json|ya?ml|ini|toml|cfg|conf|env|properties|xml|csv|txt|enc|bak|db|gpg|local))*"
"""Endings of data. A file such as `credentials.py` is a program, and is read like any other."""

_NAME = re.compile(
    "|".join(
        (
            r"\.env(?:rc)?",
            r"\.env\.(?!(?:example|sample|template|dist|defaults?|schema)$).*",
            r".*\.env",
            r".*\.(?:pem|key|p12|pfx|pkcs12|jks|keystore|kdbx?|ppk|ovpn|tfstate|tfvars|kubeconfig)",
            r".*\.tfstate\.backup",
            r"id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?(?:[._-].*)?(?<!\.pub)",
            r"\.(?:npmrc|pypirc|my\.cnf|htpasswd|dockercfg|s3cfg|boto|vault-token|git-credentials|terraformrc)",
            r"[._]netrc|\.?pgpass(?:\.conf)?|kubeconfig",
            r"(?:\.|(?:aws|google|gcp|application[._-]default)[._-])?credentials?" + _DATA,
            r"\.?secrets?" + _DATA,
            r"(?:service[._-]?account|client[._-]secret).*\.json",
        )
    ),
    re.IGNORECASE,
)
_FOLDERS = frozenset({".ssh", ".gnupg", ".aws"})
_FILES = (".kube/config", ".docker/config.json")


def withheld(path: str, private: Sequence[str] = ()) -> str | None:
    """The reason for which a model is not shown a file; None where it may be shown.

    Args:
        path: a label as in `FileChange.path`.
        private: globs of the base side's settings.
    """
    if private and matches_any(tuple(private), path):
        return PRIVATE
    *folders, name = path.lower().split("/")
    inside = not _FOLDERS.isdisjoint(folders) or "/".join([*folders[-1:], name]) in _FILES
    return CREDENTIALS if inside or _NAME.fullmatch(name) else None
