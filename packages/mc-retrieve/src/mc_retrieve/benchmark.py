"""`cortex benchmark`: a reproducible measurement of retrieval on the operator's own corpus.

It measures one point in time on one machine; it claims nothing about other corpora.
Source: Cortex contract, section 11.
"""

from __future__ import annotations

import hashlib
import os
import re
from time import time_ns
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from mc_schema.validity import format_timestamp

from mc_retrieve.benchmark_labels import check_ids, read_labels
from mc_retrieve.benchmark_measure import (
    PATHS,
    SAMPLES,
    TOP,
    Corpus,
    Totals,
    measure,
    peak_rss_bytes,
    percentile_95,
    process_count,
)
from mc_retrieve.errors import InvalidInputError, RetrieveError
from mc_retrieve.jsontext import format_json
from mc_retrieve.layout import find_files, pin_root

if TYPE_CHECKING:
    from collections.abc import Sequence

SCHEMA: Final = "lifeos-cortex-benchmark/v1"
FOLDER: Final = "BENCHMARKS"
EXIT_OK: Final = 0
EXIT_INVALID: Final = 4
_OPTIONS: Final = ("--labels", "--memory-root", "--output")
_FLAGS: Final = ("--plot",)
_NAME: Final = re.compile(r"cortex-benchmark-v[0-9]+[-._][A-Za-z0-9._-]+\.json", re.ASCII)


class Outcome(NamedTuple):
    """One run: the report or the failure, and what was written."""

    exit_code: int
    report: dict[str, Any]
    written: tuple[str, ...] = ()
    latencies_ms: dict[str, list[float]] | None = None

    @property
    def text(self) -> str:
        """The JSON text of the report, without a line feed."""
        return format_json(self.report)


def run_benchmark(argv: Sequence[str], *, command: Sequence[str]) -> Outcome:
    """Run a benchmark; every failure is a report with ``ok`` false and exit 4, nothing is raised.

    Args:
        argv: ``--labels FILE --memory-root DIR [--output FILE] [--plot]``, nothing else.
        command: The exact command line, for the report's provenance.
    """
    try:
        return _run(argv, command)
    except (RetrieveError, OSError) as error:
        what = error.what if isinstance(error, RetrieveError) else (error.strerror or "I/O error")
        where = getattr(error, "where", "") or ""
        message = f"{what}: {where}" if where else str(what)
        return Outcome(EXIT_INVALID, {"schema": SCHEMA, "ok": False, "error": message})


def _run(argv: Sequence[str], command: Sequence[str]) -> Outcome:
    options = _parse(argv)
    labels = read_labels(options["--labels"])
    root = pin_root(options["--memory-root"])
    now_ms = time_ns() // 1_000_000
    before = _disk_bytes(root)
    corpus = Corpus()
    _read(root, corpus, now_ms)
    check_ids(labels, corpus.ids)
    totals = measure(corpus, labels)
    sizes = (before, _disk_bytes(root) - before)
    report = _report(labels, totals, corpus, sizes, [format_timestamp(now_ms), *command])
    written: list[str] = []
    if "--output" in options:
        written.append(_write(options["--output"], root, _pretty(report)))
        if "--plot" in options:
            from mc_retrieve.benchmark_plot import render_svg

            svg = written[0].removesuffix(".json") + ".svg"
            _create(svg, render_svg(report, totals.latencies_ms))
            written.append(svg)
    return Outcome(EXIT_OK, report, tuple(written), totals.latencies_ms)


def _read(root: str, corpus: Corpus, now_ms: int) -> None:
    from mc_retrieve.contract import read_records

    read_records(root, corpus, now_ms=now_ms)


def _parse(argv: Sequence[str]) -> dict[str, str]:
    options: dict[str, str] = {}
    words = iter(argv)
    for word in words:
        if not word.startswith("--"):
            raise InvalidInputError("a benchmark takes no positional argument")
        if word not in (*_OPTIONS, *_FLAGS):
            raise InvalidInputError("unknown or inapplicable benchmark option")
        if word in options:
            raise InvalidInputError(f"`{word}` is given twice")
        value = "" if word in _FLAGS else next(words, "")
        if word in _OPTIONS and (not value or value.startswith("--")):
            raise InvalidInputError(f"`{word}` needs a value")
        options[word] = value
    if not {"--labels", "--memory-root"} <= options.keys():
        raise InvalidInputError("`--labels` and `--memory-root` are required")
    if "--plot" in options and "--output" not in options:
        raise InvalidInputError("`--plot` writes beside the report and needs `--output`")
    return options


def _disk_bytes(root: str) -> int:
    return sum(file.size for file in find_files(root))


def _report(
    labels: list[dict[str, Any]],
    totals: Totals,
    corpus: Corpus,
    sizes: tuple[int, int],
    origin: list[str],
) -> dict[str, Any]:
    generated_at, *command = origin
    processes, peak = process_count(), peak_rss_bytes()
    configs = [
        {
            "name": name,
            "recall_at_5": totals.recall,
            "mrr": totals.mrr,
            "temporal_accuracy": totals.temporal,
            "false_recall": totals.false_recall,
            "injected_tokens": totals.tokens[name],
            "p95_latency_ms": percentile_95(totals.latencies_ms[name]),
            "latency_samples": len(totals.latencies_ms[name]),
            "disk_bytes": sizes[0],
            "disk_growth_bytes": sizes[1],
            "process_count": processes,
            "peak_rss_bytes": peak,
            "execution_path": path,
        }
        for name, path in PATHS.items()
    ]
    return {
        "schema": SCHEMA,
        "generated_at": generated_at,
        "labels": len(labels),
        "configs": configs,
        "vector_config": None,
        "measurements": {
            "corpus_tokenizations": totals.rankings,
            "ranking_runs": totals.rankings,
            "latency_samples_per_query": SAMPLES,
        },
        "provenance": {
            "corpus_digest": corpus.hexdigest(),
            "labels_digest": hashlib.sha256(format_json(labels).encode("utf-8")).hexdigest(),
            "command": command,
            "generated_at": generated_at,
            "config": {
                "ranker": "Cortex.rankBM25",
                "validity": "Cortex.activeCortexRecords",
                "disclosure_payloads": ["full-fetch", "cards-expand-selected"],
                "top_k": TOP,
                "latency_samples_per_query": SAMPLES,
            },
        },
    }


def _pretty(report: dict[str, Any]) -> str:
    import json

    return json.dumps(report, ensure_ascii=False, indent=2) + "\n"


def _write(output: str, root: str, text: str) -> str:
    """Create the report below ``BENCHMARKS``, never over an existing file; return its path."""
    folder = os.path.join(root, FOLDER)
    wanted = os.path.dirname(os.path.abspath(output))
    if not os.path.lexists(folder) and os.path.realpath(wanted) == folder:
        os.mkdir(folder)
    inside = os.path.realpath(wanted)
    if inside != folder and not inside.startswith(folder + os.sep):
        raise InvalidInputError(f"`--output` must lie in {FOLDER} of the memory root")
    name = os.path.basename(output)
    if not _NAME.fullmatch(name):
        raise InvalidInputError("`--output` must be named cortex-benchmark-vN-*.json")
    path = os.path.join(inside, name)
    _create(path, text)
    return path


def _create(path: str, text: str) -> None:
    try:
        with open(path, "x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except FileExistsError:
        raise InvalidInputError("the report exists already and is never overwritten") from None
