"""Every bound of the contract's table: the limit itself is allowed, one more is not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from mc_retrieve import corpus, layout

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from mc_retrieve.envelope import Result

ALLOW = ("--adapter", "claude", "--allow-write")


@pytest.fixture
def root(
    make_root: Callable[[Mapping[str, str | bytes]], Path], json_line: Callable[..., str]
) -> Path:
    lines = [
        json_line(f"r{number:03d}", "word", related=[f"r{number + 1:03d}"]) for number in range(210)
    ]
    return make_root({"KNOWLEDGE/many.jsonl": "".join(lines)})


@pytest.mark.parametrize(
    ("allowed", "refused"),
    [
        pytest.param(["x" * 2_048], ["x" * 2_049], id="query-units"),
        pytest.param(["x " + "😀" * 1_023], ["x " + "😀" * 1_023 + "x"], id="query-utf16-units"),
        pytest.param(["a " * 64], ["a " * 65], id="query-terms"),
        pytest.param(["w", "--page-size", "100"], ["w", "--page-size", "101"], id="page-size"),
        pytest.param(["w", "--page-size", "1"], ["w", "--page-size", "0"], id="page-size-low"),
        pytest.param(
            ["w", "--page", "9007199254740991"], ["w", "--page", "9007199254740992"], id="page"
        ),
        pytest.param(["w", "--page", "1"], ["w", "--page", "0"], id="page-low"),
        pytest.param(["w", "--recency", "0"], ["w", "--recency", "-0.1"], id="recency"),
        pytest.param(
            ["w", "--expand", "r000", "--max-nodes", "100"],
            ["w", "--expand", "r000", "--max-nodes", "101"],
            id="nodes",
        ),
        pytest.param(
            ["w", "--expand", "r000", "--max-nodes", "1"],
            ["w", "--expand", "r000", "--max-nodes", "0"],
            id="nodes-low",
        ),
        pytest.param(
            ["w", "--expand", "r000", "--max-tokens", "50000"],
            ["w", "--expand", "r000", "--max-tokens", "50001"],
            id="tokens",
        ),
        pytest.param(
            ["w", "--expand", "r000", "--max-tokens", "1"],
            ["w", "--expand", "r000", "--max-tokens", "0"],
            id="tokens-low",
        ),
    ],
)
def test_search_bound_holds_to_the_one(
    cortex: Callable[..., Result], root: Path, allowed: list[str], refused: list[str]
) -> None:
    assert cortex("search", *allowed, root=root).exit_code == 0
    assert cortex("search", *refused, root=root).exit_code == 4


@pytest.mark.parametrize("name", ["--before", "--after"])
def test_timeline_window_is_at_most_a_hundred_on_each_side(
    cortex: Callable[..., Result], root: Path, name: str
) -> None:
    anchor = ("timeline", "--anchor", "r105", "--page-size", "100")

    assert cortex(*anchor, name, "0", root=root).exit_code == 0
    assert cortex(*anchor, name, "100", root=root).exit_code == 0
    assert cortex(*anchor, name, "101", root=root).exit_code == 4
    assert cortex(*anchor, name, "-1", root=root).exit_code == 4


@pytest.mark.parametrize("command", ["get", "export"])
def test_a_hundred_ids_are_the_most(
    cortex: Callable[..., Result], root: Path, command: str
) -> None:
    ids = [f"r{number:03d}" for number in range(101)]

    assert len(cortex(command, *ids[:100], root=root).envelope["data"]["items"]) == 100
    assert cortex(command, *ids, root=root).envelope["error"]["code"] == "invalid_input"
    assert cortex(command, *["r000"] * 101, root=root).envelope["error"]["code"] == "invalid_input"
    assert cortex(command, root=root).envelope["error"]["code"] == "invalid_input"


@pytest.mark.parametrize("through", ["argument", "standard-input"])
def test_payload_is_at_most_256_kib_of_utf8(cortex: Callable[..., Result], through: str) -> None:
    def write(payload: str) -> Result:
        argument = "-" if through == "standard-input" else payload
        return cortex(
            "remember",
            argument,
            *ALLOW,
            store=lambda request: {"ok": True},
            standard_input=payload.encode(),
        )

    room = 262_144 - len('{"type":"idea","content":""}')
    wide = "中" * (room // 3) + "x" * (room % 3)

    assert write('{"type":"idea","content":"' + "x" * room + '"}').exit_code == 0
    assert write('{"type":"idea","content":"' + wide + '"}').exit_code == 0
    assert write('{"type":"idea","content":"' + "x" * (room + 1) + '"}').exit_code == 4
    assert write('{"type":"idea","content":"' + wide + 'x"}').exit_code == 4


def test_file_is_at_most_eight_mebibytes(
    cortex: Callable[..., Result], make_root: Callable[[Mapping[str, str | bytes]], Path]
) -> None:
    root = make_root({"KNOWLEDGE/a.md": b"a " * (layout.MAX_FILE_BYTES // 2)})

    assert cortex("status", root=root).exit_code == 0

    with (root / "KNOWLEDGE" / "a.md").open("ab") as file:
        file.write(b"a")

    assert cortex("status", root=root).envelope["error"]["code"] == "integrity_error"


@pytest.mark.parametrize(
    "name",
    ["KNOWLEDGE/big.md", "KNOWLEDGE/big.jsonl", "BIG_MEMORY.md"],
)
def test_oversized_file_is_refused_before_anything_is_opened(
    cortex: Callable[..., Result],
    make_root: Callable[[Mapping[str, str | bytes]], Path],
    monkeypatch: pytest.MonkeyPatch,
    name: str,
) -> None:
    root = make_root({"KNOWLEDGE/a.md": b"\xff not even UTF-8"})
    with (root / name).open("wb") as file:
        file.truncate(layout.MAX_FILE_BYTES + 1)
    monkeypatch.setattr(corpus, "read_bytes", lambda file: pytest.fail("a file was opened"))

    assert "8388608" in cortex("status", root=root).envelope["error"]["message"]


def test_corpus_is_at_most_128_mebibytes(
    cortex: Callable[..., Result],
    make_root: Callable[[Mapping[str, str | bytes]], Path],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    root = make_root({"KNOWLEDGE/a.md": "", "X_MEMORY.md": ""})
    for number in range(16):
        with (root / "KNOWLEDGE" / f"{number}.md").open("wb") as file:
            file.truncate(layout.MAX_FILE_BYTES)
    # The bytes are NUL, and reading them is what other tests are about.
    monkeypatch.setattr(corpus, "read_bytes", lambda file: b"")

    assert cortex("status", root=root).exit_code == 0

    (root / "X_MEMORY.md").write_bytes(b"x")

    assert "134217728" in cortex("status", root=root).envelope["error"]["message"]


def test_corpus_is_at_most_ten_thousand_files(
    cortex: Callable[..., Result],
    make_root: Callable[[Mapping[str, str | bytes]], Path],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(layout, "MAX_FILES", 12)
    root = make_root({f"KNOWLEDGE/{number}.md": "" for number in range(11)})
    (root / "X_MEMORY.md").write_bytes(b"")

    assert cortex("status", root=root).exit_code == 0

    (root / "Y_MEMORY.md").write_bytes(b"")

    assert cortex("status", root=root).envelope["error"]["code"] == "integrity_error"

    (root / "Y_MEMORY.md").unlink()
    (root / "X_MEMORY.md").unlink()
    (root / "KNOWLEDGE" / "11.md").write_bytes(b"")
    assert cortex("status", root=root).exit_code == 0
    (root / "KNOWLEDGE" / "12.md").write_bytes(b"")
    assert cortex("status", root=root).envelope["error"]["code"] == "integrity_error"


def test_limits_are_those_of_the_contract() -> None:
    assert (layout.MAX_FILES, layout.MAX_FILE_BYTES) == (10_000, 8 * 2**20)
    assert (layout.MAX_TOTAL_BYTES, corpus.MAX_RECORDS) == (128 * 2**20, 50_000)


def test_corpus_is_at_most_fifty_thousand_records(
    cortex: Callable[..., Result],
    make_root: Callable[[Mapping[str, str | bytes]], Path],
    json_line: Callable[..., str],
) -> None:
    lines = [json_line(f"r{number}", "w", title="t") for number in range(50_001)]
    root = make_root({"KNOWLEDGE/a.jsonl": "".join(lines[:50_000])})

    assert cortex("status", root=root).envelope["data"]["canonical"]["records"] == 50_000

    (root / "KNOWLEDGE" / "b.jsonl").write_text(lines[50_000])

    assert cortex("status", root=root).envelope["error"]["code"] == "integrity_error"
