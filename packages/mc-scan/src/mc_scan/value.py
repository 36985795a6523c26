"""Which values next to a secret name count: opaque strings, not words, types, calls or paths.

Source: rules page, 2.1.
"""

from __future__ import annotations

import re
from typing import Final

from mc_scan.checksum import has_entropy
from mc_scan.pattern import lazy

MIN_VALUE: Final = 8
MAX_VALUE: Final = 512
MIN_PASSWORD: Final = 6
MAX_PASSWORD: Final = 128

_PROSE_ENTROPY: Final = 3.0
_DIGIT: Final = lazy(r"[0-9]")
_PIECE: Final = lazy(r"[A-Za-z0-9]{1,512}")
_DIGIT_PIECE: Final = lazy(r"[A-Za-z]{0,64}[0-9][A-Za-z0-9]{0,512}")
_LONGEST_KNOWN_WORD: Final = 12
# Names of algorithms and products whose digits say nothing about the value they stand in.
_KNOWN_WORD: Final = lazy(
    r"1password|2fa|argon2(?:id|i|d)?|oauth[12]|auth0|oauth20|sha(?:1|2|3|224|256|384|512)|md[245]"
    r"|base(?:16|32|36|58|62|64|85)(?:url)?|utf(?:8|16|32)(?:le|be)?|x(?:509|25519|448)|ed(?:25519|448)"
    r"|(?:hs|rs|es|ps)(?:256|384|512)|hmacsha(?:1|256|512)|aes(?:128|192|256)(?:gcm|cbc)?|rsa(?:1024|2048|3072|4096)"
    r"|pbkdf2|blake[23][bs]?|ripemd160|crc32c?|secp(?:256|384|521)[kr]1|p(?:256|384|521)|prime256v1"
    r"|chacha20|poly1305|http[123]|h[23]c?|ipv[46]|tls1[0-3]?|k8s|s3|ec2|route53|neo4j|log4j|web3|i18n|l10n"
    r"|a11y|x86|x64|amd64|arm64|win(?:32|64)|python[23]|py[23]|u?int(?:8|16|32|64|128|256)|float(?:32|64)"
    r"|[ui](?:8|16|32|64|128)|f(?:32|64)|bytes(?:4|16|20|32)|v[0-9]{1,3}|pkcs(?:1|5|7|8|11|12)",
    re.IGNORECASE,
)
# `utf-8`, `x-509`, `sha-256`: the digits stand apart from the word.
_KNOWN_PAIR: Final = lazy(
    r"(?:utf|sha|aes|rsa|x|p|hs|rs|es|base|iso|tls|http|oauth|pkcs|md|v|ipv|blake|ripemd|crc|chacha)"
    r"[-_ .]?[0-9]{1,5}(?:\.[0-9]{1,2})?(?![A-Za-z0-9])",
    re.IGNORECASE,
)
_DATE_LIKE: Final = lazy(
    # Dates and times, versions and addresses, durations and sizes.
    r"[0-9]{4}-[0-9]{2}(?:-[0-9]{2}(?:[T ][0-9:.]{4,15}(?:Z|[+-][0-9:]{2,6})?)?)?"
    r"|v?[0-9]{1,5}(?:\.[0-9]{1,5}){1,4}(?:[-+][A-Za-z0-9.]{1,20})?"
    r"|[0-9]{1,2}[/.][0-9]{1,2}[/.][0-9]{2,4}"
    r"|[0-9][0-9.,]{0,12}[-_ ]?(?:s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|weeks?"
    r"|months?|years?"
    r"|ms|[kmg]i?b|bytes?|bits?|chars?|characters?|digits?|tokens?|words?|x|px|%)",
    re.IGNORECASE,
)
_DATE_LEADS: Final = frozenset("0123456789vV")
_TYPE_LEADS: Final = frozenset("SsbifnaoOdlNuUvtPC")
_DIGIT_APART: Final = lazy(r"[-_ .][0-9]")
_CALL_OR_INDEX: Final = lazy(r"&?[A-Za-z_][A-Za-z0-9_.:>-]{0,200}[(\[]")
_LOOKUP: Final = lazy(r"[A-Za-z_]{1,80}(?:(?:\.|->|::|\?\.)[A-Za-z_]{1,80}){1,8}")
_TYPE: Final = lazy(
    r"(?:(?:Secret)?[Ss]tr(?:ing)?|bytes|int|integer|float|number|bool(?:ean)?|any|object|dict|list|null|None|"
    r"undefined|varchar|text|uuid|Path|Option|Optional|Union|Sequence|Callable)(?:\[.{0,80}|\?|\(.{0,40}|\|.{0,80})?"
)
_PATH: Final = lazy(r"(?:\.{0,2}|~[A-Za-z0-9_-]{0,32})/|[A-Za-z]:[\\/]|\\\\")
_FILE_NAME: Final = lazy(
    r"[A-Za-z0-9_.@/\\ -]{1,200}\.(?:pem|key|pub|crt|cer|p12|pfx|jks|ppk|asc|gpg|json[5l]?|ya?ml|"
    r"toml|ini|cfg|conf|env|"
    r"properties|txt|md|mdx|rst|html?|xml|csv|log|lock|py|js|ts|jsx|tsx|mjs|go|rs|rb|sh|ps1|php|java|kt|swift|"
    r"c|h|cpp|cs|sql|db|sqlite3?|tf|tfvars|gz|zip|tar|kdbx|age|sops|secret|dist|local|example)",
    re.IGNORECASE,
)
_URL: Final = lazy(r"[a-z][a-z0-9+.-]{1,30}://|mailto:|urn:")
_EMAIL: Final = lazy(r"[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{2,63}\.[A-Za-z.]{2,40}")
# Publishable keys, object ids, public keys and digests.
_NO_SECRET: Final = lazy(
    r"pk_(?:live|test)_|(?:cus|price|pi|prod|sub)_[A-Za-z0-9]{8}|(?:ssh-(?:rsa|ed25519)|ecdsa-sha2)\b"
    r"|(?:sha(?:1|256|384|512)|md5|SHA(?:1|256|384|512)|MD5)[:-]"
)
# A regular expression, as documents about tokens show them: `ghp_[A-Za-z0-9]{36}`.
_EXPRESSION: Final = lazy(r"\[[^\]]{0,80}[A-Za-z0-9]-[A-Za-z0-9][^\]]{0,80}\](?:[{+*?]|\Z|[)|])")
_TITLE: Final = lazy(
    r"(?:[A-Z]?[a-z]{1,20}|[A-Z]{1,20})"
    r"(?:[-_ ./'&]{1,2}(?:[A-Z]?[a-z]{1,20}|[A-Z]{1,20})){0,20}[.!?:]?"
)
_PLAIN_WORD: Final = lazy(
    r"[A-Za-z]{1,24}[.,:;!?]?|[0-9]{1,4}[.,:;!?%+]?|[A-Za-z]{1,20}[-'][A-Za-z]{1,20}[.,;]?"
)
_MIN_PROSE_WORDS: Final = 3


