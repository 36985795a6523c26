"""`forget`: removing every complete unit that holds a topic.

Soft leaves a tombstone with the topic, hard one generic guard, purge nothing and searches the
archive too. Text that is no complete unit is a blocker: a person must rewrite it.

Source: design 5 and 6, guide 八, protocol 0.5 page B8.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mc_schema.private import strip_private
from mc_schema.textsafety import require_line

from mc_plan.draft import (
    BY_PROTOCOL,
    Blocker,
    Confirmation,
    Draft,
    Operation,
    Request,
)
from mc_plan.errors import InputError
from mc_plan.operations.exposure import exposes_private_text
from mc_plan.operations.forget_search import (
    BLOCKER,
    DO_NOT_USE,
    HARD,
    MATCH,
    MODES,
    PURGE,
    SOFT,
    TOMBSTONE,
    Hit,
    Matcher,
    search_memory,
)
from mc_plan.operations.links import without_links
from mc_plan.operations.tombstone import with_generic_guard, with_tombstone
from mc_plan.redaction import Redactor

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mc_plan.draft import Builder
    from mc_plan.pending import Seed
    from mc_plan.snapshot import Snapshot

_CHANGELOG: Final = "changelog.md"
ALLOW_BROAD: Final = "--allow-broad-match"
_NARROW_CHARACTERS: Final = 4
_PURGE_WARNING: Final = (
    "copies outside the memory directory stay: version control history, clones, backups, "
    "agent transcripts"
)


class ForgetResult(NamedTuple):
    """What the renderer shows; in private modes nothing of it holds the topic."""

    mode: str
    searched: tuple[str, ...]
    matches: tuple[tuple[str, int, str], ...]
    """``(repo-relative path, line, id or kind)`` of each unit that goes."""
    tombstones: int
    manual: tuple[tuple[str, int, str], ...]
    """Places that only a person can rewrite."""
    broad: bool
    archived: int
    """Units that match in the archive and stay (hard mode)."""
    tombstone: str
    """Id or heading of the tombstone that is written, else empty."""

    def as_data(self) -> Mapping[str, Any]:
        """Return JSON values."""
        return {
            "mode": self.mode,
            "searched_files": list(self.searched),
            "matches": [{"path": p, "line": n, "what": w} for p, n, w in self.matches],
            "matched_tombstones": self.tombstones,
            "manual": [{"path": p, "line": n, "what": w} for p, n, w in self.manual],
            "broad_match": self.broad,
            "archived_matches": self.archived,
            "tombstone": self.tombstone or None,
        }


def require_topic(text: str) -> str:
    """Return the topic written in *text*, trimmed and without private spans.

    Raises:
        InvalidTextError: It is empty, has more than one line, or holds control characters.
    """
    return require_line(strip_private(text), "topic")


def forget_request(
    topic: str, mode: str, *, allow_broad: bool = False, apply_command: str = ""
) -> Request:
    """Return the request of one `forget`; *topic* comes from `require_topic`."""
    if mode not in MODES:
        raise InputError(f"unknown mode `{mode}`", hint=f"use one of {', '.join(MODES)}")
    private = mode != SOFT
    return Request(
        command="forget",
        arguments={"topic": topic, "mode": mode},
        confirmation=BY_PROTOCOL,
        given_flags=frozenset([ALLOW_BROAD] if allow_broad else []),
        apply_command=apply_command,
        private=private,
        private_terms=(topic,) if private else (),
    )


def build_forget(topic: str, mode: str) -> Builder:
    """Return the builder of one `forget`."""

    def build(snapshot: Snapshot, seed: Seed) -> Draft:
        return _Forgetting(snapshot, seed, topic, mode).draft()

    return build


class _Forgetting:
    """The steps of one forget over one snapshot."""

    def __init__(self, snapshot: Snapshot, seed: Seed, topic: str, mode: str) -> None:
        self.snapshot = snapshot
        self.seed = seed
        self.topic = topic
        self.mode = mode
        self.search = search_memory(snapshot, topic, mode)
        self.texts = {name: doc.text for name, doc in self.search.documents.items()}
        self.blockers = [self._manual_blocker(hit) for hit in self.search.of_kind(BLOCKER)]
        self.tombstone = ""

    def draft(self) -> Draft:
        removed = self._remove_units()
        if removed:
            for name, text in self.texts.items():
                self.texts[name] = without_links(text, removed)
        self._write_tombstone()
        self._require_gone()
        gone = self._gone()
        return Draft(
            operations=self._operations(gone),
            changes=self._changes(gone),
            warnings=[_PURGE_WARNING] if self.mode == PURGE else [],
            blockers=self.blockers,
            confirmations=self._confirmations(),
            budget=self._budget(),
            result=self._result(gone),
        )

    def _gone(self) -> list[Hit]:
        return [hit for hit in self.search.hits if hit.kind in (MATCH, TOMBSTONE)]

    def _remove_units(self) -> set[str]:
        """Take the matching units out of the texts; return the ids that went."""
        removed: set[str] = set()
        by_file: dict[str, list[Hit]] = {}
        for hit in self._gone():
            by_file.setdefault(hit.path, []).append(hit)
            if hit.what.startswith("MC-"):
                removed.add(hit.what)
        for name, hits in by_file.items():
            document = self.search.documents[name]
            text = document.remove_units([hit.unit for hit in hits if hit.unit is not None])
            if exposes_private_text(document.text, text):
                self.blockers.append(
                    Blocker(
                        "private_span",
                        "a unit to remove holds one end of a private span that reaches further",
                        self.snapshot.project.memory_file(name),
                        "close the span inside the unit, or remove the text by hand",
                    )
                )
            self.texts[name] = text
        return removed

    def _write_tombstone(self) -> None:
        if self.mode == PURGE:
            return
        text = self.texts.get(DO_NOT_USE)
        if text is None:
            raise InputError(
                "the file for tombstones is missing",
                where=self.snapshot.project.memory_file(DO_NOT_USE),
                hint="`memory-custodian init --repair` creates it",
                code="missing_file",
            )
        add = with_tombstone if self.mode == SOFT else with_generic_guard
        ids = {hit.what for hit in self.search.hits}
        self.texts[DO_NOT_USE], self.tombstone = add(
            text, self.topic, self.snapshot, self.seed, taken=ids
        )

    def _require_gone(self) -> None:
        """Refuse when the topic would stay somewhere although nothing blocked."""
        if self.mode == SOFT or self.blockers:
            return
        matcher = Matcher(self.topic)
        for name in self.search.searched:
            if matcher.is_in(self.texts[name]):
                self.blockers.append(
                    Blocker(
                        "manual_rewrite",
                        "the topic would stay in a place that is no complete unit",
                        self.snapshot.project.memory_file(name),
                        "rewrite it by hand, then preview again",
                    )
                )

    def _changes(self, gone: list[Hit]) -> dict[str, bytes | None]:
        from mc_plan.operations.changelog import with_record

        names = sorted({hit.path for hit in gone})
        project = self.snapshot.project
        changelog = self.texts.get(_CHANGELOG)
        if changelog is not None and (gone or self.tombstone):
            record = self._record(names)
            self.texts[_CHANGELOG] = with_record(changelog, self.seed.iso_date, record)
        return {
            project.memory_file(name): text.encode("utf-8")
            for name, text in self.texts.items()
            if text != self.search.documents[name].text
        }

    def _record(self, names: list[str]) -> str:
        """Name ids and files, never text; private modes name neither ids nor topic."""
        redactor = self._redactor()
        files = ", ".join(redactor.text(name) for name in names) or "no file"
        if self.mode != SOFT:
            return f"Removed memory on request ({self.mode}) from {files}."
        ids = [hit.what for hit in self._gone() if hit.what.startswith("MC-")]
        named = f": {', '.join(ids)}" if ids else ""
        count = len(self._gone())
        return f"Forgot {count} {'entry' if count == 1 else 'entries'} from {files}{named}."

    def _redactor(self) -> Redactor:
        return Redactor((self.topic,) if self.mode != SOFT else ())

    def _operations(self, gone: list[Hit]) -> list[Operation]:
        steps = [
            Operation(f"Remove {hit.what} (line {hit.line})", self._path(hit.path)) for hit in gone
        ]
        touched = {hit.path for hit in gone} | {DO_NOT_USE, _CHANGELOG}
        steps += [
            Operation("Clean the links to removed entries", self._path(name))
            for name, text in sorted(self.texts.items())
            if name not in touched and text != self.search.documents[name].text
        ]
        if self.tombstone:
            steps.append(Operation(f"Write the tombstone {self.tombstone}", self._path(DO_NOT_USE)))
        if _CHANGELOG in self.texts and steps:
            steps.append(Operation("Record it in the changelog", self._path(_CHANGELOG)))
        return steps

    def _path(self, name: str) -> str:
        return self.snapshot.project.memory_file(name)

    def _is_broad(self) -> bool:
        letters = "".join(self.topic.split())
        return len(letters) < _NARROW_CHARACTERS or len(self.search.hits) > 1

    def _confirmations(self) -> list[Confirmation]:
        if not self._is_broad():
            return []
        return [Confirmation(ALLOW_BROAD, "the topic is short or touches more than one unit")]

    def _budget(self) -> list[Any]:
        from mc_plan.operations.budgets import budget_lines

        return budget_lines(
            self.snapshot, {n: d.text for n, d in self.search.documents.items()}, self.texts
        )

    def _manual_blocker(self, hit: Hit) -> Blocker:
        where = self._path(hit.path) + (f":{hit.line}" if hit.line else "")
        return Blocker(
            "manual_rewrite",
            f"{hit.what} holds the topic and is no complete entry",
            where,
            "rewrite or rename it by hand, then preview again",
        )

    def _result(self, gone: list[Hit]) -> ForgetResult:
        redactor = self._redactor()

        def shown(hit: Hit) -> tuple[str, int, str]:
            return redactor.text(self._path(hit.path)), hit.line, redactor.text(hit.what)

        return ForgetResult(
            mode=self.mode,
            searched=tuple(redactor.text(self._path(name)) for name in self.search.searched),
            matches=tuple(shown(hit) for hit in gone),
            tombstones=len(self.search.of_kind(TOMBSTONE)),
            manual=tuple(shown(hit) for hit in self.search.of_kind(BLOCKER)),
            broad=self._is_broad(),
            archived=self.search.archived if self.mode == HARD else 0,
            tombstone=self.tombstone,
        )
