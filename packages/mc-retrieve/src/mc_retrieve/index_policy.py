"""The index policy: a positive marker that no index is used, or a manifest that proves one.

With a valid marker and no manifest no corpus file is opened. Source: Cortex contract, sections 12
and 15; founding document, evidence gates.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
from typing import TYPE_CHECKING, Any, Final

from mc_schema.validity import parse_timestamp

if TYPE_CHECKING:
    from collections.abc import Mapping

POLICY_SCHEMA: Final = "lifeos-cortex-index-policy/v1"
NO_INDEX: Final = "no-index-v1"
MANIFEST_SCHEMA: Final = "lifeos-cortex-index/v1"
MARKER: Final = {"schema": POLICY_SCHEMA, "policy": NO_INDEX}
"""The whole content of `CORTEX_INDEX_POLICY.json`."""

_EXITS: Final = {"ok": 0, NO_INDEX: 0, "absent": 1}
_CRITICAL: Final = 2

_HASH: Final = re.compile(r"[0-9a-f]{64}")
_MANIFEST_KEYS: Final = {"schema", "canonical_sha256", "index_path", "index_sha256", "indexed_at"}
_MAX_BYTES: Final = 1 << 20
_CHUNK: Final = 1 << 20


def index_evidence(manifest: str, policy: str, memory: str, *, now_ms: int) -> dict[str, Any]:
    """Return the index state: ``no-index-v1``, ``absent``, ``ok``, ``mismatch`` or ``invalid``.

    Args:
        manifest: Path of the adopted index's manifest; when it is there it goes before the marker.
        policy: Path of the index-policy marker.
        memory: The memory root that the index was built from.
        now_ms: The clock, milliseconds since 1970.
    """
    known = {"manifest": manifest, "measuredAt": now_ms}
    if os.path.lexists(manifest):
        return {"status": "invalid", **known} | _verified(manifest, memory, now_ms)
    known = {"manifest": manifest, "policy": policy, "measuredAt": now_ms}
    if not os.path.lexists(policy):
        return {"status": "absent", **known}
    return {"status": NO_INDEX if _read_object(policy) == MARKER else "invalid", **known}


def exit_of(status: str) -> int:
    """Return the exit code of `cortex index status`: 0 proven, 1 no evidence, 2 wrong."""
    return _EXITS.get(status, _CRITICAL)


def _verified(manifest: str, memory: str, now_ms: int) -> dict[str, Any]:
    """Return what the manifest proves, nothing when it proves nothing."""
    content = _read_object(manifest)
    index = _index_path(content, manifest, memory)
    if content is None or index is None:
        return {}
    indexed_at = parse_timestamp(content["indexed_at"])
    canonical, digest = _corpus_digest(memory, now_ms), _file_digest(index)
    if indexed_at is None or canonical is None or digest is None:
        return {}
    matches = (canonical, digest) == (content["canonical_sha256"], content["index_sha256"])
    return {
        "status": "ok" if matches else "mismatch",
        "canonicalHash": canonical,
        "manifestCanonicalHash": content["canonical_sha256"],
        "indexHash": digest,
        "manifestIndexHash": content["index_sha256"],
        "indexPath": index,
        "indexedAt": content["indexed_at"],
        "ageMs": now_ms - indexed_at,
    }


def _index_path(content: Mapping[str, Any] | None, manifest: str, memory: str) -> str | None:
    """Return the real path of the index, when the manifest is well formed and both lie inside."""
    if content is None or set(content) != _MANIFEST_KEYS:
        return None
    if content["schema"] != MANIFEST_SCHEMA or not all(
        isinstance(v, str) for v in content.values()
    ):
        return None
    if not all(_HASH.fullmatch(content[key]) for key in ("canonical_sha256", "index_sha256")):
        return None
    folder = os.path.realpath(os.path.dirname(manifest))
    if not _is_inside(os.path.realpath(manifest), os.path.realpath(memory)):
        return None
    written = content["index_path"]
    if not written or os.path.isabs(written) or "\0" in written:
        return None
    index = os.path.join(folder, *written.split("/"))
    if os.path.realpath(index) != os.path.normpath(index) or not _is_inside(index, folder):
        return None
    return os.path.normpath(index) if _is_file(index) else None


def _is_inside(path: str, folder: str) -> bool:
    return os.path.normpath(path).startswith(os.path.normpath(folder) + os.sep)


def _is_file(path: str) -> bool:
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:
        return False


def _read_object(path: str) -> dict[str, Any] | None:
    if not _is_file(path) or os.path.getsize(path) > _MAX_BYTES:
        return None
    try:
        with open(path, "rb") as file:
            content = json.loads(file.read().decode("utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None


def _file_digest(path: str) -> str | None:
    digest = hashlib.sha256()
    try:
        with open(path, "rb") as file:
            while chunk := file.read(_CHUNK):
                digest.update(chunk)
    except OSError:
        return None
    return digest.hexdigest()


def _corpus_digest(memory: str, now_ms: int) -> str | None:
    from mc_retrieve.corpus import read_corpus
    from mc_retrieve.digest import Digest
    from mc_retrieve.errors import RetrieveError

    digest = Digest()
    try:
        read_corpus(memory, digest.take, now_ms=now_ms)
    except (RetrieveError, OSError):
        return None
    return digest.hexdigest()
