"""Checks of our own for weaknesses that stand at one place: no value has to be followed to see them.

Each module looks at one theme. What a rule says and how far it is trusted stands in `data/rules/security_checks.toml`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reviewbot.diff.paths import is_test
from reviewbot.tools.security_checks.ciphers import weak_ciphers
from reviewbot.tools.security_checks.credentials import literal_credentials
from reviewbot.tools.security_checks.facts import Facts
from reviewbot.tools.security_checks.files import exposed_files
from reviewbot.tools.security_checks.hosts import weak_host_checks
from reviewbot.tools.security_checks.leaks import leaked_secrets
from reviewbot.tools.security_checks.loops import unsound_flow
from reviewbot.tools.security_checks.markup import unsafe_markup
from reviewbot.tools.security_checks.passwords import weak_passwords
from reviewbot.tools.security_checks.patterns import slow_patterns
from reviewbot.tools.security_checks.privileges import loose_privileges
from reviewbot.tools.security_checks.random_values import weak_random
from reviewbot.tools.security_checks.settings import weak_settings
from reviewbot.tools.security_checks.signatures import weak_signatures
from reviewbot.tools.security_checks.tls import open_connections
from reviewbot.tools.security_checks.web import open_web

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reviewbot.tools.views import Budget, Found, View

_CHECKS = (
    weak_ciphers,
    weak_passwords,
    weak_signatures,
    weak_random,
    open_connections,
    literal_credentials,
    leaked_secrets,
    open_web,
    weak_settings,
    weak_host_checks,
    exposed_files,
    loose_privileges,
    unsafe_markup,
    slow_patterns,
    unsound_flow,
)

_IN_TESTS = (weak_ciphers, unsound_flow)
"""The themes with a rule that speaks in test code; of all others nothing would be passed on."""


def check(view: View, budget: Budget) -> Iterator[Found]:
    """Look at one piece of Python for everything that the table of rules knows."""
    facts = Facts(view, budget)
    for theme in _IN_TESTS if is_test(view.path) else _CHECKS:
        yield from theme(facts)
