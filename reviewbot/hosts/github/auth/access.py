"""Find GitHub's API address and a token: from the environment, else from what `gh` keeps."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from reviewbot.domain.errors import HostAccessError
from reviewbot.hosts.github.auth.gh_cli_token import read_token

API_URL = "https://api.github.com"
HOST = "github.com"

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
"""Where a token may go without TLS."""

_TOKEN = re.compile(r"[\x21-\x7e]{1,4096}")
_HOST = re.compile(r"(?i)[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?(?::[0-9]{1,5})?")
_IPV6 = re.compile(r"\[[0-9A-Fa-f:]{2,45}\](?::[0-9]{1,5})?")


@dataclass(frozen=True)
class GithubAccess:
    """A token, and the REST API that it is for. Its text never shows the token.

    Raises HostAccessError for a token that cannot be one, and for an address that a token must not be sent to.
    """

    token: str = field(repr=False)
    api_url: str = API_URL
    """Without a slash at its end; https://HOST/api/v3 of an Enterprise server."""

    def __post_init__(self) -> None:
        if not _TOKEN.fullmatch(self.token):
            raise HostAccessError("the GitHub token holds blanks or other characters that no token has")
        object.__setattr__(self, "api_url", check_url(self.api_url))


def check_url(url: str) -> str:
    """The address of an API, as it is used. Raises HostAccessError where no token may be sent there."""
    try:
        parts = urlsplit(url.strip())
        host, port = parts.hostname or "", parts.port
    except ValueError:
        parts, host, port = urlsplit("about:blank"), "", 0
    secure = parts.scheme == "https" or (parts.scheme == "http" and host in LOOPBACK)
    plain = parts.username is None and not parts.query and not parts.fragment
    named = _HOST.fullmatch(parts.netloc) or _IPV6.fullmatch(parts.netloc)
    if not (secure and plain and named and port != 0 and re.fullmatch(r"[\w./~-]*", parts.path)):
        raise HostAccessError("the address of GitHub's API must be like https://HOST/api/v3; look at GITHUB_API_URL")
    return f"{parts.scheme}://{parts.netloc.lower()}{parts.path.rstrip('/')}"


def find_access(environ: Mapping[str, str]) -> GithubAccess:
    """The access of this environment.

    The API is that of GITHUB_API_URL, else of GH_HOST, else github.com's. The token is GH_TOKEN or GITHUB_TOKEN, of
    an Enterprise server GH_ENTERPRISE_TOKEN or GITHUB_ENTERPRISE_TOKEN, else what `gh` keeps for the host. A token of
    github.com goes to another host only where GITHUB_API_URL stands beside it, as it does in a workflow.

    Raises HostAccessError, which says what to set.
    """
    given = environ.get("GITHUB_API_URL", "").strip()
    api_url = check_url(given) if given else api_url_of(environ.get("GH_HOST", "").strip() or HOST)
    host = web_host_of(api_url)
    names = ["GH_TOKEN", "GITHUB_TOKEN"] if given or _is_cloud(host) else []
    if not _is_cloud(host):
        names += ["GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN"]
    for name in names:
        if token := environ.get(name, "").strip():
            return GithubAccess(token, api_url)
    kept = read_token(host, environ)
    if kept is None:
        raise HostAccessError(f"no token for {host}: set {names[0]}, or log in with `gh auth login --hostname {host}`")
    return GithubAccess(kept, api_url)


def api_url_of(host: str) -> str:
    """The REST API of a host, as people name it. Raises HostAccessError.

    Source: https://docs.github.com/en/enterprise-server/rest/quickstart and, of ghe.com, .../enterprise-cloud/...
    """
    host = host.lower()
    if not _HOST.fullmatch(host) or ".." in host:
        raise HostAccessError("GH_HOST must be the name of a host, such as github.example.com")
    return f"https://api.{host}" if _is_cloud(host) else f"https://{host}/api/v3"


def web_host_of(api_url: str) -> str:
    """The host's name on the web, under which `gh` keeps tokens."""
    host = urlsplit(api_url).netloc
    bare = host.removeprefix("api.")
    return bare if _is_cloud(bare) else host


def _is_cloud(host: str) -> bool:
    return host == HOST or host.endswith(".ghe.com")
