"""``python -m mc_cli.cortex``: the contract commands without the rest of the command line."""

from __future__ import annotations

import sys

from mc_cli.cortex import main

if __name__ == "__main__":
    sys.exit(main())
