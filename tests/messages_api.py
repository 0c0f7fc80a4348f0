"""A Messages API on loopback: answers as scripted, keeps what it was asked, and judges every request.

A request is held against the JSON Schema that follows from the SDK's own types, with all objects closed, and against a
few rules of the real API that types cannot tell. What does not fit is answered with a 400 and is a problem, which
`check` raises; the fixture `messages_api` does so at the end of a test.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Condition, Event, Thread
from typing import TYPE_CHECKING, Any, Literal, Self

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator

Json = dict[str, Any]

PATIENCE_S = 120.0
"""How long a held answer, or a test that waits for requests, waits at most."""

Ending = Literal["whole", "truncated", "broken", "dropped"]
"""How an answer ends: as it should; without its last events; with the connection broken amid them; before any byte."""


@dataclass(frozen=True)
class Scripted:
    """One answer. `content` are its blocks; `body` takes the place of everything where it is set."""

    content: tuple[Json, ...] = ()
    stop: str | None = "end_turn"
    usage: Mapping[str, int] = field(default_factory=dict)
    model: str | None = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    ending: Ending = "whole"
    extra: tuple[tuple[str, str], ...] = ()
    """Events, each a name and its data, that are sent before the end of a stream."""
    gate: Event | None = None
    """Nothing is sent before this is set."""


def said(*texts: str, **fields: Any) -> Scripted:
    """An answer in words, one block each."""
    return Scripted(tuple({"type": "text", "text": text} for text in texts), **fields)


def answered(value: object, **fields: Any) -> Scripted:
    """An answer in JSON."""
    return said(json.dumps(value), **fields)


def called(*calls: tuple[str, object], **fields: Any) -> Scripted:
    """Calls of tools by name and input; an input that is a text is sent as it stands."""
    blocks = tuple(
        {"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": given}
        for number, (name, given) in enumerate(calls, 1)
    )
    return Scripted(blocks, **{"stop": "tool_use", **fields})


def failed(status: int, kind: str = "api_error", message: str = "it failed", **headers: str) -> Scripted:
    """An error as the API has them; underscores in the names of headers are hyphens."""
    body = {"type": "error", "error": {"type": kind, "message": message}}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Scripted(status=status, headers=named, body=json.dumps(body).encode())


@dataclass(frozen=True)
class Asked:
    """One request as it came in; names of headers are in lower case."""

    path: str
    headers: Mapping[str, str]
    body: Json
    sent: bytes = b""
    """The body, byte for byte."""


class MessagesApi:
    """The server; a context manager. Answers come from the queue (`script`), and after it from `otherwise`."""

    def __init__(self, otherwise: Callable[[Json], Scripted] | None = None) -> None:
        self.asked: list[Asked] = []
        self.problems: list[str] = []
        self.otherwise = otherwise
        self._queue: deque[Scripted] = deque()
        self._changed = Condition()
        self._server = _Server(self)
        self._thread = Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    @property
    def url(self) -> str:
        """Where to send requests."""
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def bodies(self) -> list[Json]:
        """What was asked."""
        return [each.body for each in self.asked]

    def script(self, *answers: Scripted) -> None:
        """Queue answers for the requests to come."""
        self._queue.extend(answers)

    def wait_for(self, count: int) -> None:
        """Block until so many requests have come in."""
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.asked) >= count, PATIENCE_S), "the requests did not come"

    def check(self) -> None:
        """Fail where a request was not as the API takes them."""
        assert not self.problems, "\n".join(self.problems)

    def take(self, asked: Asked) -> Scripted:
        """The answer to a request, which is judged first."""
        with self._changed:
            self.asked.append(asked)
            self._changed.notify_all()
            if problems := list(problems_of(_as_own(asked))):
                self.problems.extend(problems)
                return failed(400, "invalid_request_error", problems[0])
            if self._queue:
                return self._queue.popleft()
        if self.otherwise is None:
            self.problems.append("a request came for which no answer is scripted")
            return failed(400, "invalid_request_error")
        return self.otherwise(asked.body)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, api: MessagesApi) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.api = api


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_POST(self) -> None:
        sent = self.rfile.read(int(self.headers["content-length"]))
        body = json.loads(sent)
        headers = {name.lower(): value for name, value in self.headers.items()}
        answer = self.server.api.take(Asked(self.path, headers, body, sent))
        self.close_connection = True
        if answer.gate is not None:
            answer.gate.wait(PATIENCE_S)
        if answer.ending == "dropped":
            return
        try:
            if body.get("stream") and answer.body is None:
                self._stream(answer, body)
            else:
                self._send(answer, body)
        except ConnectionError:
            return  # whoever asked has gone away, as clients with a deadline do

    def _send(self, answer: Scripted, body: Json) -> None:
        data = json.dumps(_message(answer, body)).encode() if answer.body is None else answer.body
        self._head(answer, {"content-type": "application/json", "content-length": str(len(data))})
        self.wfile.write(data)

    def _stream(self, answer: Scripted, body: Json) -> None:
        self._head(answer, {"content-type": "text/event-stream", "transfer-encoding": "chunked"})
        for name, text in events_of(answer, body):
            data = f"event: {name}\ndata: {text}\n\n".encode()
            self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
            self.wfile.flush()
        if answer.ending != "broken":
            self.wfile.write(b"0\r\n\r\n")

    def _head(self, answer: Scripted, headers: Mapping[str, str]) -> None:
        self.send_response(answer.status)
        for name, value in {**headers, **answer.headers, "connection": "close"}.items():
            self.send_header(name, value)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Tests are quiet."""


