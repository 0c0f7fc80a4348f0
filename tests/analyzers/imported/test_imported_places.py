from __future__ import annotations

from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviewbot.analyzers.imported.descriptors import match_paths
from reviewbot.diff.parser.file_names import label, to_bytes

PATHS = ["src/app.py", "app.py", "src/a b.py", "lib/deep/x.py", "src/\u00fcber.py"]

parts = st.lists(st.text(alphabet="ab.-_ \u00fc", min_size=1, max_size=4), min_size=1, max_size=4)
names = parts.map("/".join).filter(lambda name: not {"", ".", ".."} & set(name.split("/")))


def where(uri: str, *paths: str) -> str | None:
    return match_paths([uri], paths or PATHS).get(uri)


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("src/app.py", "src/app.py"),
        ("./src/app.py", "src/app.py"),
        ("src/../app.py", "app.py"),
        ("src//app.py", "src/app.py"),
        ("src\\app.py", "src/app.py"),
        ("src/a%20b.py", "src/a b.py"),
        ("src/a b.py", "src/a b.py"),
        ("src/%C3%BCber.py", "src/\u00fcber.py"),
        ("file:///home/me/shop/src/app.py", "src/app.py"),
        ("file://host/home/me/shop/src/app.py", "src/app.py"),
        ("FILE:/home/me/shop/src/app.py", "src/app.py"),
        ("file:///C:/shop/src/app.py", "src/app.py"),
        ("C:\\shop\\src\\app.py", "src/app.py"),
        ("c:/shop/src/app.py", "src/app.py"),
        ("/home/me/shop/src/a%20b.py", "src/a b.py"),
        ("/src/app.py", "src/app.py"),
    ],
)
def test_a_name_in_every_form_that_programs_write(uri: str, path: str) -> None:
    assert where(uri) == path


@pytest.mark.parametrize(
    "uri",
    [
        "",
        "/",
        "..",
        "../src/app.py",
        "other.py",
        "shop/src/app.py",
        "deep/x.py",
        "SRC/APP.PY",
        "file:///home/me/shop/src/other.py",
        "file:///home/me/shop/mysrc/xapp.py",
        "https://example.org/src/app.py",
        "git:src/app.py",
        "/" + "a/" * 300 + "src/app.py",
    ],
)
def test_a_name_of_no_file_of_the_change_has_no_place(uri: str) -> None:
    assert where(uri) is None


def test_an_absolute_name_means_the_longest_path_that_it_ends_with() -> None:
    assert where("file:///home/me/shop/src/app.py", "app.py", "src/app.py") == "src/app.py"


def test_a_copy_of_a_file_in_a_folder_below_is_not_the_file() -> None:
    uris = ["file:///r/src/app.py", "file:///r/vendor/src/app.py", "file:///r/other.py"]

    assert match_paths(uris, ["src/app.py"]) == {"file:///r/src/app.py": "src/app.py"}


def test_a_whole_copy_of_the_repository_is_not_the_repository() -> None:
    names_ = ["app.py", "src/app.py", "lib/deep/x.py"]
    uris = [f"/r/build/{name}" for name in names_] + [f"/r/{name}" for name in names_]

    assert match_paths(uris, names_) == {f"/r/{name}": name for name in names_}


def test_most_names_decide_where_the_program_ran() -> None:
    uris = ["/a/lib/deep/x.py", "/home/me/shop/src/app.py", "/home/me/shop/app.py"]

    assert match_paths(uris, PATHS) == {"/home/me/shop/src/app.py": "src/app.py", "/home/me/shop/app.py": "app.py"}


def test_a_name_that_is_no_text_is_found_by_its_bytes() -> None:
    path = label(b"src/latin\xff.py")

    assert where("src/latin%FF.py", path) == path
    assert where("file:///r/src/latin%FF.py", path) == path


def test_a_name_that_was_not_encoded_is_found_as_it_stands() -> None:
    assert where("src/100%25.py", "src/100%25.py") == "src/100%25.py"
    assert where("src/100%25.py", "src/100%.py") == "src/100%.py"


@pytest.mark.slow
@given(paths=st.sets(names, min_size=1, max_size=5), root=names, other=st.text(max_size=30))
def test_every_path_is_found_below_any_folder(paths: set[str], root: str, other: str) -> None:
    uris = {f"file:///{quote(root)}/{quote(to_bytes(path))}": path for path in paths}

    assert match_paths(uris, paths) == uris
    assert {quote(path): path for path in paths} == match_paths((quote(path) for path in paths), paths)
    assert set(match_paths([other], paths).values()) <= paths


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("//src/app.py", "src/app.py"),
        ("file://src/app.py", "app.py"),
        ("C:/shop\\src\\app.py", "src/app.py"),
        ("C:\\shop/src/app.py", "src/app.py"),
        ("src/a\\b.py", None),
        ("a\\b.py", "a/b.py"),
        ("/" + "a/" * 198 + "src/app.py", "src/app.py"),
        ("/" + "a/" * 199 + "src/app.py", None),
    ],
)
def test_a_host_a_drive_and_a_backslash_count_only_where_they_are_one(uri: str, path: str | None) -> None:
    assert where(uri, "src/app.py", "app.py", "a/b.py", "src/a/b.py") == path


@pytest.mark.parametrize("name", ["src/a\\b.py", "src/note:x.py", "d/a:/x\\y.py", "a:b.py"])
def test_a_file_may_be_called_like_that(name: str) -> None:
    assert where(name, name, name.replace("\\", "/")) == name
