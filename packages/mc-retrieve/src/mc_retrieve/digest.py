"""The proof that the records can be rebuilt: the digest of their canonical form, twice.

Source: Cortex contract, section 8 (rebuild).
"""

from __future__ import annotations

from hashlib import sha256
from json import JSONDecoder
from json.encoder import encode_basestring as quote

from mc_retrieve.disclosure import full_record
from mc_retrieve.graph import read_links

TYPE_CHECKING = False  # importing `typing` costs a command more than reading a hundred records
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Final

    from mc_retrieve.record import Record

REBUILD_FORMAT: Final = "lifeos-cortex-canonical-rebuild/v1"

_decode: Final = JSONDecoder().raw_decode


class Digest:
    """The digest of a corpus: give it every record, then ask for the answer.

    Kept of a record is its canonical text and nothing else, for the order of the digest is that of
    the ids.
    """

    def __init__(self) -> None:
        self._texts: list[tuple[str, bytes]] = []

    def __len__(self) -> int:
        return len(self._texts)

    def take(self, record: Record, content: bytes, folded: bytes | None) -> None:
        """Take in one record of the corpus, active or not."""
        del folded
        read_links(record, content)
        self.add(record.id, canonical_text(full_record(record, content.decode("utf-8"))))

    def add(self, record_id: str, text: str) -> None:
        """Take in the canonical text of one record."""
        self._texts.append((record_id, text.encode("utf-8")))

    def hexdigest(self, changed: Mapping[str, str] | None = None) -> str:
        """Return SHA-256 of the canonical JSON text of all records, sorted by id.

        Args:
            changed: By id, texts that stand in for those taken.
        """
        self._texts.sort()
        digest = sha256(b"[")
        for place, (record_id, text) in enumerate(self._texts):
            if changed and record_id in changed:
                text = changed[record_id].encode("utf-8")  # noqa: PLW2901 - the one that stands in
            digest.update(b"," + text if place else text)
        digest.update(b"]")
        return digest.hexdigest()


class Rebuild:
    """The proof: the digest of the records, and of what their JSON text reads back as."""

    def __init__(self) -> None:
        self._digest = Digest()
        self._changed: dict[str, str] = {}

    def take(self, record: Record, content: bytes, folded: bytes | None) -> None:
        """Take in one record of the corpus, active or not."""
        del folded
        read_links(record, content)
        value = full_record(record, content.decode("utf-8"))
        text = canonical_text(value)
        self._digest.add(record.id, text)
        rebuilt, _ = _decode(text)
        # Equal values have equal texts, so only a difference needs to be written and hashed again.
        if rebuilt != value:
            self._changed[record.id] = canonical_text(rebuilt)

    def answer(self) -> dict[str, Any]:
        """Return both digests and whether they agree."""
        canonical = self._digest.hexdigest()
        rebuilt = self._digest.hexdigest(self._changed) if self._changed else canonical
        return {
            "format": REBUILD_FORMAT,
            "canonical_digest": canonical,
            "rebuilt_digest": rebuilt,
            "equivalent": canonical == rebuilt,
            "records": len(self._digest),
            "indexes": [],
        }


def canonical_text(value: Mapping[str, Any]) -> str:
    """Return the JSON text of a full record.

    It is `jsontext.format_json` of *value*, put together without looking at types.
    """
    provenance = value["provenance"]
    links = ",".join([quote(link) for link in value["related"]])
    return (
        f'{{"id":{quote(value["id"])},"type":{quote(value["type"])}'
        f',"title":{quote(value["title"])},"created":{quote(value["created"])}'
        f',"updated":{quote(value["updated"])}'
        f',"provenance":{{"source":{quote(provenance["source"])}'
        f',"session":{_quote_or_null(provenance["session"])}'
        f',"path":{quote(provenance["path"])}}}'
        f',"content":{_quote_content(value["content"])},"related":[{links}]'
        f',"valid_from":{_quote_or_null(value["valid_from"])}'
        f',"valid_until":{_quote_or_null(value["valid_until"])}}}'
    )


def _quote_or_null(text: str | None) -> str:
    return "null" if text is None else quote(text)


def _quote_content(text: str) -> str:
    # A content holds no control character but these three, which is what makes this the faster way.
    text = text.replace("\\", "\\\\").replace('"', '\\"')
    text = text.replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")
    return f'"{text}"'
