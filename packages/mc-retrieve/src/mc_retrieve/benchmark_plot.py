"""A benchmark as a picture (SVG) and as a table, both from the report's own numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_WIDTH: Final = 760
_HEIGHT: Final = 600
_LEFT: Final = 190
_BAR: Final = 420
_COLOURS: Final = ("#4269d0", "#efb118")
_QUALITY: Final = (
    ("Recall@5", "recall_at_5"),
    ("MRR", "mrr"),
    ("Temporal accuracy", "temporal_accuracy"),
    ("False recall", "false_recall"),
)
_BINS: Final = 24


def render_svg(report: Mapping[str, Any], latencies_ms: Mapping[str, Sequence[float]]) -> str:
    """Return an SVG with quality, injected tokens and latencies of the two disclosures."""
    configs = report["configs"]
    size = f'width="{_WIDTH}" height="{_HEIGHT}" viewBox="0 0 {_WIDTH} {_HEIGHT}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="13">',
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#ffffff"/>',
        _text(20, 28, "Cortex retrieval benchmark", size=18),
        _text(20, 48, f"{report['labels']} labels, {report['generated_at']}", colour="#666666"),
        *_legend([config["name"] for config in configs]),
        *_quality_bars(configs),
        *_token_bars(configs),
        *_histogram(configs, latencies_ms),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def render_table(report: Mapping[str, Any]) -> str:
    """Return the report's figures as a table for a terminal."""
    rows = [
        ("", *(config["name"] for config in report["configs"])),
        *((label, *(f"{c[key]:.3f}" for c in report["configs"])) for label, key in _QUALITY),
        ("Injected tokens", *(f"{c['injected_tokens']:,}" for c in report["configs"])),
        ("p95 latency, ms", *(f"{c['p95_latency_ms']:.2f}" for c in report["configs"])),
        ("Latency samples", *(f"{c['latency_samples']:,}" for c in report["configs"])),
        ("Corpus bytes", *(f"{c['disk_bytes']:,}" for c in report["configs"])),
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [
        "  ".join(
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    return "\n".join(lines) + "\n"


def _text(x: float, y: float, text: str, *, size: int = 13, colour: str = "#222222") -> str:
    escaped = text.replace("&", "&amp;").replace("<", "&lt;")
    return f'<text x="{x:.0f}" y="{y:.0f}" font-size="{size}" fill="{colour}">{escaped}</text>'


def _bar(y: float, share: float, colour: str, label: str) -> list[str]:
    width = max(1.0, share * _BAR)
    return [
        f'<rect x="{_LEFT}" y="{y:.0f}" width="{width:.1f}" height="13" fill="{colour}"/>',
        _text(_LEFT + width + 6, y + 11, label),
    ]


def _legend(names: Sequence[str]) -> list[str]:
    parts = []
    for place, (name, colour) in enumerate(zip(names, _COLOURS, strict=True)):
        x = 430 + place * 150
        parts.append(f'<rect x="{x}" y="37" width="12" height="12" fill="{colour}"/>')
        parts.append(_text(x + 18, 48, name))
    return parts


def _quality_bars(configs: Sequence[Mapping[str, Any]]) -> list[str]:
    parts = [_text(20, 84, "Quality (the same ranking for both)", size=14)]
    for row, (label, key) in enumerate(_QUALITY):
        y = 98 + row * 40
        parts.append(_text(20, y + 17, label))
        for place, (config, colour) in enumerate(zip(configs, _COLOURS, strict=True)):
            parts += _bar(y + place * 15, config[key], colour, f"{config[key]:.3f}")
    return parts


def _token_bars(configs: Sequence[Mapping[str, Any]]) -> list[str]:
    parts = [_text(20, 290, "Injected tokens, sum over labels", size=14)]
    largest = max(config["injected_tokens"] for config in configs) or 1
    for place, (config, colour) in enumerate(zip(configs, _COLOURS, strict=True)):
        y = 304 + place * 20
        parts.append(_text(20, y + 11, config["name"]))
        tokens = config["injected_tokens"]
        parts += _bar(y, tokens / largest, colour, f"{tokens:,}")
    return parts


def _histogram(
    configs: Sequence[Mapping[str, Any]], latencies_ms: Mapping[str, Sequence[float]]
) -> list[str]:
    values = [value for name in latencies_ms for value in latencies_ms[name]]
    low, high = min(values), max(values)
    span = (high - low) or 1.0
    parts = [_text(20, 380, "Latency of one sample, ms (the line marks p95)", size=14)]
    base, height, width = 560, 150, (_WIDTH - 60) / _BINS
    counts = {name: [0] * _BINS for name in latencies_ms}
    for name, samples in latencies_ms.items():
        for value in samples:
            counts[name][min(_BINS - 1, int((value - low) / span * _BINS))] += 1
    tallest = max(max(bins) for bins in counts.values()) or 1
    for place, (config, colour) in enumerate(zip(configs, _COLOURS, strict=True)):
        for index, count in enumerate(counts[config["name"]]):
            tall = count / tallest * height
            x = 30 + index * width + place * width / 2
            parts.append(
                f'<rect x="{x:.1f}" y="{base - tall:.1f}" width="{width / 2 - 1:.1f}" '
                f'height="{tall:.1f}" fill="{colour}"/>'
            )
        mark = 30 + (config["p95_latency_ms"] - low) / span * (_WIDTH - 60)
        parts.append(
            f'<line x1="{mark:.1f}" x2="{mark:.1f}" y1="{base - height}" y2="{base}" '
            f'stroke="{colour}" stroke-dasharray="4 3"/>'
        )
    parts.append(f'<line x1="30" x2="{_WIDTH - 30}" y1="{base}" y2="{base}" stroke="#222222"/>')
    parts += [_text(30, 580, f"{low:.2f}"), _text(_WIDTH - 70, 580, f"{high:.2f}")]
    return parts
