"""The distribution as a user meets it: built, installed into an empty environment, run from another folder."""

from __future__ import annotations

import json
import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent

CHANGE = """\
diff --git a/app.py b/app.py
new file mode 100644
index 0000000..1111111
--- /dev/null
+++ b/app.py
@@ -0,0 +1,2 @@
+import flask
+text = open(flask.request.args["name"]).read()
"""


def call(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run([str(word) for word in command], cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def environment(folder: Path, *install: str | Path) -> Path:
    """A new environment with one thing installed; gives its folder of programs."""
    venv.create(folder, with_pip=True)
    programs = folder / "bin"
    call(programs / "python", "-m", "pip", "install", "--quiet", *install, cwd=folder)
    return programs


def built(kind: str, into: Path) -> Path:
    call(sys.executable, "-m", "build", f"--{kind}", "--outdir", into, ROOT, cwd=into)
    [made] = into.iterdir()
    return made


@pytest.mark.packaging
@pytest.mark.parametrize("how", ["wheel", "sdist", "editable"])
def test_it_installs_and_reviews_from_another_folder(tmp_path: Path, how: str) -> None:
    outside, made = tmp_path / "outside", tmp_path / "made"
    outside.mkdir()
    made.mkdir()
    what: tuple[str | Path, ...] = ("-e", ROOT) if how == "editable" else (built(how, made),)

    programs = environment(tmp_path / "venv", *what)
    (outside / "change.diff").write_text(CHANGE)
    report = json.loads(
        call(programs / "reviewbot", "review", "change.diff", "--format", "json", "--no-cache", cwd=outside)
    )
    orders = ROOT / "examples/orders"
    example = (programs / "reviewbot", "review", orders / "change.diff", "--repo", orders / "base", "--no-cache")
    shown = call(*example, cwd=outside)
    cards = json.loads(call(programs / "reviewbot", "workers", "--format", "json", cwd=outside))
    [packages] = (tmp_path / "venv/lib").glob("python*/site-packages")

    assert [(f["rule"], f["line"]) for f in report["findings"]] == [("path-external", 2)]
    assert shown.startswith("6 issues found; 13 of 18 files reviewed")
    assert {card["name"] for card in cards} == {path.stem for path in (ROOT / "workers").glob("*.toml")}
    assert not [name for name in ("workers", "prompts", "tests") if (packages / name).exists()]
