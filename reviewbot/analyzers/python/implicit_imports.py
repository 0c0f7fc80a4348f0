"""Imports of well-known names for a hunk that does not show its own."""

from __future__ import annotations

import ast
import re
from functools import cache
from typing import Final, NamedTuple

IMPORTS: Final = (
    "import os, sys, re, io, json, time, random, hashlib, hmac, ssl, socket, shutil, stat, signal, logging, functools, "
    "itertools, contextlib, contextvars, asyncio, threading, subprocess, tempfile, tarfile, zipfile, pathlib, pickle, "
    "marshal, shelve, secrets, string, ftplib, telnetlib, sqlite3, unittest, pdb, ipdb, "
    "logging.config, urllib.request, xml.sax, xml.dom.minidom, xml.etree.ElementTree, "
    "yaml, requests, httpx, aiohttp, jinja2, flask, paramiko, markupsafe, pytest, trio, anyio, mako.template, dill, "
    "xml.etree.ElementTree as ET; "
    "from pathlib import Path; from subprocess import Popen, check_call, check_output; "
    "from hashlib import md5, sha1; from urllib.request import urlopen; from jinja2 import Environment; "
    "from markupsafe import Markup; from django.utils.safestring import mark_safe; from flask import Flask; "
    "from contextvars import ContextVar; from functools import singledispatch, singledispatchmethod; "
    "from itertools import groupby; from tempfile import mktemp; from yaml import UnsafeLoader; "
    "from xml.dom import minidom; from xml.etree import ElementTree; "
    "from django.db.models.expressions import RawSQL; from pysnmp.hlapi import CommunityData, UsmUserData; "
    "from cryptography.hazmat.primitives import hashes; "
    "from cryptography.hazmat.primitives.asymmetric import dsa, ec, rsa; "
    "from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes; "
    "from Crypto.Cipher import ARC2, ARC4, DES, DES3, Blowfish; from Crypto.PublicKey import DSA, RSA"
)
"""On one line, in front: rules follow a name to the module that it came from, and a hunk seldom shows the import.

Names that several modules have (`Template`, `load`, `choice`) are not in it: a guess would blame the wrong one.
"""

_ALWAYS = frozenset({"aiohttp", "django", "flask"})
"""Packages whose presence shows what a function with a certain shape is, also where it does not name them."""

_WORD = re.compile(r"\w+")


class _Import(NamedTuple):
    """One name of one import, as a statement of its own."""

    name: str
    package: str
    statement: ast.stmt


def imports_of(text: str) -> list[ast.stmt]:
    """Statements, all of row 1, that import those of the well-known names that stand in a text.

    A tree without the others means the same and is walked several times faster: most hunks are short.
    """
    words = set(_WORD.findall(text))
    return [known.statement for known in _imports() if known.name in words or known.package in _ALWAYS]


@cache
def _imports() -> tuple[_Import, ...]:
    """Each name apart. The nodes are shared by all trees: code that walks a tree must not change them."""
    found: list[_Import] = []
    for statement in ast.parse(IMPORTS).body:
        if not isinstance(statement, ast.Import | ast.ImportFrom):  # pragma: no cover - there is nothing else
            continue
        source = (statement.module or "") if isinstance(statement, ast.ImportFrom) else ""
        for alias in statement.names:
            made = ast.ImportFrom(source, [alias], 0) if source else ast.Import([alias])
            name = alias.asname or alias.name.partition(".")[0]
            package = (source or alias.name).partition(".")[0]
            found.append(_Import(name, package, ast.copy_location(made, statement)))
    return tuple(found)
