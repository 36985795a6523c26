"""The operational commands of `cortex`: benchmark, health, index status, init-root.

They are no part of the contract's option table and have help of their own in the documentation.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

BENCHMARK: Final = "benchmark"
HEALTH: Final = "health"
INDEX: Final = "index"
INIT_ROOT: Final = "init-root"
COMMANDS: Final = (BENCHMARK, HEALTH, INDEX, INIT_ROOT)

_INVALID: Final = 4


def main(argv: Sequence[str]) -> int:
    """Run the operational command *argv*, print its answer, return its exit code."""
    from mc_cli.output import use_utf8_streams

    use_utf8_streams()
    runners: dict[str, Callable[[list[str]], int]] = {
        BENCHMARK: _benchmark,
        HEALTH: _health,
        INDEX: _index,
        INIT_ROOT: _init_root,
    }
    return runners[argv[0]](list(argv[1:]))


def _benchmark(words: list[str]) -> int:
    from mc_retrieve.benchmark import run_benchmark

    outcome = run_benchmark(words, command=["memory-custodian", "cortex", BENCHMARK, *words])
    sys.stdout.write(outcome.text + "\n")
    if outcome.exit_code == 0 and sys.stderr.isatty():
        from mc_retrieve.benchmark_plot import render_table

        sys.stderr.write(render_table(outcome.report))
    sys.stderr.writelines(f"written: {path}\n" for path in outcome.written)
    if outcome.exit_code:
        sys.stderr.write(f"error: {outcome.report['error']}\n")
    return outcome.exit_code


def _health(words: list[str]) -> int:
    from mc_retrieve.health import EXITS

    from mc_cli.cortex.health_report import health_as_text, make_report, save_report

    options = _options(words, {"--json": False, "--memory-root": True})
    if isinstance(options, str):
        return _refused("cortex health", options)
    report = make_report(options.get("--memory-root"))
    sys.stderr.writelines(f"{line}\n" for line in save_report(report))
    sys.stdout.write(_json(report.data) if "--json" in options else health_as_text(report.data))
    return EXITS[report.data["overall"]]


def _index(words: list[str]) -> int:
    from mc_retrieve.index_policy import exit_of, index_evidence

    from mc_cli.cortex.health_report import places

    if words[:1] != ["status"]:
        return _refused("cortex index", "the only subcommand is `cortex index status`")
    options = _options(words[1:], {"--memory-root": True, "--json": False})
    if isinstance(options, str):
        return _refused("cortex index status", options)
    found, now_ms = places(options.get("--memory-root"))
    data = index_evidence(found.manifest, found.policy, found.memory, now_ms=now_ms)
    sys.stdout.write(_json(data))
    return exit_of(data["status"])


def _init_root(words: list[str]) -> int:
    from mc_cli.cortex.root import RootError, make_root
    from mc_cli.output import envelope

    if len(words) != 1 or words[0].startswith("--") or not words[0]:
        return _refused("cortex init-root", "give exactly one folder: `cortex init-root DIR`")
    try:
        data = make_root(words[0])
    except RootError as error:
        return _refused("cortex init-root", error.what, where=error.where, hint=error.hint)
    sys.stdout.write(envelope("cortex init-root", ok=True, data=data, error=None))
    return 0


def _json(data: Mapping[str, Any]) -> str:
    import json

    return json.dumps(data, indent=2) + "\n"


def _options(words: list[str], known: Mapping[str, bool]) -> dict[str, str] | str:
    """Return the options in *words*, or what is wrong; *known* says which take a value."""
    found: dict[str, str] = {}
    rest = iter(words)
    for word in rest:
        if word not in known:
            return "an option or argument is unknown here"
        if word in found:
            return f"`{word}` is given twice"
        value = next(rest, "") if known[word] else "yes"
        if not value or value.startswith("--"):
            return f"`{word}` needs a value"
        found[word] = value
    return found


def _refused(command: str, what: str, *, where: str = "", hint: str = "") -> int:
    from mc_cli.output import envelope, one_line

    error: dict[str, Any] = {"code": "invalid_input", "message": what, "where": where, "hint": hint}
    sys.stdout.write(envelope(command, ok=False, data=None, error=error))
    place = f": {one_line(where)}" if where else ""
    sys.stderr.write(f"error: {what}{place}\n")
    if hint:
        sys.stderr.write(f"\nhint: {one_line(hint)}\n")
    return _INVALID
