"""The JSON that test tools judge."""

from __future__ import annotations

import json

from reviewbot.diff.parser.protocol import answer

DIFF = b'--- "a/\\377.py"\n+++ "b/\\377.py"\n@@ -1 +1 @@\n-a\n+b\n'


def test_names_are_exact_and_printable_as_json() -> None:
    found = answer(DIFF, None)
    assert found == {
        "files": [
            {
                "path": "\udcff.py",
                "old_path": None,
                "status": "modified",
                "added": 1,
                "removed": 1,
                "state": "ok",
                "reason": "",
            }
        ],
        "error": None,
    }
    assert json.loads(json.dumps(found)) == found


def test_a_rename_tells_its_old_name() -> None:
    found = answer(b"diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n", None)
    assert json.loads(json.dumps(found))["files"][0]["old_path"] == "x"


def test_a_fragment_needs_its_name() -> None:
    fragment = b"@@ -1 +1 @@\n-a\n+b"
    assert json.loads(json.dumps(answer(fragment, "a.py")))["files"][0]["state"] == "ok"
    assert json.loads(json.dumps(answer(fragment, None)))["files"][0]["state"] == "malformed"


def test_what_cannot_be_read_is_an_error_and_no_file() -> None:
    found = answer(b"words", None)
    assert found["files"] == []
    assert "no unified diff" in str(found["error"])
