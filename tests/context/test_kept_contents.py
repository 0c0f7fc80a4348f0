"""Files that are read once, as many as fit."""

from __future__ import annotations

from reviewbot.context.kept_contents import KeptContents


def test_a_file_is_read_once_while_there_is_room() -> None:
    read: list[str] = []

    def recorded(path: str) -> bytes | None:
        read.append(path)
        return None if path == "no" else path.encode() * 10

    kept = KeptContents(recorded, limit=25)
    for _ in range(2):
        assert dict(kept.of(["a", "no", "b", "c"])) == {"a": b"a" * 10, "b": b"b" * 10, "c": b"c" * 10}

    assert read == ["a", "no", "b", "c", "no", "c"]