def is_secret_value(
    value: str,
    *,
    is_quoted: bool,
    is_whole_line: bool,
    is_in_prose: bool,
    is_password: bool,
    is_passphrase: bool = False,
) -> bool:
    """Say whether *value* could be a secret, placeholders aside (see `placeholder.is_filler`).

    Args:
        value: The text after the operator, without quotes.
        is_quoted: It stood between quotes or backticks.
        is_whole_line: The line is nothing but ``name=value``; no digit is needed then.
        is_in_prose: More words follow a bare value on its line.
        is_password: The name is a password name: 6-128 characters instead of 8-512.
        is_passphrase: The name says that the value is made of words.
    """
    low, high = (MIN_PASSWORD, MAX_PASSWORD) if is_password else (MIN_VALUE, MAX_VALUE)
    if not low <= len(value) <= high or value.isdigit():
        return False
    if has_telling_digit(value):
        if is_in_prose and not _stands_out(value):
            return False
    elif not is_whole_line and not (is_quoted and _is_mixed_with_symbol(value)):
        return False
    return not is_ordinary(value, is_quoted=is_quoted, may_be_words=is_passphrase)


def has_telling_digit(value: str) -> bool:
    """Say whether *value* holds a digit outside known words such as ``oauth2`` or ``sha256``."""
    if _DIGIT.search(value) is None:
        return False
    if value.isalnum():
        return len(value) > _LONGEST_KNOWN_WORD or _KNOWN_WORD.fullmatch(value) is None
    rest = _KNOWN_PAIR.sub("", value) if _DIGIT_APART.search(value) else value
    for piece in _DIGIT_PIECE.findall(rest):
        if len(piece) > _LONGEST_KNOWN_WORD or _KNOWN_WORD.fullmatch(piece) is None:
            return True
    return False


