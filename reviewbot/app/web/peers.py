"""Classify the client of a request: on this machine, in its private networks, or elsewhere."""

from __future__ import annotations

import ipaddress
import re
from typing import Literal

from flask import Request

Peer = Literal["here", "near", "elsewhere"]

_FORWARDED = ("Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-Ip", "Via")
"""What a proxy adds. It stands on this machine, and speaks for a client that does not."""

_HERE = re.compile(r"(?:localhost|127\.0\.0\.1|\[::1\])(?::[0-9]{1,5})?")
"""A name in `Host` that no other site can make a browser send here: others can be made to point at this machine."""


def peer_of(asked: Request) -> Peer:
    """Where a request comes from. An unknown address counts as elsewhere."""
    if any(asked.headers.get(name) for name in _FORWARDED):
        return "elsewhere"
    try:
        address = ipaddress.ip_address((asked.remote_addr or "").partition("%")[0])
    except ValueError:
        return "elsewhere"
    if address.is_loopback:
        return "here" if _HERE.fullmatch(asked.headers.get("Host", "")) else "elsewhere"
    return "near" if address.is_private else "elsewhere"
