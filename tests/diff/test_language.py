"""Languages by name, and what they are for."""

from __future__ import annotations

import pytest

from reviewbot.diff.language import kind_of, language_of


@pytest.mark.parametrize(
    ("path", "language", "kind"),
    [
        ("a.py", "python", "code"),
        ("src/Deep/FILE.PY", "python", "code"),
        ("a.pyi", "python", "code"),
        ("web/app.tsx", "tsx", "code"),
        ("main.go", "go", "code"),
        ("x.h", "c", "code"),
        ("deploy.sh", "shell", "code"),
        ("Dockerfile", "docker", "code"),
        ("Dockerfile.dev", "docker", "code"),
        ("Makefile", "make", "code"),
        ("main.tf", "terraform", "code"),
        (".github/workflows/ci.yml", "workflow", "code"),
        (".github/dependabot.yml", "yaml", "config"),
        ("pyproject.toml", "toml", "config"),
        ("package-lock.json", "lockfile", "config"),
        ("uv.lock", "lockfile", "config"),
        ("requirements.txt", "requirements", "config"),
        ("ci/requirements-prod.txt", "requirements", "config"),
        ("test-requirements.in", "requirements", "config"),
        ("requirements/base.txt", "requirements", "config"),
        ("docs/requirements.md", "markdown", "prose"),
        ("notes/base.txt", "plaintext", "prose"),
        ("page.mdx", "mdx", "code"),
        ("views/show.blade.php", "html", "code"),
        ("show.blade.php.php", "php", "code"),
        ("README.coffee", "text", "code"),
        ("LICENSE.awk", "text", "code"),
        (".gitignore", "ignorefile", "config"),
        (".gitattributes", "ini", "config"),
        ("go.mod", "gomod", "config"),
        ("README.md", "markdown", "prose"),
        ("README", "plaintext", "prose"),
        ("docs/index.rst", "restructuredtext", "prose"),
        ("notes.txt", "plaintext", "prose"),
        ("unknown.zzz", "text", "code"),
        ("bin/tool", "text", "code"),
        ("", "text", "code"),
        ("a.py/b", "text", "code"),
    ],
)
def test_a_name_tells_the_language_and_its_kind(path: str, language: str, kind: str) -> None:
    assert (language_of(path), kind_of(language)) == (language, kind)


def test_an_unknown_language_counts_as_code() -> None:
    assert kind_of("klingon") == "code"
