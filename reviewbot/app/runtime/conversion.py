"""Exchange the code of a new App for its credentials: the one call that needs no token.

https://docs.github.com/en/rest/apps/apps#create-a-github-app-from-a-manifest
"""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from reviewbot.app.runtime.credentials import Credentials
from reviewbot.app.runtime.host_request import send_request
from reviewbot.domain.errors import ConfigError, HostError, HostMissingError

_CODE = re.compile(r"[A-Za-z0-9_-]{1,200}")
_CREATED = 201
_HEADERS = {"X-GitHub-Api-Version": "2022-11-28"}


class _Answer(BaseModel):
    """What is used of it, all of which GitHub always gives; the client is that of the sign-in to the pages."""

    model_config = ConfigDict(strict=True, extra="ignore", hide_input_in_errors=True)

    id: Annotated[int, Field(ge=1)]
    slug: str
    pem: str
    webhook_secret: str | None
    client_id: Annotated[str, Field(min_length=1)]
    client_secret: Annotated[str, Field(min_length=1)]


def convert_code(code: str, api_url: str) -> Credentials:
    """Get the credentials of the App that was just made. Sent once; GitHub takes a code once, and for an hour.

    Raises HostMissingError where it does not know the code, HostError for whatever else goes wrong there, ConfigError
    where what it gave cannot be used.
    """
    if not _CODE.fullmatch(code):
        raise HostMissingError("this is no code of GitHub's")
    status, data = send_request("POST", api_url, f"/app-manifests/{code}/conversions", _HEADERS)
    if status != _CREATED:
        kind = HostMissingError if status in {404, 422} else HostError
        raise kind(f"GitHub did not take the code ({status}); begin again, a code can be used once and for an hour")
    try:
        found = _Answer.model_validate_json(data)
    except ValidationError:
        raise HostError("GitHub's answer holds no credentials that can be read") from None
    if not found.webhook_secret:
        raise ConfigError("the new App has no webhook secret: it was made without a webhook address")
    return Credentials(
        app_id=found.id,
        slug=found.slug,
        private_keys=(found.pem.replace("\r\n", "\n").strip() + "\n",),
        webhook_secrets=(found.webhook_secret.encode(),),
        client_id=found.client_id,
        client_secret=found.client_secret,
    )
