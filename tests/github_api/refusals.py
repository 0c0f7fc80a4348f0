"""How GitHub says no. Each answer names the page that states it."""

from __future__ import annotations

from tests.github_api.routes import Reply, not_found

__all__ = [
    "bad_token",
    "dropped",
    "invalid",
    "missing_permission",
    "not_found",
    "primary_limit",
    "secondary_limit",
    "server_error",
    "too_large",
]

_DOCS = "https://docs.github.com/rest"
_LIMITS = "https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api"


def bad_token() -> Reply:
    """https://docs.github.com/en/rest/authentication/authenticating-to-the-rest-api#failed-login-limit."""
    return Reply(401, {"message": "Bad credentials", "documentation_url": _DOCS, "status": "401"})


def missing_permission(name: str, level: str) -> Reply:
    """https://docs.github.com/en/rest/authentication/permissions-required-for-github-apps.

    The header: https://docs.github.com/en/rest/using-the-rest-api/troubleshooting-the-rest-api#resource-not-accessible
    """
    message = "Resource not accessible by integration"
    headers = {"x-accepted-github-permissions": f"{name}={level}"}
    return Reply(403, {"message": message, "documentation_url": _DOCS, "status": "403"}, headers)


def too_large(limit: int, unit: str = "files") -> Reply:
    """https://docs.github.com/en/repositories/creating-and-managing-repositories/repository-limits#diff-limits.

    The form: https://github.com/cpp-linter/cpp-linter-action/issues/249, and lines:
    https://github.com/pascalgn/size-label-action/issues/53
    """
    message = (
        f"Sorry, the diff exceeded the maximum number of {unit} ({limit}). Consider using 'List pull requests files'"
    )
    errors = [{"resource": "PullRequest", "field": "diff", "code": "too_large"}]
    return Reply(406, {"message": message, "errors": errors, "documentation_url": _DOCS, "status": "406"})


def invalid(message: str, *errors: object) -> Reply:
    """https://docs.github.com/en/rest/using-the-rest-api/troubleshooting-the-rest-api#validation-failed."""
    body = {"message": message, "documentation_url": _DOCS, "status": "422"}
    return Reply(422, {**body, "errors": list(errors)} if errors else body)


def primary_limit(reset: int, status: int = 403) -> Reply:
    """https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api#exceeding-the-rate-limit.

    `reset` is in seconds since 1970.
    """
    headers = {"x-ratelimit-limit": "5000", "x-ratelimit-remaining": "0", "x-ratelimit-reset": str(reset)}
    message = "API rate limit exceeded for installation ID 1."
    return Reply(status, {"message": message, "documentation_url": _LIMITS, "status": str(status)}, headers)


def secondary_limit(retry_after: int | None = None, status: int = 403) -> Reply:
    """https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api#about-secondary-rate-limits."""
    message = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
    headers = {} if retry_after is None else {"retry-after": str(retry_after)}
    return Reply(status, {"message": message, "documentation_url": _LIMITS, "status": str(status)}, headers)


def server_error(status: int = 502) -> Reply:
    """https://docs.github.com/en/rest/using-the-rest-api/troubleshooting-the-rest-api#timeouts."""
    return Reply(status, {"message": "Server Error"})


def dropped() -> Reply:
    """No answer at all: the connection is closed."""
    return Reply(0, lost=True)
