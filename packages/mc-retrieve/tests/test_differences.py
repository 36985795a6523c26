"""Where this product differs from the recorded implementation on purpose (contract, section 13)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from mc_retrieve.errors import reading_error

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mc_retrieve.envelope import Result
    from mc_retrieve.layout import CorpusFile

    MakeRoot = Callable[[Mapping[str, str | bytes]], Path]
    RunCortex = Callable[..., Result]
    JsonLine = Callable[..., str]

SECRET = "ZANZIBAR"


def ids_of(result: Result) -> list[str]:
    return [item["id"] for item in result.envelope["data"]["items"]]


def code_of(result: Result) -> str | None:
    error: dict[str, str] | None = result.envelope["error"]
    return error["code"] if error else None


@pytest.fixture
def days(make_root: MakeRoot, json_line: JsonLine) -> Path:
    rows = [
        json_line(f"d{day}", created=f"2026-01-0{day}", updated="2026-02-01") for day in range(1, 8)
    ]
    return make_root({"KNOWLEDGE/days.jsonl": "".join(rows)})


def test_d1_before_0_shows_no_earlier_record(cortex: RunCortex, days: Path) -> None:
    result = cortex("timeline", "--anchor", "d4", "--before", "0", "--after", "1", root=days)

    assert ids_of(result) == ["d4", "d5"]


@pytest.mark.parametrize(
    "field", ["id", "type", "title", "source_kind", "source", "source_session", "content"]
)
def test_d2_escaped_tags_are_stripped_from_every_field(
    cortex: RunCortex, make_root: MakeRoot, field: str
) -> None:
    row = {
        "id": "a",
        "type": "memory",
        "title": "T",
        "created": "2026-01-01",
        "updated": "2026-01-01",
        "content": "c",
        field: f"x<private>{SECRET}</private>y",
    }
    text = json.dumps(row).replace("<", "\\u003c")
    root = make_root({"KNOWLEDGE/a.jsonl": text})

    result = cortex("get", "xy" if field == "id" else "a", root=root)

    assert result.exit_code == 0
    assert SECRET not in result.text
    assert "xy" in result.text or field == "source"


def test_d2_escaped_tags_are_stripped_from_links_and_emptied_ones_are_dropped(
    cortex: RunCortex, make_root: MakeRoot, json_line: JsonLine
) -> None:
    links = [f"x<private>{SECRET}</private>y", f"<private>{SECRET}</private>", "z"]
    text = json_line("a", related=links).replace("<", "\\u003c")
    root = make_root({"KNOWLEDGE/a.jsonl": text})

    assert cortex("get", "a", root=root).envelope["data"]["items"][0]["related"] == ["xy", "z"]


@pytest.mark.parametrize("field", ["id", "type", "title"])
def test_d2_required_field_emptied_by_it_is_an_integrity_error(
    cortex: RunCortex, make_root: MakeRoot, json_line: JsonLine, field: str
) -> None:
    hidden = f"<private>{SECRET}</private>"
    text = json_line("a") if field == "id" else json_line("a", **{field: hidden})
    text = text.replace('"id": "a"', f'"id": "{hidden}"') if field == "id" else text
    root = make_root({"KNOWLEDGE/a.jsonl": text.replace("<", "\\u003c")})

    result = cortex("status", root=root)

    assert code_of(result) == "integrity_error"
    assert SECRET not in result.text


def test_d3_tags_that_join_stay_closed_in_a_corpus(cortex: RunCortex, make_root: MakeRoot) -> None:
    root = make_root({"KNOWLEDGE/a.md": f"---\nid: a\n---\n<pri<private>x</private>vate>{SECRET}"})

    assert SECRET not in cortex("get", "a", root=root).text


@pytest.mark.parametrize(
    "opener", ["\uff1cprivate>", "\ufe64private\ufe65", "<pri\u034fvate>", "<\u3164private>"]
)
@pytest.mark.parametrize("name", ["a.md", "a.jsonl"])
def test_d4_disguised_opener_hides_the_rest_in_a_corpus(
    cortex: RunCortex, make_root: MakeRoot, json_line: JsonLine, opener: str, name: str
) -> None:
    content = f"open {opener} {SECRET}"
    text = f"---\nid: a\n---\n{content}" if name == "a.md" else json_line("a", content)
    root = make_root({f"KNOWLEDGE/{name}": text})

    result = cortex("get", "a", root=root)

    assert result.exit_code == 0
    assert SECRET not in result.text
    assert "open " in result.text


@pytest.mark.parametrize("target", ["elsewhere", "nowhere"], ids=["live", "dangling"])
@pytest.mark.parametrize(
    ("name", "beside"),
    [
        ("KNOWLEDGE", "a.md"),
        ("KNOWLEDGE", "MEMORY/KNOWLEDGE/a.md"),
        ("MEMORY", "a.md"),
        ("MEMORY", "KNOWLEDGE/a.md"),
        ("MEMORY/KNOWLEDGE", "MEMORY/x.txt"),
        ("MEMORY/KNOWLEDGE", "KNOWLEDGE/a.md"),
    ],
)
def test_d5_d6_link_in_place_of_a_corpus_folder_is_an_integrity_error(
    cortex: RunCortex, make_root: MakeRoot, name: str, beside: str, target: str
) -> None:
    root = make_root({beside: "word"})
    (root.parent / "elsewhere").mkdir()
    (root / name).parent.mkdir(exist_ok=True)
    (root / name).symlink_to(root.parent / target)

    assert code_of(cortex("status", root=root)) == "integrity_error"


@pytest.mark.parametrize("name", ["--max-nodes", "--max-tokens"])
def test_d7_expansion_bound_without_expansion_is_refused(
    cortex: RunCortex, days: Path, name: str
) -> None:
    assert code_of(cortex("search", "words", name, "5", root=days)) == "invalid_input"


@pytest.fixture
def chain(make_root: MakeRoot, json_line: JsonLine) -> Path:
    rows = [
        json_line("a", "x" * 8, related=["b", "c", "missing"]),
        json_line("b", "x" * 8, related=["a", "c"]),
        json_line("c", "x" * 8, related=[]),
        json_line("old", valid_until="2020-01-01"),
        json_line("d", "x" * 8, related=["old", "d"]),
    ]
    return make_root({"KNOWLEDGE/chain.jsonl": "".join(rows)})


@pytest.mark.parametrize(
    ("start", "bounds", "items", "truncated"),
    [
        pytest.param("a", [], ["a", "b", "c"], False, id="all"),
        pytest.param("a", ["--max-nodes", "3"], ["a", "b", "c"], False, id="just-enough-nodes"),
        pytest.param("a", ["--max-nodes", "2"], ["a", "b"], True, id="one-node-too-few"),
        pytest.param("a", ["--max-tokens", "6"], ["a", "b", "c"], False, id="just-enough-tokens"),
        pytest.param("a", ["--max-tokens", "5"], ["a", "b"], True, id="one-token-too-few"),
        pytest.param("a", ["--max-tokens", "1"], [], True, id="not-even-the-root"),
        pytest.param("d", [], ["d"], False, id="inactive-and-own-links-do-not-count"),
    ],
)
def test_d9_truncated_says_that_a_reachable_record_is_missing(
    cortex: RunCortex,
    chain: Path,
    start: str,
    bounds: list[str],
    items: list[str],
    *,
    truncated: bool,
) -> None:
    result = cortex("search", "nothing", "--expand", start, *bounds, root=chain)
    expansion = result.envelope["data"]["expansion"]

    assert items == [item["id"] for item in expansion["items"]]
    assert truncated is expansion["truncated"]


@pytest.mark.parametrize(
    ("weight", "code"),
    [("1e300", "invalid_input"), ("1e290", None), ("Infinity", "invalid_input")],
)
def test_d10_recency_that_overflows_is_refused(
    cortex: RunCortex, days: Path, weight: str, code: str | None
) -> None:
    result = cortex("search", "words", "--recency", weight, root=days)

    assert code == code_of(result)
    if code is None:
        scores = [item["score"] for item in result.envelope["data"]["items"]]
        assert all(isinstance(score, float) for score in scores)


@pytest.mark.parametrize(
    ("anchor", "code"),
    [
        ("9999-12-31T23:59:59-00:01", "not_found"),
        ("9999-12-31T23:59:59.999Z", None),
        ("0100-01-01T00:00:00+23:59", None),
    ],
)
def test_d11_anchor_past_the_year_9999_is_no_date(
    cortex: RunCortex, days: Path, anchor: str, code: str | None
) -> None:
    assert code == code_of(cortex("timeline", "--anchor", anchor, root=days))


def test_d13_link_needs_its_target_on_its_own_line(cortex: RunCortex, make_root: MakeRoot) -> None:
    root = make_root({"KNOWLEDGE/a.md": "---\nid: a\n---\nslug:\nnext word\n- slug:  \nslug: b\n"})

    assert cortex("get", "a", root=root).envelope["data"]["items"][0]["related"] == ["b"]


def test_d17_unreadable_file_is_an_internal_error_that_names_it(
    cortex: RunCortex, make_root: MakeRoot, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = make_root({"KNOWLEDGE/a.md": "", "KNOWLEDGE/b.md": ""})

    def refuse(file: CorpusFile) -> bytes:
        # Root may read everything, so on some machines only a stand-in refuses.
        raise reading_error(PermissionError(13, "Permission denied"), file.path)

    monkeypatch.setattr("mc_retrieve.corpus.read_bytes", refuse)
    result = cortex("status", root=root)

    assert (result.exit_code, code_of(result)) == (1, "internal_error")
    assert "KNOWLEDGE/a.md" in result.envelope["error"]["message"]


@pytest.mark.parametrize("name", ["a\x01.md", "a\n.md", "a\x7f.jsonl", "a\x85.md", "b\t/c.md"])
def test_d19_control_character_in_a_file_name_is_an_integrity_error(
    cortex: RunCortex, make_root: MakeRoot, name: str
) -> None:
    assert code_of(cortex("status", root=make_root({f"KNOWLEDGE/{name}": ""}))) == "integrity_error"


def test_d19_file_name_that_is_not_utf8_is_an_integrity_error(
    cortex: RunCortex, make_root: MakeRoot
) -> None:
    root = make_root({"KNOWLEDGE/a.md": ""})
    try:
        Path(f"{root}/KNOWLEDGE/\udcff.md").write_bytes(b"")
    except (OSError, UnicodeError):
        return  # this file system takes no such name

    assert code_of(cortex("status", root=root)) == "integrity_error"


@pytest.mark.parametrize("unit", ["<", "\n", "<private ", " ", "slug:\n"])
def test_d22_d23_a_megabyte_of_hostile_text_is_read(
    cortex: RunCortex, make_root: MakeRoot, unit: str
) -> None:
    body = unit * (1_000_000 // len(unit))
    root = make_root({"KNOWLEDGE/a.md": f"---\nid: a\n---\n{body}"})

    assert cortex("rebuild", "--from-canonical", root=root).exit_code == 0


@pytest.mark.parametrize(
    ("options", "ids"),
    [
        pytest.param([], ["ascii"], id="contract-by-default"),
        pytest.param(["--tokenizer", "contract"], ["ascii"], id="contract"),
        pytest.param(["--tokenizer", "unicode"], ["camel", "ascii"], id="unicode"),
    ],
)
def test_d26_tokenizer_is_the_one_extension_of_the_table(
    cortex: RunCortex,
    make_root: MakeRoot,
    json_line: JsonLine,
    options: list[str],
    ids: list[str],
) -> None:
    rows = json_line("ascii", "the http header of it all") + json_line("camel", "parseHttpHeader")
    root = make_root({"KNOWLEDGE/a.jsonl": rows})

    assert ids == ids_of(cortex("search", "http header", *options, root=root))


def test_d26_query_without_ascii_terms_names_the_option(
    cortex: RunCortex, make_root: MakeRoot, json_line: JsonLine
) -> None:
    root = make_root({"KNOWLEDGE/a.jsonl": json_line("a", "记忆检索")})

    assert "--tokenizer unicode" in cortex("search", "检索", root=root).envelope["error"]["message"]
    assert ids_of(cortex("search", "检索", "--tokenizer", "unicode", root=root)) == ["a"]
    assert code_of(cortex("search", "…", "--tokenizer", "unicode", root=root)) == "invalid_input"


@pytest.fixture
def same_instant(make_root: MakeRoot, json_line: JsonLine) -> Path:
    moments = {
        "e": "2026-01-01",
        "c": "2026-01-02",
        "a": "2026-01-02T00:00:00Z",
        "b": "2026-01-02T01:00:00+01:00",
        "d": "2026-01-03",
    }
    rows = [json_line(name, created=at, updated="2026-02-01") for name, at in moments.items()]
    return make_root({"KNOWLEDGE/a.jsonl": "".join(rows)})


@pytest.mark.parametrize(
    ("anchor", "around", "ids"),
    [
        pytest.param("b", ("5", "5"), ["e", "a", "b", "c", "d"], id="record"),
        pytest.param("b", ("1", "1"), ["a", "b", "c"], id="record-one-on-each-side"),
        pytest.param("2026-01-02", ("1", "2"), ["e", "a", "b"], id="date-counts-equal-as-after"),
        pytest.param("2026-01-02", ("0", "0"), [], id="date-and-nothing-around"),
    ],
)
def test_time_records_of_the_very_millisecond_stay(
    cortex: RunCortex, same_instant: Path, anchor: str, around: tuple[str, str], ids: list[str]
) -> None:
    window = ("--before", around[0], "--after", around[1])
    result = cortex("timeline", "--anchor", anchor, *window, root=same_instant)

    assert ids == ids_of(result)


def test_order_is_that_of_code_points(
    cortex: RunCortex, make_root: MakeRoot, json_line: JsonLine
) -> None:
    names = ["a", "B", "_", "-", "é", "\U0001f600", "\uff5e"]
    rows = [json_line(name) for name in names]
    root = make_root({"KNOWLEDGE/a.jsonl": "".join(rows)})

    assert sorted(names) == ids_of(cortex("search", "words", root=root))
    assert sorted(names) == ids_of(
        cortex("timeline", "--anchor", "2026-01-01", "--after", "9", root=root)
    )


def test_answer_does_not_depend_on_the_order_the_file_system_lists_names(
    cortex: RunCortex, make_root: MakeRoot, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = make_root({f"KNOWLEDGE/{name}.md": f"word {name}" for name in "cabd"})
    argv: list[Any] = ["search", "word"]
    first = cortex(*argv, root=root).text
    monkeypatch.setattr(
        "mc_retrieve.corpus.find_files",
        lambda path: reversed(__import__("mc_retrieve.layout").layout.find_files(path)),
    )

    assert first == cortex(*argv, root=root).text
