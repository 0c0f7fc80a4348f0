"""Find weak encryption: ECB, an initialisation vector that never changes, a key in the source, a short key."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from reviewbot.analyzers.python.views import Found
from reviewbot.analyzers.security.facts import Facts
from reviewbot.analyzers.security.words import argument, at, is_static

_HAZMAT = "cryptography.hazmat.primitives.ciphers."
_MODES = tuple(f"{_HAZMAT}modes.{mode}" for mode in ("CBC", "CFB", "CFB8", "OFB", "CTR", "GCM"))
_BLOCKS = ("AES", "DES", "DES3", "Blowfish", "ARC2", "CAST")
_STREAMS = ("ChaCha20", "ChaCha20_Poly1305", "Salsa20")
_NEW_BLOCK = tuple(f"Crypto.Cipher.{cipher}.new" for cipher in _BLOCKS)
_NEW_STREAM = tuple(f"Crypto.Cipher.{cipher}.new" for cipher in _STREAMS)
_AEAD = tuple(f"{_HAZMAT}aead.{name}" for name in ("AESGCM", "AESCCM", "AESOCB3", "AESGCMSIV", "ChaCha20Poly1305"))
_ALGORITHMS = tuple(
    f"{_HAZMAT}algorithms.{name}"
    for name in ("AES", "AES128", "AES256", "Camellia", "ChaCha20", "TripleDES", "Blowfish")
)
_FERNET = "cryptography.fernet.Fernet"

_KEY_SIZES = {
    "Crypto.PublicKey.RSA.generate": (0, ("bits",)),
    "Crypto.PublicKey.DSA.generate": (0, ("bits",)),
    "Crypto.PublicKey.ElGamal.generate": (0, ("bits",)),
    "rsa.newkeys": (0, ("nbits",)),
    "rsa.key.newkeys": (0, ("nbits",)),
    "paramiko.RSAKey.generate": (0, ("bits",)),
    "paramiko.DSSKey.generate": (0, ("bits",)),
    "cryptography.hazmat.primitives.asymmetric.rsa.generate_private_key": (1, ("key_size",)),
    "cryptography.hazmat.primitives.asymmetric.dsa.generate_private_key": (0, ("key_size",)),
    "cryptography.hazmat.primitives.asymmetric.dh.generate_parameters": (1, ("key_size",)),
    "M2Crypto.RSA.gen_key": (0, ("bits",)),
}
"""Where the number of bits stands in a call that makes a key: its position and its names."""

_LEAST_BITS = 2048
"""NIST SP 800-57 and SP 800-131A: fewer bits of RSA, DSA or DH are disallowed since 2014."""

_WEAK_CURVES = frozenset(
    {"SECP192R1", "SECT163K1", "SECT163R2", "SECP160R1", "P-192", "p192", "NIST192p", "prime192v1", "SECP112r1"}
)


def weak_ciphers(facts: Facts) -> Iterator[Found]:
    """Look at how ciphers and keys are made."""
    yield from _ecb(facts)
    yield from _vectors(facts)
    yield from _keys(facts)
    yield from _sizes(facts)
    yield from _curves(facts)


def _ecb(facts: Facts) -> Iterator[Found]:
    for call in facts.calls(*_NEW_BLOCK):
        if facts.name(argument(call, 1, "mode")).endswith(".MODE_ECB"):
            yield at("ecb-mode", call)
    for call in facts.calls(f"{_HAZMAT}modes.ECB"):
        yield at("ecb-mode", call)


def _vectors(facts: Facts) -> Iterator[Found]:
    for call in facts.calls(*_MODES):
        if is_static(facts, argument(call, 0, "initialization_vector", "nonce")):
            yield at("static-iv", call)
    for call in facts.calls(*_NEW_BLOCK):
        if is_static(facts, argument(call, 2, "iv", "IV", "nonce")):
            yield at("static-iv", call)
    for call in facts.calls(*_NEW_STREAM):
        if is_static(facts, argument(call, None, "nonce")):
            yield at("static-iv", call)
    for call in facts.of(ast.Call):
        box = call.func.value if isinstance(call.func, ast.Attribute) and call.func.attr == "encrypt" else None
        if facts.made_by(box) in _AEAD and is_static(facts, argument(call, 0, "nonce")):
            yield at("static-iv", call)


def _keys(facts: Facts) -> Iterator[Found]:
    for call in facts.calls(*_NEW_BLOCK, *_NEW_STREAM, *_AEAD, *_ALGORITHMS, _FERNET):
        if is_static(facts, argument(call, 0, "key")):
            yield at("hard-coded-key", call)


def _sizes(facts: Facts) -> Iterator[Found]:
    for call in facts.calls(*_KEY_SIZES):
        position, names = _KEY_SIZES[facts.name(call.func)]
        bits = facts.number(argument(call, position, *names))
        if bits is not None and bits < _LEAST_BITS:
            yield at("short-key", call, f"A key of {bits} bits can be broken; at least {_LEAST_BITS} are needed")
    for call in facts.of(ast.Call):
        if facts.made_by(call.func.value if isinstance(call.func, ast.Attribute) else None) == "OpenSSL.crypto.PKey":
            bits = facts.number(argument(call, 1, "bits"))
            if bits is not None and bits < _LEAST_BITS:
                yield at("short-key", call)


def _curves(facts: Facts) -> Iterator[Found]:
    for call in facts.of(ast.Call):
        name = facts.name(call.func)
        made = name.rsplit(".", 1)[-1]
        if name == "Crypto.PublicKey.ECC.generate":
            made = facts.text(argument(call, None, "curve"))
        elif ".ec." not in name:
            continue
        if made in _WEAK_CURVES:
            yield at("short-key", call)
