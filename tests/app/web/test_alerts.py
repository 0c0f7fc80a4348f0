"""The alert rules that are shipped: Prometheus' own program reads them where it is, and they name what we export."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from reviewbot.app.store.inbox.counters import COUNTERS
from tests.webhooks import service

yaml = pytest.importorskip("yaml")

RULES = Path(__file__).parents[3] / "reviewbot" / "data" / "alerts" / "reviewbot.rules.yml"
STORY = Path(__file__).with_name("alerts_story.yml")
PROMTOOL = shutil.which("promtool")


def rules() -> list[dict[str, Any]]:
    loaded = yaml.safe_load(RULES.read_text("utf-8"))
    found: list[dict[str, Any]] = loaded["groups"][0]["rules"]
    return found


def test_each_alert_says_what_it_means_and_how_bad_it_is() -> None:
    alerts = [rule for rule in rules() if "alert" in rule]

    assert {"ReviewbotWorkerTokens", "ReviewbotQueueAge", "ReviewbotGapShare"} <= {rule["alert"] for rule in alerts}
    for rule in alerts:
        assert rule["labels"]["severity"] in {"warning", "critical"}
        assert rule["annotations"].keys() == {"summary", "description"}
        assert rule["for"]


def test_the_rules_ask_for_metrics_that_we_export(tmp_path: Path) -> None:
    target = service(tmp_path)
    exported = set(re.findall(r"# TYPE (\w+)", target.get("/metrics").text)) | {
        f"reviewbot_{name}_total" for name in COUNTERS
    }
    target.inbox.close()
    recorded = {rule["record"] for rule in rules() if "record" in rule}
    asked = set(re.findall(r"reviewbot[\w:]+", " ".join(rule["expr"] for rule in rules())))

    assert asked - recorded <= exported
    assert recorded <= asked


@pytest.mark.slow
@pytest.mark.skipif(PROMTOOL is None, reason="promtool is not installed")
def test_prometheus_reads_them_and_they_fire_when_they_should() -> None:
    assert PROMTOOL is not None
    subprocess.run([PROMTOOL, "check", "rules", str(RULES)], check=True, capture_output=True)
    subprocess.run([PROMTOOL, "test", "rules", STORY.name], cwd=STORY.parent, check=True, capture_output=True)
