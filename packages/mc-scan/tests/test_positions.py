from __future__ import annotations

import pytest
from mc_scan import Finding, scan_bytes, scan_text
from mc_scan.engine import detect
from mc_scan.lines import count_breaks, last_line_start
from mc_scan.reading import cut_windows, decode_pieces
from mc_scan.testing import fake, fake_kinds
from mc_scan.tracking import FileState

TOKEN = fake("github-classic").text
SIZE = len(TOKEN)


def place(findings: list[Finding]) -> tuple[int, int, int, int]:
    (finding,) = findings
    return finding.line, finding.column, finding.end_line, finding.end_column


@pytest.mark.parametrize(
    ("before", "line", "column"),
    [
        pytest.param("", 1, 1, id="start"),
        pytest.param("a\nb ", 2, 3, id="lf"),
        pytest.param("a\r\nb ", 2, 3, id="crlf"),
        pytest.param("a\rb ", 2, 3, id="cr"),
        pytest.param("\r\r\n\n", 4, 1, id="mixed"),
        pytest.param("a\u2028b\u0085c\x0cd ", 1, 9, id="other-separators-end-no-line"),
        pytest.param("\ufeff", 1, 1, id="mark-counts-no-column"),
        pytest.param("\ufeffa\n", 2, 1, id="mark-then-line"),
        pytest.param("\U0001f600é中 ", 1, 5, id="code-points"),
        pytest.param("\udcff\udcfe ", 1, 4, id="undecodable-bytes-count-one"),
    ],
)
def test_lines_and_columns_count_as_editors_do(before: str, line: int, column: int) -> None:
    assert (line, column, line, column + SIZE) == place(scan_text(before + TOKEN))


@pytest.mark.parametrize(
    ("data", "line", "column"),
    [
        pytest.param(b"\xef\xbb\xbf" + TOKEN.encode(), 1, 1, id="utf-8-mark"),
        pytest.param(b"\xff\xfe\xff\n x" + b"\xff " + TOKEN.encode(), 2, 5, id="bad-bytes"),
        pytest.param(b"\xff\xfe\n" + TOKEN.encode(), 2, 1, id="bad-bytes-like-a-mark"),
        pytest.param(b"a\0b\0 " + TOKEN.encode(), 1, 6, id="zero-bytes"),
        pytest.param(b"\xff\xfe" + f"é\n {TOKEN}".encode("utf-16-le"), 2, 2, id="utf-16-le"),
        pytest.param(b"\xfe\xff" + f"é\n {TOKEN}".encode("utf-16-be"), 2, 2, id="utf-16-be"),
        pytest.param(f"é\n {TOKEN}".encode("utf-32"), 2, 2, id="utf-32"),
        pytest.param(b"\xff\xfe" + f"密 {TOKEN}".encode("utf-16-le") + b"x", 1, 3, id="odd-length"),
    ],
)
def test_bytes_are_read_whatever_their_encoding(data: bytes, line: int, column: int) -> None:
    assert (line, column, line, column + SIZE) == place(scan_bytes(data))


def test_pieces_may_cut_a_character() -> None:
    data = f"中文\U0001f600 {TOKEN}".encode()
    pieces = list(decode_pieces([data[:1], data[1:8], data[8:]]))

    assert data.decode() == "".join(pieces)


@pytest.mark.parametrize("data", [b"", b"\xff\xfe", b"\xef\xbb\xbf", b"\n", b"\r"])
def test_file_without_text_has_no_findings(data: bytes) -> None:
    assert scan_bytes(data) == []


def _document(line_end: str) -> str:
    parts = []
    for number, kind in enumerate(fake_kinds() * 6):
        parts += [f"## Entry {number}", "é中 plain text " * (number % 7), fake(kind, number).text]
    return line_end.join(parts).replace("\n", line_end)


def _in_windows(text: str, core: int, margin: int) -> list[Finding]:
    state = FileState("a.md")
    pieces = [text[at : at + 997] for at in range(0, len(text), 997)]
    for window in cut_windows(pieces, core=core, margin=margin):
        state.add_window(window, detect(window.text))
    return state.finish()


@pytest.mark.parametrize(
    "line_end", ["\n", "\r\n", "\r", " "], ids=["lf", "crlf", "cr", "one-line"]
)
@pytest.mark.parametrize("core", [20_001, 33_333], ids=str)
def test_windows_change_no_finding(line_end: str, core: int) -> None:
    text = _document(line_end)
    whole = scan_text(text, "a.md")

    assert len(text) > 2 * core
    assert len(whole) > 360
    assert whole == _in_windows(text, core, 16_384)


def test_key_across_two_windows_is_one_finding() -> None:
    key = fake("private-key").text
    text = "x" * 900 + "\n" + key + "\n" + "y" * 3000

    assert _in_windows(text, 1000, 2000) == scan_text(text, "a.md")


@pytest.mark.parametrize(
    ("text", "start", "end", "breaks", "last"),
    [
        ("a\nb", 0, 3, 1, 2),
        ("a\r\nb", 0, 4, 1, 3),
        ("a\rb", 0, 3, 1, 2),
        ("a\r\nb", 0, 2, 0, None),
        ("a\r\nb", 2, 4, 1, 3),
        ("\n\r", 0, 2, 2, 2),
        ("\r\r\n", 0, 2, 1, 1),
        ("ab", 0, 2, 0, None),
    ],
)
def test_line_ends_are_counted_by_their_last_character(
    text: str, start: int, end: int, breaks: int, last: int | None
) -> None:
    assert breaks == count_breaks(text, start, end)
    assert last == last_line_start(text, start, end)
