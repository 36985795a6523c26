"""Checksums that vendors build into their tokens, and the entropy of a string."""

from __future__ import annotations

import binascii
import zlib
from base64 import b32encode
from collections import Counter
from hashlib import sha256
from math import log2
from typing import Final

BASE36: Final = "0123456789abcdefghijklmnopqrstuvwxyz"
BASE62: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

_LONGEST_TABLED: Final = 512
_N_LOG_N: Final = [0.0, *(n * log2(n) for n in range(1, _LONGEST_TABLED + 1))].__getitem__
_CRC62_WIDTH: Final = 6
_CRC36_WIDTH: Final = 7
_PAT_RANDOM: Final = 8  # random characters at the very end
_PAT_DIGEST: Final = 8  # digest characters before them


def entropy(text: str) -> float:
    """Return the Shannon entropy of *text* in bits a character; 0.0 for an empty string."""
    size = len(text)
    if size > _LONGEST_TABLED:
        return log2(size) - sum(n * log2(n) for n in Counter(text).values()) / size
    return log2(size) - sum(map(_N_LOG_N, Counter(text).values())) / size if size else 0.0


def has_entropy(text: str, minimum: float) -> bool:
    """Say whether the entropy of *text* is at least *minimum* bits a character."""
    size = len(text)
    if size > _LONGEST_TABLED or not size:
        return entropy(text) >= minimum
    # With that many different characters it is lowest when one of them takes all the other places.
    # That decides for nearly every random value, at a fraction of the cost of counting.
    lowest = log2(size) - _N_LOG_N(size - len(set(text)) + 1) / size
    return lowest >= minimum or entropy(text) >= minimum


def encode_base(number: int, alphabet: str, width: int) -> str:
    """Return *number* in the base of *alphabet*, padded on the left to *width*."""
    digits = ""
    while number:
        number, rest = divmod(number, len(alphabet))
        digits = alphabet[rest] + digits
    return digits.rjust(width, alphabet[0])


def is_crc62_valid(body: str) -> bool:
    """Say whether *body* ends with the CRC-32 of the rest, in 6 digits of base 62."""
    payload, check = body[:-_CRC62_WIDTH], body[-_CRC62_WIDTH:]
    return encode_base(zlib.crc32(payload.encode()), BASE62, _CRC62_WIDTH) == check


def is_github_pat_valid(token: str) -> bool:
    """Say whether a ``github_pat_...`` token carries its own digest.

    The 8 characters before the last 8 are the first 8 of base32(SHA-256(everything before these 16,
    prefix included)), in any letter case.
    """
    head = token[: -_PAT_DIGEST - _PAT_RANDOM]
    check = token[-_PAT_DIGEST - _PAT_RANDOM : -_PAT_RANDOM]
    return b32encode(sha256(head.encode()).digest()).decode()[:_PAT_DIGEST] == check.upper()


def is_gitlab_routable_valid(token: str, payload_length: int) -> bool:
    """Say whether a routable GitLab token is whole.

    Its form is ``<prefix><payload>.01.<2 digits of length><7 of CRC-32>``, in base 36.

    Args:
        token: The whole token, prefix included.
        payload_length: Characters between the prefix and ``.01.``.
    """
    head, check = token[:-_CRC36_WIDTH], token[-_CRC36_WIDTH:]
    return (
        encode_base(zlib.crc32(head.encode()), BASE36, _CRC36_WIDTH) == check
        and encode_base(payload_length, BASE36, 2) == head[-2:]
    )


def decode_base64url(text: str) -> bytes | None:
    """Return the bytes of unpadded base64url *text*, or ``None`` when it is not base64."""
    return decode_base64(text.replace("-", "+").replace("_", "/"))


def decode_base64(text: str) -> bytes | None:
    """Return the bytes of base64 *text*, padded or not, or ``None`` when it is not base64."""
    bare = text.rstrip("=")
    try:
        return binascii.a2b_base64(bare + "=" * (-len(bare) % 4))
    except (binascii.Error, ValueError):
        return None
