from __future__ import annotations

from pathlib import Path

from reviewbot.config.source import repository_settings, repository_workers, settings_of


class RecordedSide:
    """A base side that is a dictionary, and remembers what was asked."""

    def __init__(self, files: dict[str, str | None]) -> None:
        self.files = files
        self.asked: list[str] = []

    def base_file(self, path: str) -> str | None:
        self.asked.append(path)
        return self.files.get(path)

    def base_listing(self, folder: str) -> tuple[str, ...]:
        return tuple(sorted(path for path in self.files if path.rpartition("/")[0] == folder))


def test_the_settings_file_is_the_one_at_the_top() -> None:
    side = RecordedSide({".reviewbot.toml": "max_findings = 1", "sub/.reviewbot.toml": "max_findings = 2"})

    assert repository_settings(side) == "max_findings = 1"
    assert side.asked == [".reviewbot.toml"]


def test_without_a_settings_file_there_is_no_text() -> None:
    assert repository_settings(RecordedSide({})) is None


def test_cards_and_prompts_are_named_below_their_folder_and_nothing_else_is_read() -> None:
    side = RecordedSide(
        {
            ".reviewbot/workers/license.toml": "card",
            ".reviewbot/prompts/license.md": "prompt",
            ".reviewbot/prompts/binary.md": None,
            ".reviewbot/README.md": "other",
            ".reviewbot/workers/deep/x.toml": "deep",
            "workers/x.toml": "elsewhere",
        }
    )

    assert repository_workers(side) == {"workers/license.toml": "card", "prompts/license.md": "prompt"}
    assert side.asked == [
        ".reviewbot/workers/license.toml",
        ".reviewbot/prompts/binary.md",
        ".reviewbot/prompts/license.md",
    ]


def test_a_runs_settings_come_from_the_base_side_the_users_file_the_environment_and_the_flags(tmp_path: Path) -> None:
    (tmp_path / "reviewbot").mkdir()
    (tmp_path / "reviewbot" / "config.toml").write_text("max_findings = 2\nmin_confidence = 2\n")
    (tmp_path / "reviewbot" / "config.toml").chmod(0o600)
    base = RecordedSide({".reviewbot.toml": "max_findings = 1\ndeadline_s = 1\n"})

    settings = settings_of(base, {"XDG_CONFIG_HOME": str(tmp_path)}, {"min_confidence": 3})

    assert (settings.deadline_s, settings.max_findings, settings.min_confidence) == (1, 2, 3)
    assert settings.origin["max_findings"] == f"{tmp_path}/reviewbot/config.toml:1"


def test_without_a_base_side_and_a_users_file_the_defaults_hold() -> None:
    assert set(settings_of(None, {}, {}).origin.values()) == {"default"}