_GROWING = {
    "text": ("text", "text_delta", "text"),
    "tool_use": ("input", "input_json_delta", "partial_json"),
    "thinking": ("thinking", "thinking_delta", "thinking"),
}
"""By kind of block: what of it comes in pieces, and how a piece and what it holds are called."""


def _message(answer: Scripted, body: Json) -> Json:
    """The whole answer as an object."""
    written = json.dumps(answer.content)
    usage = {"input_tokens": len(json.dumps(body)) // 4, "output_tokens": len(written) // 4, **answer.usage}
    head = {"id": "msg_1", "type": "message", "role": "assistant", "model": answer.model or body.get("model")}
    return {**head, "content": list(answer.content), "stop_reason": answer.stop, "stop_sequence": None, "usage": usage}


def events_of(answer: Scripted, body: Json) -> Iterator[tuple[str, str]]:
    """The answer as a stream: the name and the data of each event."""
    message = _message(answer, body)
    output = message["usage"].pop("output_tokens")
    start = {**message, "content": [], "stop_reason": None, "usage": {**message["usage"], "output_tokens": 1}}
    yield _event({"type": "message_start", "message": start})
    yield _event({"type": "ping"})
    for index, block in enumerate(answer.content):
        yield from map(_event, _block_events(index, block))
    yield from answer.extra
    if answer.ending != "whole":
        return
    delta = {"stop_reason": answer.stop, "stop_sequence": None}
    yield _event({"type": "message_delta", "delta": delta, "usage": {"output_tokens": output}})
    yield _event({"type": "message_stop"})


def _block_events(index: int, block: Json) -> Iterator[Json]:
    key, delta_type, name = _GROWING.get(block["type"], ("", "", ""))
    whole = block.get(key, "")
    if not isinstance(whole, str):
        whole = json.dumps(whole)
    empty = {**block, **({key: {} if key == "input" else ""} if key else {})}
    if "signature" in block:
        empty["signature"] = ""
    yield {"type": "content_block_start", "index": index, "content_block": empty}
    half = len(whole) // 2
    deltas = [{"type": delta_type, name: piece} for piece in (whole[:half], whole[half:])] if key else []
    if "signature" in block:
        deltas.append({"type": "signature_delta", "signature": block["signature"]})
    for delta in deltas:
        yield {"type": "content_block_delta", "index": index, "delta": delta}
    yield {"type": "content_block_stop", "index": index}


def _event(data: Json) -> tuple[str, str]:
    return data["type"], json.dumps(data)


def held(answer: Scripted) -> tuple[Scripted, Event]:
    """The same answer, sent only once the event is set."""
    gate = Event()
    return replace(answer, gate=gate), gate


def _as_own(asked: Asked) -> Json:
    """The body as Anthropic's own API has it: at other providers the model stands in the path."""
    if asked.path.endswith("/v1/messages"):
        return asked.body
    assert asked.body["anthropic_version"], "other providers want the version in the body"
    return {"model": asked.path, **{key: value for key, value in asked.body.items() if key != "anthropic_version"}}


def problems_of(body: Json) -> Iterator[str]:
    """What the real API would not take."""
    for error in _validator(streamed=body.get("stream") is True).iter_errors(body):
        yield f"{error.json_path}: {error.message[:300]}"
    blocks = [*_blocks(body.get("system")), *(b for m in body.get("messages", []) for b in _blocks(m.get("content")))]
    if sum("cache_control" in block for block in [*blocks, *body.get("tools", [])]) > 4:
        yield "more than four breakpoints of the cache"
    if any(block.get("type") == "text" and not block["text"].strip() for block in blocks):
        yield "a text without anything in it"
    if not body.get("messages") or body["messages"][0].get("role") != "user":
        yield "the conversation does not begin with the user"


def _blocks(content: object) -> list[Json]:
    return content if isinstance(content, list) else []


@cache
def _validator(*, streamed: bool) -> Draft202012Validator:
    from anthropic.types import message_create_params as params  # noqa: PLC0415 - it takes two seconds
    from jsonschema import Draft202012Validator  # noqa: PLC0415 - every test session loads this module
    from pydantic import TypeAdapter  # noqa: PLC0415 - the same

    kind = params.MessageCreateParamsStreaming if streamed else params.MessageCreateParamsNonStreaming
    schema: Json = TypeAdapter(kind).json_schema()
    return Draft202012Validator(_closed(schema))


def _closed(schema: Any) -> Any:
    """The schema with every object closed that does not say itself that it is open."""
    if isinstance(schema, list):
        return [_closed(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {key: _closed(value) for key, value in schema.items()}
    # A property may be called "properties" as well: only an object's own are a mapping of schemas.
    if schema.get("type") == "object" and isinstance(schema.get("properties"), dict):
        closed.setdefault("additionalProperties", False)
    return closed


def a_claim(file: str, quote: str, message: str, **fields: Any) -> dict[str, Any]:
    """A finding as a reader writes it, of the task `logic`."""
    return {
        "id": "f1", "task": "logic", "file": file, "side": "new", "quote": quote, "line": None,
        "title": "A wrong value", "message": message, "impact": "on every call",
        "proof": [{"path": file, "side": "new", "quote": quote.strip(), "why": "nothing checks it"}],
        "severity": "warning", "cause": "missing-case", "category": "wrong-value", "confidence": 90, "worth": 70,
        "suggestion": "", "replacement": None, "cwe": None, **fields,
    }  # fmt: skip


def a_reading(*claims: Mapping[str, Any]) -> dict[str, Any]:
    """A reader's whole answer."""
    return {"summary": "", "themes": [], "findings": list(claims), "hints": [], "tasks": []}


def rulings_on(shown: str, **fields: Any) -> dict[str, Any]:
    """A judge's answer that confirms each claim of a request."""
    known = {"argument_against": "a caller may check", "reason": "nothing checks it", "confidence": 92}
    known |= {"severity": "warning", "worth": 70, "contradicts": [], **fields}
    handles = dict.fromkeys(re.findall(r"Claim (c[0-9]+):", shown))
    return ruled(*({"claim": handle, **known} for handle in handles))


def ruled(*rulings: Mapping[str, Any]) -> dict[str, Any]:
    """A judge's whole answer."""
    return {**a_reading(), "rulings": list(rulings)}


def asks_judge(body: Mapping[str, Any]) -> bool:
    """Whether a request asks for rulings: readers and judge have one schema, and their requests begin alike."""
    return "Rule on each of these claims" in json.dumps(body["messages"][0])
