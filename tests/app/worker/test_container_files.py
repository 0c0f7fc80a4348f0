"""What the Dockerfile and the compose file promise, as far as their text tells. No image is built here."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

ROOT = Path(__file__).parents[3]
DOCKERFILE = (ROOT / "Dockerfile").read_text("utf-8")


@pytest.fixture(scope="module")
def services() -> dict[str, Any]:
    found: dict[str, Any] = YAML(typ="safe").load((ROOT / "compose.yaml").read_text("utf-8"))["services"]
    return found


def test_the_image_runs_as_nobody_in_particular_and_stops_by_the_signal_that_we_know() -> None:
    last = DOCKERFILE.rpartition("\nFROM ")[2]

    assert re.search(r"^USER 10001:10001$", last, re.MULTILINE)
    assert "STOPSIGNAL SIGTERM" in last
    assert 'ENTRYPOINT ["reviewbot"]' in last


def test_the_image_has_what_the_build_copies_and_nothing_else() -> None:
    ignored = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    copied = re.findall(r"^COPY (?!--from)(.*) \S+$", DOCKERFILE, re.MULTILINE)

    assert ignored[0] == "*"
    assert {name for line in copied for name in line.split()} == {
        line.removeprefix("!") for line in ignored if line[0] == "!"
    }


@pytest.mark.parametrize("name", ["web", "worker"])
def test_nothing_of_ours_can_write_its_root_or_gain_rights(services: dict[str, Any], name: str) -> None:
    service = services[name]

    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert [place.partition(":")[0] for place in service["tmpfs"]] == ["/tmp"]


def test_what_the_setup_page_stores_survives_and_is_there_for_the_workers(services: dict[str, Any]) -> None:
    volumes = YAML(typ="safe").load((ROOT / "compose.yaml").read_text("utf-8"))["volumes"]

    assert services["web"]["volumes"] == services["worker"]["volumes"] == ["state:/state"]
    assert "state" in volumes
    assert "REVIEWBOT_STATE_DIR=/state" in DOCKERFILE
    assert "--mode=0700 --owner=10001 --group=10001 /state" in DOCKERFILE


def test_two_workers_share_one_postgres_and_have_time_to_stop(services: dict[str, Any]) -> None:
    worker = services["worker"]

    assert (worker["deploy"]["replicas"], worker["command"]) == (2, ["worker"])
    assert worker["environment"]["REVIEWBOT_DATABASE_URL"].endswith("@postgres/reviewbot")
    assert int(worker["stop_grace_period"].removesuffix("s")) > 25
    assert services["web"]["command"][:2] == ["serve", "--no-worker"]


def test_no_password_stands_in_the_file(services: dict[str, Any]) -> None:
    assert services["postgres"]["environment"]["POSTGRES_PASSWORD"].startswith("${POSTGRES_PASSWORD:?")
