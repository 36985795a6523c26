"""A possible finding in a window of text, before overlaps are settled and lines counted."""

from __future__ import annotations

from typing import Final, NamedTuple

REDACTED: Final = "[REDACTED]"

# Overlaps keep the first of these (rules page, 2.2). Vendor rules share one rank.
RANK_SERVICE_ACCOUNT: Final = 0
RANK_PRIVATE_KEY: Final = 1
RANK_VENDOR: Final = 2
RANK_URL: Final = 3
RANK_SAS: Final = 4
RANK_AUTH_HEADER: Final = 5
RANK_JWT: Final = 6
RANK_ENV: Final = 7
RANK_ASSIGNMENT: Final = 8
RANK_HOME_PATH: Final = 9
RANK_EMAIL: Final = 10
RANK_PHONE: Final = 11
RANK_ADDRESS: Final = 12


class Candidate(NamedTuple):
    """A match by offsets into the text that was searched; ``text[start:end]`` stays hidden."""

    start: int
    end: int
    rank: int
    rule: str
    severity: str
    preview: str  # rule constants only, without ``[REDACTED]`` where *name* is set
    name: str = ""  # an assignment's name, still to be checked before it is shown
    context: int = -1  # where the name starts; -1 means at *start*
    is_obfuscated: bool = False
