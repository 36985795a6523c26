"""Growth curves as SVG, on logarithmic axes, where linear growth is a line of slope one."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Point = tuple[float, float]

WIDTH: Final = 640
HEIGHT: Final = 420
MARGIN: Final = 60
LEGEND: Final = 130
COLOURS: Final = (
    "#0b6e99",
    "#b5541c",
    "#3f7d20",
    "#7a3e9d",
    "#a31f34",
    "#5b5b5b",
    "#b8860b",
    "#127369",
)

_OPENING: Final = (
    f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
    'font-family="sans-serif" font-size="12" role="img">'
)


def curves(title: str, series: Mapping[str, Sequence[Point]], *, x: str, y: str) -> str:
    """Return an SVG picture of *series*: points of a size and seconds, all above 0."""
    points = [point for row in series.values() for point in row]
    sizes = _decades([size for size, _ in points])
    times = _decades([seconds for _, seconds in points])
    parts = [
        _OPENING,
        f"<title>{title}</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        f'<text x="{MARGIN}" y="24" font-size="15">{title}</text>',
    ]
    parts += _grid(sizes, times, x, y)
    for number, (name, row) in enumerate(series.items()):
        colour = COLOURS[number % len(COLOURS)]
        path = " ".join(f"{_at_x(size, sizes):.1f},{_at_y(t, times):.1f}" for size, t in row)
        below = MARGIN + 18 * number
        parts += [
            f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>',
            f'<text x="{WIDTH - LEGEND + 10}" y="{below}" fill="{colour}">{name}</text>',
        ]
    return "\n".join([*parts, "</svg>", ""])


def _decades(values: Sequence[float]) -> range:
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return range(low, max(high, low + 1) + 1)


def _at_x(value: float, decades: range) -> float:
    share = (math.log10(value) - decades[0]) / (decades[-1] - decades[0])
    return MARGIN + share * (WIDTH - MARGIN - LEGEND)


def _at_y(value: float, decades: range) -> float:
    share = (math.log10(value) - decades[0]) / (decades[-1] - decades[0])
    return HEIGHT - MARGIN - share * (HEIGHT - 2 * MARGIN)


def _grid(sizes: range, times: range, x: str, y: str) -> list[str]:
    right, bottom = WIDTH - LEGEND, HEIGHT - MARGIN
    parts = []
    for decade in sizes:
        at = _at_x(10.0**decade, sizes)
        parts += [
            f'<line x1="{at:.1f}" y1="{MARGIN}" x2="{at:.1f}" y2="{bottom}" stroke="#dddddd"/>',
            f'<text x="{at:.1f}" y="{bottom + 18}" text-anchor="middle">{10**decade:,}</text>',
        ]
    for decade in times:
        at = _at_y(10.0**decade, times)
        parts += [
            f'<line x1="{MARGIN}" y1="{at:.1f}" x2="{right}" y2="{at:.1f}" stroke="#dddddd"/>',
            f'<text x="{MARGIN - 6}" y="{at + 4:.1f}" text-anchor="end">{10.0**decade:g}</text>',
        ]
    middle = (MARGIN + right) / 2
    parts.append(f'<text x="{middle}" y="{HEIGHT - 16}" text-anchor="middle">{x}</text>')
    parts.append(f'<text x="8" y="{MARGIN - 14}">{y}</text>')
    return parts
