"""The engine: cheap passes find where a rule could match, the rules decide there.

Literal prefixes, key words with an operator, and digits are one pass each over the text; the full
rules run only at hits. All rules always run, whatever the caller filters: the fingerprint of one
finding is taken from its line with *every* finding replaced, so that it holds nothing of a value.

Source: rules page, 2.2, 5, 6, 7 and 9.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, Final

from mc_scan.address import find_addresses
from mc_scan.assignment import find_assignments, find_aws_secrets_near
from mc_scan.candidate import Candidate
from mc_scan.credential import find_auth_headers, find_jwts, find_sas, find_url_credentials
from mc_scan.finding import ScanError
from mc_scan.home_path import find_home_paths
from mc_scan.mail import find_emails
from mc_scan.phone import find_phones
from mc_scan.private_key import find_private_keys
from mc_scan.reading import cut_windows
from mc_scan.tracking import FileState
from mc_scan.vendor import find_vendor
from mc_scan.view import fold_view, unescaped_view

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from mc_scan.finding import Finding
    from mc_scan.view import View

    Detector = Callable[[str, str], Iterable[Candidate]]

_AWS_ID: Final = "aws-access-key-id"


def examine(pieces: Iterable[str], path: str) -> list[Finding]:
    """Return every finding of a text given in *pieces*, in order, inline marks applied.

    Raises:
        ScanError: A rule failed. The error carries path, line and rule, and no part of the text.
    """
    state = FileState(path)
    for window in cut_windows(pieces):
        failure = None
        try:
            state.add_window(window, detect(window.text, state))
        except ScanError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever failed must not carry the text along
            failure = type(error).__name__
        if failure is not None:
            raise _crashed("report", failure, state)
    return state.finish()


def detect(text: str, state: FileState | None = None) -> list[Candidate]:
    """Return the candidates of *text*, overlaps settled, by offsets into *text*, in order."""
    view = fold_view(text)
    if view is None:
        return settle(_run_detectors(text, state))
    return settle([_in_source(view, candidate) for candidate in _run_detectors(view.text, state)])


def _in_source(view: View, candidate: Candidate) -> Candidate:
    start, end = view.source_span(candidate.start, candidate.end)
    context = candidate.context
    if context >= 0:
        context = view.source_span(context, context + 1)[0]
    return Candidate(
        start,
        end,
        candidate.rank,
        candidate.rule,
        candidate.severity,
        candidate.preview,
        candidate.name,
        context,
        view.is_touched(start if context < 0 else context, end),
    )


def settle(candidates: list[Candidate]) -> list[Candidate]:
    """Keep one of overlapping candidates, first by rank, then by place; return them in order."""
    candidates.sort(key=lambda candidate: candidate.start)
    kept: list[Candidate] = []
    cluster: list[Candidate] = []
    reach = -1
    for candidate in candidates:
        if candidate.start >= reach and cluster:
            kept += _settle_cluster(cluster)
            cluster = []
        cluster.append(candidate)
        reach = max(reach, candidate.end)
    return kept + _settle_cluster(cluster)


def _settle_cluster(cluster: list[Candidate]) -> list[Candidate]:
    if len(cluster) <= 1:
        return cluster
    cluster.sort(key=lambda candidate: (candidate.rank, candidate.start, -candidate.end))
    kept: list[Candidate] = []
    starts: list[int] = []
    for candidate in cluster:
        at = bisect_left(starts, candidate.start)
        is_free = (at == 0 or kept[at - 1].end <= candidate.start) and (
            at == len(kept) or candidate.end <= kept[at].start
        )
        if is_free:
            kept.insert(at, candidate)
            starts.insert(at, candidate.start)
    return kept


def _run_detectors(text: str, state: FileState | None) -> list[Candidate]:
    lower = to_lower(text)
    found: list[Candidate] = []
    for rule, detector in _DETECTORS:
        failure = None
        try:
            found.extend(detector(text, lower))
        except Exception as error:  # noqa: BLE001 - whatever failed must not carry the text along
            failure = type(error).__name__
        if failure is not None:
            # Raised outside of the handler: the original, whose message and frames may hold scanned
            # text, is not even kept as context.
            raise _crashed(rule, failure, state)
    return found


def _crashed(rule: str, failure: str, state: FileState | None) -> ScanError:
    where = "" if state is None else f"{state.path}:{state.line}"
    return ScanError(
        f"scan stopped in rule `{rule}` ({failure})",
        where=where,
        hint="report it with the version and the rule, not with the file",
        code="crashed",
    )


def to_lower(text: str) -> str:
    """Return *text* in lower case with every offset unchanged."""
    lower = text.lower()
    if len(lower) != len(text):  # U+0130 alone has a longer lower case
        lower = text.replace("\u0130", "I").lower()
    return lower


def _vendor(text: str, _lower: str) -> Iterator[Candidate]:
    for candidate in find_vendor(text):
        yield candidate
        if candidate.rule == _AWS_ID:
            yield from find_aws_secrets_near(text, candidate.start, candidate.end)


def _vendor_unescaped(text: str, _lower: str) -> Iterator[Candidate]:
    """Read words with Markdown escapes once more; a match without any is known already."""
    view = unescaped_view(text)
    if view is None:
        return
    for candidate in find_vendor(view.text):
        start, end = view.source_span(candidate.start, candidate.end)
        if view.is_touched(start, end):
            yield candidate._replace(start=start, end=end)


_DETECTORS: Final[tuple[tuple[str, Detector], ...]] = (
    ("private-key", lambda text, _: find_private_keys(text)),
    ("vendor", _vendor),
    ("vendor", _vendor_unescaped),
    ("url-credential", lambda text, _: find_url_credentials(text)),
    ("azure-secret", lambda text, _: find_sas(text)),
    ("auth-header", lambda text, _: find_auth_headers(text)),
    ("jwt", lambda text, _: find_jwts(text)),
    ("generic-assignment", find_assignments),
    ("home-path", find_home_paths),
    ("email", lambda text, _: find_emails(text)),
    ("phone", lambda text, _: find_phones(text)),
    ("street-address", lambda text, _: find_addresses(text)),
)
