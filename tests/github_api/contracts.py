"""Every request against GitHub's own description, where it is at hand (`../shared/contracts`, see its README).

Bodies are closed: a field that the description does not name is a problem, and so is an unknown name in a query.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from graphql import GraphQLSchema
    from openapi_core import OpenAPI

_ROOT = Path(__file__).parents[2]
FOLDER = (_ROOT / os.environ.get("SHARED", "../shared") / "contracts").resolve()
REST = FOLDER / "github-openapi.json"
GRAPHQL = FOLDER / "github.graphql"

_ARCHIVE = re.compile(r"/repos/[^/]+/[^/]+/tarball/[0-9a-f]{40}|/_codeload/[^?]+")
"""Not in the description at hand: https://docs.github.com/en/rest/repos/contents#download-a-repository-archive-tar."""

_ALTERNATIVES = ("oneOf", "anyOf", "allOf")
_HOST = "https://api.github.com"


def problems_of(method: str, path: str, query: Mapping[str, str], data: bytes) -> list[str]:
    """What the real API would not take of a request; nothing where its description is not at hand."""
    if path == "/graphql":
        return _graphql_problems(data.decode()) if GRAPHQL.is_file() else []
    if not REST.is_file():
        return []
    return [f"{method} {path}: {problem}" for problem in _rest_problems(method, path, tuple(query.items()), data)]


@cache
def _rest_problems(method: str, path: str, query: tuple[tuple[str, str], ...], data: bytes) -> list[str]:
    from openapi_core.exceptions import OpenAPIError  # noqa: PLC0415 - it takes most of a second
    from openapi_core.testing import MockRequest  # noqa: PLC0415 - the same

    operation = _operation(method, path)
    if operation is None and method == "GET" and _ARCHIVE.fullmatch(path):
        return []
    if operation is None:
        return ["the description knows no such call; extend WANTED in cut_openapi.py"]
    known = {each["name"] for each in operation.get("parameters", ())}
    problems = [f"the query has no {name!r}" for name, _ in query if name not in known]
    if data and "requestBody" not in operation:
        problems.append("the call takes no body")
    request = MockRequest(
        _HOST, method.lower(), path, args=dict(query), data=data or None, content_type="application/json"
    )
    try:
        described().validate_request(request)
    except OpenAPIError as error:
        problems += _told(error)
    return problems


def _told(error: BaseException) -> list[str]:
    """What is wrong, from an error of openapi-core and those behind it: the innermost tell the most."""
    chain: list[BaseException] = [error]
    while (cause := chain[-1].__cause__) is not None:
        chain.append(cause)
    found = [f"{each.json_path}: {each.message[:300]}" for link in chain for each in getattr(link, "schema_errors", ())]
    return found or [str(chain[-1])[:300]]


@cache
def _document() -> dict[str, Any]:
    document: dict[str, Any] = json.loads(REST.read_text("utf-8"))
    for item in document["paths"].values():
        for operation in item.values():
            body = operation.get("requestBody") if isinstance(operation, dict) else None
            for media in (body or {}).get("content", {}).values():
                media["schema"] = _closed(media["schema"], document)
    return _without_refs_of_parameters(document)


def _without_refs_of_parameters(document: dict[str, Any]) -> dict[str, Any]:
    for item in document["paths"].values():
        for operation in item.values():
            if isinstance(operation, dict) and "parameters" in operation:
                operation["parameters"] = [_resolved(each, document) for each in operation["parameters"]]
    return document


def _resolved(schema: Any, document: dict[str, Any]) -> Any:
    while isinstance(schema, dict) and "$ref" in schema:
        found: Any = document
        for part in schema["$ref"].removeprefix("#/").split("/"):
            found = found[part]
        schema = found
    return schema


def _closed(schema: Any, document: dict[str, Any]) -> Any:
    """The schema with every object closed that does not say itself that it is open; references are put in place."""
    if isinstance(schema, list):
        return [_closed(each, document) for each in schema]
    schema = _resolved(schema, document)
    if not isinstance(schema, dict):
        return schema
    closed = {key: _closed(value, document) for key, value in schema.items()}
    # A property may be called "properties" as well: only an object's own are a mapping of schemas.
    if schema.get("type") == "object" and isinstance(schema.get("properties"), dict):
        others = [each for key in _ALTERNATIVES for each in closed.get(key, ())]
        for each in others:
            closed["properties"] = {**{key: {} for key in each.get("properties", ())}, **closed["properties"]}
            each["additionalProperties"] = True  # the object around it names all that there may be
        closed["additionalProperties"] = schema.get("additionalProperties") or False
    return closed


@cache
def _patterns() -> list[tuple[re.Pattern[str], dict[str, Any]]]:
    """The paths, those with fewer variables first."""
    paths = sorted(_document()["paths"].items(), key=lambda each: (each[0].count("{"), each[0]))
    return [(re.compile(re.sub(r"\{\w+\}", "[^/]+", path)), item) for path, item in paths]


def _operation(method: str, path: str) -> dict[str, Any] | None:
    for pattern, item in _patterns():
        if pattern.fullmatch(path) and method.lower() in item:
            found: dict[str, Any] = item[method.lower()]
            return found
    return None


@cache
def described() -> OpenAPI:
    """The description, to hold more against it than requests."""
    from openapi_core import Config, OpenAPI  # noqa: PLC0415 - it takes most of a second

    # The document itself is GitHub's, and to check it takes seconds.
    return OpenAPI.from_dict(_document(), config=Config(spec_validator_cls=None))  # type: ignore[arg-type]


@cache
def _graphql_problems(data: str) -> list[str]:
    from graphql import GraphQLError, parse, validate  # noqa: PLC0415 - few tests ask it
    from graphql.execution.values import get_variable_values  # noqa: PLC0415 - the same

    sent = json.loads(data)
    if unknown := sent.keys() - {"query", "variables", "operationName"}:
        return [f"GraphQL: unknown fields {sorted(unknown)}"]
    try:
        document = parse(sent["query"])
    except GraphQLError as error:
        return [f"GraphQL: {error.message}"]
    problems = [f"GraphQL: {error.message}" for error in validate(_schema(), document)]
    if not problems:
        definitions = document.definitions[0].variable_definitions or ()  # type: ignore[attr-defined]
        values = get_variable_values(_schema(), definitions, sent.get("variables", {}))
        if isinstance(values, list):
            problems += [f"GraphQL: {error}" for error in values]
    return problems


@cache
def _schema() -> GraphQLSchema:
    from graphql import build_schema  # noqa: PLC0415 - few tests ask it

    return build_schema(GRAPHQL.read_text("utf-8"), assume_valid=True, no_location=True)
