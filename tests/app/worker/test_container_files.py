"""What the Dockerfile and the compose file promise, as far as their text tells. No image is built here."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from reviewbot.app.web.parts import MAX_BODY_BYTES

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


def test_a_backup_is_a_dump_of_the_apps_database_that_is_made_when_it_is_asked_for(services: dict[str, Any]) -> None:
    backup = services["backup"]

    assert backup["image"] == services["postgres"]["image"]
    assert backup["profiles"] == ["backup"]
    assert backup["command"][0].split()[1] == "pg_dump"
    assert backup["command"][0].endswith(" reviewbot")


@pytest.mark.parametrize("name", ["reviewbot", "reviewbot-worker"])
def test_a_unit_is_one_that_systemd_reads_and_gives_runs_time_to_stop(name: str, tmp_path: Path) -> None:
    text = (ROOT / f"examples/deploy/{name}.service").read_text("utf-8")
    seconds = re.search(r"^TimeoutStopSec=(\d+)$", text, re.MULTILINE)

    assert seconds is not None
    assert int(seconds[1]) > 25
    assert not re.search("^RestrictNamespaces", text, re.MULTILINE)
    if (analyze := shutil.which("systemd-analyze")) is None:
        pytest.skip("there is no systemd-analyze here")
    unit = tmp_path / f"{name}.service"
    unit.write_text(text.replace("/opt/reviewbot/bin/reviewbot", sys.executable))
    done = subprocess.run([analyze, "verify", str(unit)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_proxy_hands_over_who_asks_and_takes_the_largest_delivery() -> None:
    text = (ROOT / "examples/deploy/nginx.conf").read_text("utf-8")
    room = re.search(r"client_max_body_size (\d+)m;", text)

    assert {"Host $host;", "X-Forwarded-For $proxy_add_x_forwarded_for;"} <= {
        line.strip().removeprefix("proxy_set_header ") for line in text.splitlines()
    }
    assert room is not None
    assert int(room[1]) * 1024 * 1024 > MAX_BODY_BYTES
