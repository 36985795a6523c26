"""`python -m mc_cli` is `memory-custodian`."""

from __future__ import annotations

from mc_cli.main import main

if __name__ == "__main__":
    raise SystemExit(main())
