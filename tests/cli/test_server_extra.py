from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.make import one_fast

WITHOUT = """
import sys
sys.modules.update(dict.fromkeys(("dbos", "sqlalchemy", "flask", "waitress")))
from reviewbot.cli.main import main
sys.exit(main(sys.argv[1:]))
"""
"""What an installation without the extra looks like from inside."""


@pytest.mark.parametrize("words", one_fast([["worker"], ["serve"], ["serve", "--no-worker"]]), ids=" ".join)
def test_what_the_extra_is_for_says_so_without_it(tmp_path: Path, words: list[str]) -> None:
    environ = {"REVIEWBOT_STATE_DIR": str(tmp_path), "HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT, *words], env=environ, capture_output=True, text=True, check=False
    )

    assert (done.returncode, done.stdout) == (2, "")
    assert (
        f"reviewbot: {words[0]} needs the extra 'server', which was not installed: pip install '.[server]'"
        in done.stderr
    )
