"""Built-in checks for weaknesses that are visible at one place, without tracking values.

Each module looks at one theme. What a rule says and how far it is trusted stands in `data/rules/security_checks.toml`.
"""

from __future__ import annotations

from collections.abc import Iterator

from reviewbot.analyzers.python.views import Budget, Found, View
from reviewbot.analyzers.security.access_order import late_checks
from reviewbot.analyzers.security.ciphers import weak_ciphers, weak_signatures
from reviewbot.analyzers.security.code_index import CodeIndex
from reviewbot.analyzers.security.credentials import check_leaks, literal_credentials
from reviewbot.analyzers.security.files import check_files, loose_privileges
from reviewbot.analyzers.security.loops import unsound_flow
from reviewbot.analyzers.security.passwords import fast_hashes, weak_hashes, weak_random
from reviewbot.analyzers.security.patterns import slow_patterns
from reviewbot.analyzers.security.settings import weak_settings
from reviewbot.analyzers.security.tls import open_connections
from reviewbot.analyzers.security.unsafe_calls import unsafe_calls
from reviewbot.analyzers.security.web import open_web, unsafe_markup, weak_host_checks
from reviewbot.diff.paths import is_test

_CHECKS = (
    unsafe_calls,
    weak_ciphers,
    fast_hashes,
    weak_hashes,
    weak_signatures,
    weak_random,
    open_connections,
    literal_credentials,
    check_leaks,
    open_web,
    weak_settings,
    weak_host_checks,
    check_files,
    loose_privileges,
    unsafe_markup,
    slow_patterns,
    unsound_flow,
    late_checks,
)

_IN_TESTS = (unsafe_calls, weak_ciphers, unsound_flow)
"""The themes with a rule that speaks in test code; of all others nothing would be passed on."""


def check(view: View, budget: Budget) -> Iterator[Found]:
    """Look at one piece of Python for everything that the table of rules knows."""
    code = CodeIndex(view, budget)
    for theme in _IN_TESTS if is_test(view.path) else _CHECKS:
        yield from theme(code)
