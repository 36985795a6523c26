"""The checks of `check`: one module a subject, each returning findings; see `mc_cli.check.run`."""

from __future__ import annotations
