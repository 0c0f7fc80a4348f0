"""Map the name of a file to its language. The content is never looked at: tools decide by name, too."""

from __future__ import annotations

import re
from typing import Final

from reviewbot.domain.contracts import Kind

UNKNOWN: Final = "text"
"""A file whose name is unknown. It counts as code: what is unknown is looked at rather than skipped."""

_SUFFIXES: Final[dict[str, str]] = {
    suffix: language
    for language, suffixes in {
        "python": "py pyi pyw",
        "cython": "pyx pxd pxi",
        "notebook": "ipynb",
        "javascript": "js mjs cjs",
        "jsx": "jsx",
        "typescript": "ts mts cts",
        "tsx": "tsx",
        "vue": "vue",
        "svelte": "svelte",
        "mdx": "mdx",
        "java": "java",
        "kotlin": "kt kts",
        "scala": "scala sc",
        "groovy": "groovy gradle",
        "clojure": "clj cljs cljc",
        "go": "go",
        "rust": "rs",
        "c": "c h",
        "cpp": "cc cpp cxx c++ hh hpp hxx h++ ipp inl",
        "objectivec": "m mm",
        "csharp": "cs csx",
        "fsharp": "fs fsx fsi",
        "visualbasic": "vb",
        "swift": "swift",
        "dart": "dart",
        "ruby": "rb rake gemspec",
        "php": "php phtml",
        "perl": "pl pm t",
        "lua": "lua",
        "r": "r",
        "julia": "jl",
        "haskell": "hs lhs",
        "elixir": "ex exs",
        "erlang": "erl hrl",
        "ocaml": "ml mli",
        "zig": "zig",
        "nim": "nim",
        "solidity": "sol",
        "sql": "sql",
        "shell": "sh bash zsh ksh fish bats",
        "powershell": "ps1 psm1 psd1",
        "batch": "bat cmd",
        "assembly": "asm s",
        "html": "html htm xhtml jinja jinja2 j2 erb ejs hbs mustache",
        "css": "css scss sass less",
        "graphql": "graphql gql",
        "protobuf": "proto",
        "cmake": "cmake",
        "make": "mk mak",
        "terraform": "tf tfvars hcl",
        "nix": "nix",
        "json": "json jsonc json5 jsonl webmanifest",
        "yaml": "yaml yml",
        "toml": "toml",
        "xml": "xml xsd xsl xslt svg csproj fsproj vbproj props targets plist",
        "ini": "ini cfg conf properties env editorconfig",
        "lockfile": "lock",
        "csv": "csv tsv",
        "markdown": "md markdown",
        "restructuredtext": "rst",
        "asciidoc": "adoc asciidoc",
        "tex": "tex bib",
        "plaintext": "txt po pot",
    }.items()
    for suffix in suffixes.split()
}

_NAMES: Final[dict[str, str]] = {
    name: language
    for language, names in {
        "make": "makefile gnumakefile",
        "docker": "dockerfile containerfile",
        "cmake": "cmakelists.txt",
        "ruby": "rakefile gemfile guardfile vagrantfile",
        "groovy": "jenkinsfile",
        "starlark": "build build.bazel workspace workspace.bazel",
        "just": "justfile",
        "lockfile": "package-lock.json npm-shrinkwrap.json pnpm-lock.yaml go.sum",
        "gomod": "go.mod go.work",
        "requirements": "requirements.txt requirements-dev.txt dev-requirements.txt constraints.txt",
        "ini": ".gitattributes .gitmodules .gitconfig .npmrc .pypirc .flake8 .pylintrc .coveragerc .env .editorconfig",
        "ignorefile": ".gitignore .dockerignore .npmignore .prettierignore .eslintignore",
        "codeowners": "codeowners",
        "json": ".babelrc .eslintrc .prettierrc .swcrc",
        "shell": ".bashrc .bash_profile .profile .zshrc .envrc",
        "plaintext": "license licence copying notice authors contributors changelog changes readme news todo",
    }.items()
    for name in names.split()
}

_REQUIREMENTS: Final = re.compile(
    r"(?:^|/)(?:[^/]{0,100}(?:requirements|constraints)[^/]{0,100}|requirements/[^/]{1,100})\.(?:txt|in)$"
)
"""Lists of packages to install; otherwise a name that ends like theirs is that of prose."""

_CONFIG: Final = frozenset(
    ["json", "yaml", "toml", "xml", "ini", "lockfile", "csv", "gomod", "requirements", "ignorefile", "codeowners"]
)
_PROSE: Final = frozenset(["markdown", "restructuredtext", "asciidoc", "tex", "plaintext"])


def language_of(path: str) -> str:
    """Name the language of a file in lower case; "text" where its name is unknown."""
    name = path.rsplit("/", 1)[-1].lower()
    known = _NAMES.get(name)
    if known is not None:
        return known
    if _REQUIREMENTS.search(path.lower()):
        return "requirements"
    stem, dot, suffix = name.rpartition(".")
    if not dot:
        return UNKNOWN
    if suffix in _SUFFIXES:
        return _SUFFIXES[suffix]
    # "Dockerfile.dev" and "Makefile.am" are of the kind that their first part says; "README.coffee" may be anything.
    language = _NAMES.get(stem, UNKNOWN)
    return UNKNOWN if language in _PROSE else language


def kind_of(language: str) -> Kind:
    """Tell what a language is for: code to run, configuration to obey, prose to read."""
    if language in _PROSE:
        return "prose"
    return "config" if language in _CONFIG else "code"
