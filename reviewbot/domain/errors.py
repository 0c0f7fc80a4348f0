"""Every error that reviewbot raises on purpose, and the exit code that each one becomes.

    ReviewbotError            3   an internal error, unless a subclass says otherwise
    ├── InputError            2   what was handed in cannot be used; the message says what to do
    │   ├── EmptyChangeError  2   a pull request changes no file or is closed; the Action has nothing to do there
    │   ├── DiffError         2   the bytes are no diff that can be read
    │   └── ConfigError       2   a setting, card or prompt is wrong
    ├── HostError             5   the code host cannot be reached, or answers what cannot be used
    │   ├── HostAccessError   5   it does not let us: no token, a token it refuses, a permission that is missing
    │   ├── HostMissingError  5   it knows no such thing, or does not show it to us
    │   ├── HostInvalidError  5   it takes what was sent for invalid, such as a line outside the change
    │   ├── HostLimitError    5   its limit of requests is reached and our deadline comes first
    │   ├── HostMovedError    5   the head of a pull request is another one than was asked for; a newer run is due
    │   └── HostUnknownError  5   something was sent and no answer came: it may or may not have been carried out
    ├── AlreadyPostedError    0   the host has the review already; nothing is left to do
    ├── ToolError             -   one analyzer could not do its work; becomes a named gap
    └── EngineError           -   one answer of an engine cannot be used; becomes a retry, then a gap
        ├── TransientError    -   the same, where trying again unchanged may help
        ├── RefusedError      -   the model declined to answer; asking again unchanged would not help
        ├── CallRejectedError -   the provider, or its library, rejected the call and would do so again
        ├── ProviderError     -   the provider is down, or refuses us: it is not asked; becomes a named gap at once
        │   └── AccountError  -   the provider serves no model, or not this one, to these credentials
        ├── TooLongError      -   the request is longer than the model reads; a part of it may not be
        ├── CutOffError       -   the answer was cut off at its limit; about a part there is less to say
        ├── BudgetError       -   a budget is spent; becomes a named gap at once
        └── DeadlineError     -   the review's deadline left no time for this; becomes a named gap at once

Errors marked "-" never reach an entry point: the worker boundary turns them into outcomes.
"""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """Exit codes of the command line and the Action."""

    REVIEWED = 0
    GATE = 1
    USAGE = 2
    FAULT = 3
    INCOMPLETE = 4
    HOST = 5
    PROVIDER = 6
    INTERRUPTED = 130


class ReviewbotError(Exception):
    """Base of all errors raised on purpose; its text is one line that a person can act on."""

    exit_code = ExitCode.FAULT


class InputError(ReviewbotError):
    """What was handed in cannot be used."""

    exit_code = ExitCode.USAGE


class EmptyChangeError(InputError):
    """There is nothing to review: a pull request without a changed file, or none that is open with this head."""


class AlreadyPostedError(ReviewbotError):
    """The host has the review already, and the run that made it ended well. `url` is where it stands."""

    exit_code = ExitCode.REVIEWED

    def __init__(self, message: str, url: str) -> None:
        super().__init__(message)
        self.url = url


class DiffError(InputError):
    """The bytes are no diff that can be read."""


class ConfigError(InputError):
    """A setting, a card or a prompt is wrong."""


class HostError(ReviewbotError):
    """The code host cannot be reached, or answers what cannot be used."""

    exit_code = ExitCode.HOST


class HostAccessError(HostError):
    """The host denies access: no token, a token that it refuses, a permission that is missing."""


class HostMissingError(HostError):
    """The host knows no such thing, or does not show it to us."""


class HostInvalidError(HostError):
    """The host takes what was sent for invalid. `code` is its own word for it, where it gave one."""

    def __init__(self, message: str, code: str = "") -> None:
        super().__init__(message)
        self.code = code


class HostLimitError(HostError):
    """The host's limit of requests is reached. `retry_after_s` is what it asked for, where it did."""

    def __init__(self, message: str, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class HostMovedError(HostError):
    """The head of a pull request is no longer the one that was asked for. `head_sha` is the one that it is now."""

    def __init__(self, message: str, head_sha: str) -> None:
        super().__init__(message)
        self.head_sha = head_sha


class HostUnknownError(HostError):
    """Something was sent and no answer came: it may or may not have been carried out."""


class ToolError(ReviewbotError):
    """One analyzer could not do its work."""


class EngineError(ReviewbotError):
    """One answer of an engine cannot be used."""


class TransientError(EngineError):
    """An engine failed in a way that may not recur for the same request.

    `retry_after_s` is what the far end asked for, where it did. `throttled` says that it is there and wants fewer
    requests: a rate limit, an overload, or any `retry-after`.
    """

    def __init__(self, message: str, retry_after_s: float | None = None, *, throttled: bool = False) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s
        self.throttled = throttled


class RefusedError(EngineError):
    """The model declined to answer."""


class CallRejectedError(EngineError):
    """The provider, or the library that calls it, rejected the call and would do so again."""


class ProviderError(EngineError):
    """The provider is down, or refuses us, and is not asked for now; the message is the cause."""


class AccountError(ProviderError):
    """The provider serves no model to these credentials, this account or this address, or not this model.

    `model` is the only one that this is about; None: all of them.
    """

    def __init__(self, message: str, model: str | None = None) -> None:
        super().__init__(message)
        self.model = model


class TooLongError(EngineError):
    """The request is longer than the model reads."""


class CutOffError(EngineError):
    """The answer was cut off at its limit of tokens."""


class BudgetError(EngineError):
    """A budget of the run or of a worker is spent."""


class DeadlineError(EngineError):
    """The review's deadline leaves no time for this."""
