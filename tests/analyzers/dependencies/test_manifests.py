"""What a manifest asks for, read from its text."""

from __future__ import annotations

import pytest

from reviewbot.analyzers.dependencies.manifests import dependencies, manifest_of


def read(path: str, text: str) -> dict[str, str]:
    manifest = manifest_of(path)
    assert manifest is not None
    return {name: each.spec for name, each in dependencies(manifest, text).items()}


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("package.json", '{"dependencies": {"a": "^1"}, "devDependencies": {"b": "2"}}', {"a": "^1", "b": "2"}),
        ("Cargo.toml", '[dependencies]\na = "1"\nb = { package = "c", git = "x" }\n', {"a": "1", "c": None}),
        ("Cargo.toml", '[target."cfg(unix)".dependencies]\na = "1"\n', {"a": "1"}),
        ("pyproject.toml", '[project]\ndependencies = ["a>=1", "b[x]"]\n', {"a": ">=1", "b": ""}),
        ("pyproject.toml", '[tool.poetry.dependencies]\npython = "^3"\na = "^1"\n', {"a": "^1"}),
        ("pyproject.toml", '[dependency-groups]\ndev = ["a", {include-group = "b"}]\n', {"a": ""}),
        ("requirements/base.txt", "# all\n-r other.txt\na==1 # why\n", {"a": "==1"}),
        ("requirements.txt", "git+https://x.org/y/shop.git@main\n", {"shop": "git+https://x.org/y/shop.git@main"}),
        ("Gemfile", 'gem "a",\n  git: "https://x.org/a"\n# gem "b"\n', {"a": ', git: "https://x.org/a"'}),
        (
            "go.mod",
            "require x.org/a v1.0.0\nrequire (\n\ty.org/b/v2 v2.1.0 // indirect\n)\n",
            {"x.org/a": None, "y.org/b/v2": None},
        ),
    ],
)
def test_each_kind_of_manifest_gives_names_and_what_is_said_of_them(
    path: str, text: str, expected: dict[str, str | None]
) -> None:
    found = read(path, text)

    assert found.keys() == expected.keys()
    assert all(spec is None or found[name] == spec for name, spec in expected.items())


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("package.json", "{"),
        ("package.json", "[1]"),
        ("package.json", '{"dependencies": [1, {"a": 2}]}'),
        ("package.json", "[" * 100_000),
        ("Cargo.toml", "dependencies = 7\ntarget = 1\nworkspace = []\n"),
        ("Cargo.toml", "[[["),
        ("pyproject.toml", 'project = "x"\ndependency-groups = 1\n'),
        ("pyproject.toml", "tool = 1\n"),
        ("pyproject.toml", "[project]\ndependencies = 3\n"),
        ("pyproject.toml", "[project.optional-dependencies]\na = 3\n"),
        ("go.mod", "\0"),
    ],
)
def test_a_manifest_that_is_none_asks_for_nothing(path: str, text: str) -> None:
    assert read(path, text) == {}


def test_a_file_of_another_name_is_no_manifest() -> None:
    assert manifest_of("src/package.json.md") is None
    assert manifest_of("docs/requirements.md") is None