def is_ordinary(value: str, *, is_quoted: bool, may_be_words: bool = False) -> bool:
    """Say whether *value* is a type, call, lookup, path, URL, file name, date, version or prose."""
    # The plain tests before the patterns are for speed alone: each pattern needs what they ask for.
    if value[0] in _DATE_LEADS and _DATE_LIKE.fullmatch(value):
        return True
    if value[0] in _TYPE_LEADS and _TYPE.fullmatch(value):
        return True
    return not value.isalnum() and (
        (not is_quoted and _CALL_OR_INDEX.match(value) is not None)
        or _LOOKUP.fullmatch(value) is not None
        or ("/" in value and _is_path(value))
        or ("\\" in value and _PATH.match(value) is not None)
        or (":" in value and _URL.match(value) is not None)
        or ("." in value and _FILE_NAME.fullmatch(value) is not None)
        or ("@" in value and _EMAIL.fullmatch(value) is not None)
        or ("]" in value and _EXPRESSION.search(value) is not None)
        or _NO_SECRET.match(value) is not None
        or (not may_be_words and " " in value and _is_prose(value))
    )


def is_made_of_words(value: str) -> bool:
    """Say whether *value* joins words and numbers, as `after-3600-seconds` does."""
    pieces = _PIECE.findall(value)
    return len(pieces) > 1 and all(piece.isalpha() or piece.isdigit() for piece in pieces)


def _stands_out(value: str) -> bool:
    """Say whether a bare value in running text is more than a word: mixed, symbol, or entropy."""
    is_mixed = value.upper() != value and value.lower() != value and not value.istitle()
    has_symbol = any(not c.isalnum() and c not in "-_./'’" for c in value)
    return is_mixed or has_symbol or has_entropy(value, _PROSE_ENTROPY)


def _is_mixed_with_symbol(value: str) -> bool:
    if value.upper() == value or value.lower() == value or _TITLE.fullmatch(value):
        return False
    return any(not character.isalnum() and not character.isspace() for character in value)


def _is_path(value: str) -> bool:
    if _PATH.match(value):
        # An unpadded base64 value may start with a slash; its pieces do not look like names.
        return not (value[0] == "/" and _looks_random(value))
    return "/" in value and not _looks_random(value)


def _looks_random(value: str) -> bool:
    """Say whether a value with slashes is base64: digits and both cases in one piece."""
    return "://" not in value and any(
        len(piece) >= MIN_VALUE
        and _DIGIT.search(piece)
        and piece.upper() != piece
        and piece.lower() != piece
        for piece in re.split(r"[/.]", value)
    )


def _is_prose(value: str) -> bool:
    words = value.split()
    plain = sum(_PLAIN_WORD.fullmatch(word) is not None for word in words)
    return len(words) >= _MIN_PROSE_WORDS and plain >= len(words) - 1
