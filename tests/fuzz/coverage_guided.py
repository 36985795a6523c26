"""Coverage-guided fuzzing of one target: `python tests/fuzz/coverage_guided.py TARGET [options]`.

The options are libFuzzer's, for example ``-max_total_time=60`` and a corpus folder. It needs
`atheris` (`pip install atheris`), which the project itself does not depend on.
"""

from __future__ import annotations

import contextlib
import sys
import tempfile
from pathlib import Path

import atheris  # type: ignore[import-not-found,import-untyped,unused-ignore]

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

with atheris.instrument_imports(
    include=["mc_schema", "mc_scan", "mc_retrieve", "mc_plan", "mc_cli"]
):
    from fuzz_targets import DOCUMENTED, TARGETS, TOKENS


def main() -> None:
    """Run libFuzzer on the target named first."""
    name, *options = sys.argv[1:]
    target = TARGETS[name]

    def answer(data: bytes) -> None:
        with contextlib.suppress(*DOCUMENTED):
            target(data)

    with tempfile.TemporaryDirectory() as folder:
        dictionary = Path(folder, "tokens.dict")
        lines = [f'"{_escaped(token)}"\n' for token in TOKENS[name]]
        dictionary.write_text("".join(lines), encoding="ascii")
        arguments = [sys.argv[0], f"-dict={dictionary}", "-max_len=4096", "-timeout=20", *options]
        atheris.Setup(arguments, answer)
        atheris.Fuzz()


def _escaped(token: str) -> str:
    return "".join(f"\\x{byte:02x}" for byte in token.encode())


if __name__ == "__main__":
    main()
