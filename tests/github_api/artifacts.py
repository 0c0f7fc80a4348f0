"""Artifacts of workflow runs, and the storage host that their archives are redirected to."""

from __future__ import annotations

from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Self

from tests.github_api.routes import Call, Refused, Reply, not_found, route
from tests.github_api.state import Artifact, Json, Repository

_ACTIONS = ("actions", "read")


@route("GET", "/repos/{owner}/{repo}/actions/runs/{run_id}/artifacts", needs=_ACTIONS)
def artifacts_of_run(call: Call) -> Reply:
    """https://docs.github.com/en/rest/actions/artifacts#list-workflow-run-artifacts."""
    name = call.query.get("name")
    found = [
        each
        for each in call.repository().artifacts
        if each.listed_for == int(call.parts["run_id"]) and name in {None, each.name}
    ]
    page = call.page([_json(each) for each in found])
    return Reply(200, {"total_count": len(found), "artifacts": page.body}, page.headers)


@route("GET", "/repos/{owner}/{repo}/actions/artifacts/{artifact_id}/{archive_format}", needs=_ACTIONS)
def archive(call: Call) -> Reply:
    """https://docs.github.com/en/rest/actions/artifacts#download-an-artifact: a redirect, for a minute; 410 later."""
    found = next(
        (each for each in call.repository().artifacts if each.artifact_id == int(call.parts["artifact_id"])), None
    )
    if found is None:
        raise Refused(not_found())
    if found.expired:
        raise Refused(Reply(410, {"message": "Artifact has expired"}))
    return Reply(302, None, {"location": found.address})


def add_artifact(
    repository: Repository, artifact_id: int, run_id: int, name: str, address: str, size: int = 1_000
) -> Artifact:
    """An artifact of a run; its archive is at `address`."""
    made = Artifact(artifact_id, run_id, name, address, size, listed_for=run_id)
    repository.artifacts.append(made)
    return made


def _json(found: Artifact) -> Json:
    return {
        "id": found.artifact_id,
        "node_id": "MDg6QXJ0aWZhY3Q=",
        "name": found.name,
        "size_in_bytes": found.size,
        "url": f"https://api.github.example/artifacts/{found.artifact_id}",
        "archive_download_url": "https://attacker.example.invalid/zip",
        "expired": found.expired,
        "workflow_run": {"id": found.run_id, "head_sha": "0" * 40},
    }


class Storage:
    """The storage host: an archive by its path. What is sent to it is recorded."""

    def __init__(self) -> None:
        self.blobs: dict[str, tuple[int, Mapping[str, str], bytes]] = {}
        self.asked: list[tuple[str, dict[str, str]]] = []
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.storage = self
        self._thread = Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    def put(self, name: str, data: bytes, status: int = 200, headers: Mapping[str, str] | None = None) -> str:
        """Keep an answer, and give its address."""
        self.blobs[f"/{name}?sig=short-lived"] = (status, headers or {}, data)
        return f"http://127.0.0.1:{self._server.server_port}/{name}?sig=short-lived"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    storage: Storage


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_GET(self) -> None:
        """Answer what a test has put there."""
        storage = self.server.storage
        storage.asked.append((self.path, {name.lower(): value for name, value in self.headers.items()}))
        status, headers, data = storage.blobs.get(self.path, (404, {}, b""))
        self.send_response(status)
        for name, value in {"content-length": str(len(data)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Say nothing."""
