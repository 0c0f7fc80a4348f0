"""Find the pull request of a finished run of a fork's trigger workflow. The event of a fork does not name it.

The event's `pull_requests` is empty for a head in another repository: https://github.com/actions/runner/issues/3444.
The host's list of open pull requests is asked for that head instead.
"""

from __future__ import annotations

from reviewbot.action.event import ForkRun
from reviewbot.domain.errors import EmptyChangeError
from reviewbot.hosts.base import CodeHost

MOVED = "the head has moved on since; the run on the newer head reviews it"


def find_number(host: CodeHost, run: ForkRun) -> int:
    """The number of the only open pull request with this head.

    Raises EmptyChangeError, with the reason, where there is none or several; and HostError.
    """
    listed = host.open_pulls(run.repository, run.head_sha, f"{run.head_owner}:{run.head_branch}")
    sides = (run.repository_id, run.head_repository_id)
    own = [pull for pull in listed if (pull.repository_id, pull.head_repository_id) == sides]
    same = sorted(pull.number for pull in own if pull.head_sha == run.head_sha)
    if not same:
        raise EmptyChangeError(MOVED if own else "no open pull request has this head any more")
    if len(same) > 1:
        numbers = ", ".join(f"#{number}" for number in same)
        raise EmptyChangeError(f"several open pull requests have this head: {numbers}")
    return same[0]
