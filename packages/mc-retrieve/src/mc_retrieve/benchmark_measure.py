"""Measuring two ways of disclosing the same ranking: whole records, or cards and one record.

The production ranker, validity rule, cards and digest are used; there is no ranker for benchmarks.
Source: Cortex contract, section 11; founding document, evidence gates.
"""

from __future__ import annotations

import os
import sys
from math import ceil
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mc_retrieve import bm25, tokenizer
from mc_retrieve.digest import Digest
from mc_retrieve.disclosure import card, full_record
from mc_retrieve.jsontext import format_json
from mc_retrieve.search import read_query
from mc_retrieve.selection import EXPORT_FORMAT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mc_retrieve.record import Record

TOP: Final = 5
SAMPLES: Final = 25
BASELINE: Final = "bm25-baseline"
PROGRESSIVE: Final = "progressive"
PATHS: Final = {BASELINE: "rank-full-records", PROGRESSIVE: "rank-cards-expand-selected"}
_P95: Final = 0.95
_NS_PER_MS: Final = 1e6
_KIB: Final = 1024


class Corpus:
    """Every record in memory, as a benchmark needs it again and again."""

    def __init__(self) -> None:
        self.ids: set[str] = set()
        self.active: list[tuple[Record, bytes, bytes | None]] = []
        self._digest = Digest()

    def take(self, record: Record, content: bytes, folded: bytes | None) -> None:
        """Take in one record of the corpus, active or not."""
        self._digest.take(record, content, folded)
        self.ids.add(record.id)
        if record.is_active:
            self.active.append((record, content, folded))

    def answer(self) -> dict[str, Any]:
        """Return nothing: a benchmark asks its own questions."""
        return {}

    def hexdigest(self) -> str:
        """Return the digest that `rebuild` reports."""
        return self._digest.hexdigest()


class Totals(NamedTuple):
    """What the labels of one run add up to."""

    recall: float
    mrr: float
    temporal: float
    false_recall: float
    tokens: dict[str, int]
    latencies_ms: dict[str, list[float]]
    rankings: int


def measure(corpus: Corpus, labels: Sequence[dict[str, Any]]) -> Totals:
    """Rank each label 25 times and return the means over labels, token sums and latencies."""
    sums = [0.0, 0.0, 0.0, 0.0]
    tokens = {BASELINE: 0, PROGRESSIVE: 0}
    latencies: dict[str, list[float]] = {BASELINE: [], PROGRESSIVE: []}
    contents = {record.id: content for record, content, _ in corpus.active}
    for label in labels:
        top: list[str] = []
        texts: dict[str, str] = {}
        for _ in range(SAMPLES):
            started = perf_counter_ns()
            hits = _rank(corpus, label["query"])
            best = bm25.top(hits, 0, TOP)
            ranked = perf_counter_ns() - started
            for name in PATHS:
                started = perf_counter_ns()
                texts[name] = _payload(name, best, len(hits), contents)
                latencies[name].append((ranked + perf_counter_ns() - started) / _NS_PER_MS)
            top = [hit.record.id for hit in best]
        for place, value in enumerate(_quality(label, top)):
            sums[place] += value
        for name, text in texts.items():
            tokens[name] += ceil(len(text.encode("utf-8")) / 4)
    recall, mrr, temporal, false_recall = (value / len(labels) for value in sums)
    rankings = len(labels) * SAMPLES
    return Totals(recall, mrr, temporal, false_recall, tokens, latencies, rankings)


def percentile_95(values: Sequence[float]) -> float:
    """Return the 95th percentile of *values*, one of them."""
    return sorted(values)[ceil(_P95 * len(values)) - 1]


def _rank(corpus: Corpus, query: str) -> list[bm25.Scored]:
    terms = list(dict.fromkeys(read_query(query, tokenizer.CONTRACT)))
    ranking = bm25.Ranking(tokenizer.make_counter(terms, tokenizer.CONTRACT), len(terms))
    for record, content, folded in corpus.active:
        ranking.add(record, content, folded)
    return ranking.hits(0)


def _payload(name: str, best: Sequence[bm25.Scored], total: int, contents: dict[str, bytes]) -> str:
    """Return the JSON text that an agent would be given."""
    if name == BASELINE:
        items = [full_record(h.record, contents[h.record.id].decode("utf-8")) for h in best]
        return format_json({"format": EXPORT_FORMAT, "items": items})
    cards = [card(hit.record, hit.key) for hit in best]
    first = [full_record(h.record, contents[h.record.id].decode("utf-8")) for h in best[:1]]
    found = {"items": cards, "total": total, "page": 1, "page_size": TOP}
    return format_json({"search": found, "fetch": {"format": EXPORT_FORMAT, "items": first}})


def _quality(label: dict[str, Any], top: list[str]) -> tuple[float, float, float, float]:
    expected = label["expected_ids"]
    recall = sum(wanted in top for wanted in expected) / len(expected)
    ranks = [top.index(wanted) + 1 for wanted in expected if wanted in top]
    mrr = 1 / min(ranks) if ranks else 0.0
    order = label.get("temporal_expected_order", expected)
    false = label.get("false_ids", [])
    false_recall = sum(wrong in top for wrong in false) / len(false) if false else 0.0
    return recall, mrr, _temporal(order, top), false_recall


def _temporal(order: list[str], top: list[str]) -> float:
    places = {record_id: place for place, record_id in enumerate(top)}
    if len(order) < 2:  # noqa: PLR2004 - no pair to judge
        return 1.0 if all(record_id in places for record_id in order) else 0.0
    right = pairs = 0
    for index, earlier in enumerate(order):
        for later in order[index + 1 :]:
            pairs += 1
            right += earlier in places and later in places and places[earlier] < places[later]
    return right / pairs


def process_count() -> int:
    """Return how many processes this one and its descendants are (1 where that cannot be seen)."""
    parents: dict[int, int] = {}
    try:
        numbers = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return 1
    for number in numbers:
        try:
            with open(f"/proc/{number}/stat", "rb") as file:
                fields = file.read().rpartition(b")")[2].split()
        except OSError:
            continue
        parents[number] = int(fields[1])
    family = {os.getpid()}
    while grown := {child for child, parent in parents.items() if parent in family} - family:
        family |= grown
    return len(family)


def peak_rss_bytes() -> int | None:
    """Return the largest resident size of this process so far, ``None`` where it is not told."""
    try:
        import resource
    except ModuleNotFoundError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * _KIB
