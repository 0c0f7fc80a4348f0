"""Work, counted: what a test bounds in place of a time, which depends on the machine and on what else runs on it."""

from __future__ import annotations

import cProfile
from collections import Counter
from collections.abc import Callable


def count_calls(function: Callable[[], object]) -> Counter[str]:
    """How often each function is called in this thread while one runs, by qualified name.

    Builtins count as well, and each time that a generator goes on.
    """
    profile = cProfile.Profile()
    profile.runcall(function)
    counts: Counter[str] = Counter()
    for entry in profile.getstats():
        counts[entry.code if isinstance(entry.code, str) else entry.code.co_qualname] += entry.callcount
    return counts
