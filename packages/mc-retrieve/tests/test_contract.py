from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from mc_retrieve.contract import choose_root, run
from mc_retrieve.envelope import Result, check_envelope, fail, succeed
from mc_retrieve.errors import InternalError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    MakeRoot = Callable[[Mapping[str, str | bytes]], Path]
    RunCortex = Callable[..., Result]

ALLOW = ("--adapter", "codex", "--allow-write")


def code_of(result: Result) -> str:
    return str(result.envelope["error"]["code"])


@pytest.mark.parametrize(
    "argv",
    [
        pytest.param([], id="nothing"),
        pytest.param(["Status"], id="letter-case"),
        pytest.param(["help"], id="no-help"),
        pytest.param(["--version"], id="no-version"),
        pytest.param(["status", "--help"], id="no-option-help"),
        pytest.param(["status", "--"], id="bare-dashes"),
        pytest.param(["search", "w", "--page=2"], id="equals-sign"),
        pytest.param(["get", "a", "--page", "1"], id="inapplicable"),
        pytest.param(["search", "w", "--allow-write"], id="inapplicable-flag"),
        pytest.param(["status", "--adapter", "claude", "--adapter", "claude"], id="twice"),
        pytest.param(["rebuild", "--from-canonical", "--from-canonical"], id="flag-twice"),
        pytest.param(["search", "w", "--type"], id="value-missing"),
        pytest.param(["search", "w", "--type", ""], id="value-empty"),
        pytest.param(["search", "w", "--type", "--page"], id="value-like-an-option"),
        pytest.param(["status", "--adapter", "Claude"], id="unknown-adapter"),
        pytest.param(["search", "w", "--tokenizer", "other"], id="unknown-tokenizer"),
        pytest.param(
            ["timeline", "--anchor", "a", "--tokenizer", "unicode"], id="tokenizer-of-search"
        ),
    ],
)
def test_what_the_option_table_does_not_have_is_refused(cortex: RunCortex, argv: list[str]) -> None:
    result = cortex(*argv)

    assert (result.exit_code, code_of(result)) == (4, "invalid_input")
    assert result.envelope["command"] == (argv[0] if argv else "")


def test_value_may_begin_with_one_dash(cortex: RunCortex, make_root: MakeRoot) -> None:
    root = make_root({"KNOWLEDGE/a.md": "word"})

    assert cortex("search", "-x word", "--type", "-1", root=root).exit_code == 0


@pytest.mark.parametrize("command", ["get", "export"])
def test_empty_id_is_not_found(cortex: RunCortex, make_root: MakeRoot, command: str) -> None:
    root = make_root({"KNOWLEDGE/a.md": "word"})

    assert cortex(command, "", root=root).exit_code == 3


def test_one_bad_record_fails_every_read_command_before_its_own_checks(
    cortex: RunCortex, make_root: MakeRoot
) -> None:
    root = make_root({"KNOWLEDGE/a.md": "---\ncreated: never\n---\n"})
    commands: list[list[str]] = [
        ["status"],
        ["search", ""],
        ["timeline"],
        ["get", "x"],
        ["export", "x"],
        ["rebuild", "--from-canonical"],
    ]

    assert [code_of(cortex(*argv, root=root)) for argv in commands] == ["integrity_error"] * 6


@pytest.mark.parametrize(
    ("option", "environ", "expected"),
    [
        pytest.param("/o", {"CORTEX_MEMORY_ROOT": "/v", "HOME": "/h"}, "/o", id="option"),
        pytest.param(None, {"CORTEX_MEMORY_ROOT": "/v", "HOME": "/h"}, "/v", id="variable"),
        pytest.param(None, {"HOME": "/h"}, "/h/.claude/LIFEOS/MEMORY", id="home"),
        pytest.param(
            None,
            {"CORTEX_MEMORY_ROOT": "", "HOME": "/h"},
            "/h/.claude/LIFEOS/MEMORY",
            id="empty-variable-counts-as-absent",
        ),
    ],
)
def test_root_is_chosen_in_order(
    option: str | None, environ: dict[str, str], expected: str
) -> None:
    assert expected == choose_root(option, environ)


def test_without_any_home_the_default_root_is_an_internal_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("os.path.expanduser", lambda path: path)

    with pytest.raises(InternalError):
        choose_root(None, {})


def test_unexpected_failure_is_an_envelope_that_tells_its_kind_only(
    make_root: MakeRoot, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = make_root({"KNOWLEDGE/a.md": "word"})
    monkeypatch.setattr("mc_retrieve.corpus.settle", lambda *_: 1 / 0)

    result = run(["status", "--memory-root", str(root)], store=lambda request: None)

    assert (result.exit_code, result.envelope["error"]) == (
        1,
        {"code": "internal_error", "message": "unexpected ZeroDivisionError"},
    )


@pytest.mark.parametrize(
    ("error", "code"),
    [
        pytest.param(RuntimeError("secret"), "internal_error", id="store-breaks"),
        pytest.param(ImportError("secret"), "internal_error", id="store-fails-to-load"),
        pytest.param(InternalError("ELOCKED: held"), "internal_error", id="lock-not-had"),
    ],
)
def test_store_that_raises_is_still_answered_with_an_envelope(
    cortex: RunCortex, error: Exception, code: str
) -> None:
    def store(request: object) -> None:
        raise error

    result = cortex("remember", '{"type":"idea"}', *ALLOW, store=store)

    assert (result.exit_code, code_of(result)) == (1, code)
    assert "secret" not in result.text


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        pytest.param({"ok": False, "code": "E", "message": "M"}, "M", id="message"),
        pytest.param({"ok": False, "code": "E"}, "E", id="code"),
        pytest.param({"ok": 1}, "the store refused the item", id="not-quite-true"),
        pytest.param(None, "the store refused the item", id="nothing"),
        pytest.param("ok", "the store refused the item", id="text"),
    ],
)
def test_store_that_refuses_is_governance(cortex: RunCortex, answer: Any, message: str) -> None:
    result = cortex("remember", '{"type":"idea"}', *ALLOW, store=lambda request: answer)

    assert (result.exit_code, result.envelope["error"]) == (
        5,
        {"code": "governance_refused", "message": message},
    )


def test_store_result_without_a_json_form_is_an_internal_error(cortex: RunCortex) -> None:
    result = cortex(
        "remember", '{"type":"idea"}', *ALLOW, store=lambda request: {"ok": True, "x": object()}
    )

    assert code_of(result) == "internal_error"


def test_store_gets_the_item_the_adapter_and_the_root(cortex: RunCortex, tmp_path: Path) -> None:
    seen: list[Any] = []

    def store(request: Any) -> dict[str, Any]:
        seen.append((request.command, request.adapter, request.item, request.memory_root))
        return {"ok": True, "path": "p"}

    result = cortex("propose", '{"type":"proposal","n":1e3}', *ALLOW, root=tmp_path, store=store)

    assert seen == [("propose", "codex", {"type": "proposal", "n": 1000.0}, str(tmp_path))]
    assert result.envelope["data"] == {"adapter": "codex", "result": {"ok": True, "path": "p"}}


@pytest.mark.parametrize(
    ("argv", "code"),
    [
        pytest.param(["remember", "{", "--allow-write"], "write_refused", id="no-adapter"),
        pytest.param(["remember", "{", "--adapter", "codex"], "write_refused", id="no-flag"),
        pytest.param(["remember", *ALLOW], "invalid_input", id="no-payload"),
        pytest.param(["remember", "{}", "{}", *ALLOW], "invalid_input", id="two-payloads"),
        pytest.param(["remember", "x" * 262_145, *ALLOW], "invalid_input", id="too-large"),
        pytest.param(["remember", "\ufeff{}", *ALLOW], "invalid_input", id="byte-order-mark"),
        pytest.param(["remember", '{"type":NaN}', *ALLOW], "invalid_input", id="not-a-number"),
        pytest.param(["remember", "[" * 100_000, *ALLOW], "invalid_input", id="too-deep"),
        pytest.param(
            ["remember", '{"type":"proposal"}', *ALLOW], "write_refused", id="other-command"
        ),
        pytest.param(["propose", '{"type":"idea"}', *ALLOW], "write_refused", id="not-a-proposal"),
        pytest.param(["remember", "[]", *ALLOW], "write_refused", id="no-object"),
        pytest.param(
            ["remember", '{"type":["idea"]}', *ALLOW], "write_refused", id="type-not-a-text"
        ),
    ],
)
def test_write_is_refused_in_order_and_before_the_store(
    cortex: RunCortex, argv: list[str], code: str
) -> None:
    assert code == code_of(cortex(*argv))


def test_number_too_long_for_an_integer_is_still_json(cortex: RunCortex) -> None:
    payload = '{"type":"idea","n":' + "9" * 5_000 + "}"

    result = cortex("remember", payload, *ALLOW, store=lambda request: {"ok": True})

    assert result.exit_code == 0


@pytest.mark.parametrize(
    ("data", "code"),
    [
        pytest.param(b'{"type":"idea"}', None, id="payload"),
        pytest.param(b'{"type":"idea"}\n', None, id="payload-and-newline"),
        pytest.param(b"", "invalid_input", id="nothing"),
        pytest.param(b'{"type":"idea","x":"\xff"}', "invalid_input", id="not-utf8"),
        pytest.param(b'\xef\xbb\xbf{"type":"idea"}', "invalid_input", id="byte-order-mark"),
    ],
)
def test_dash_reads_the_payload_from_standard_input(
    cortex: RunCortex, data: bytes, code: str | None
) -> None:
    result = cortex(
        "remember", "-", *ALLOW, store=lambda request: {"ok": True}, standard_input=data
    )

    assert code == (result.envelope["error"] or {}).get("code")


GOOD: dict[str, Any] = {
    "schema": "lifeos-cortex/v1",
    "ok": True,
    "command": "status",
    "data": {},
    "error": None,
}
ERROR = {"code": "not_found", "message": "m"}
BAD = {**GOOD, "ok": False, "data": None, "error": ERROR}


def test_envelope_that_fits_its_exit_code_is_accepted() -> None:
    check_envelope(GOOD, 0)
    check_envelope(BAD, 3)


@pytest.mark.parametrize(
    ("envelope", "exit_code"),
    [
        pytest.param({**GOOD, "sixth": 1}, 0, id="sixth-field"),
        pytest.param({key: GOOD[key] for key in reversed(GOOD)}, 0, id="another-order"),
        pytest.param({key: GOOD[key] for key in list(GOOD)[:4]}, 0, id="field-missing"),
        pytest.param({**GOOD, "schema": "v2"}, 0, id="other-schema"),
        pytest.param({**GOOD, "command": None}, 0, id="no-command"),
        pytest.param({**GOOD, "data": []}, 0, id="data-not-an-object"),
        pytest.param({**GOOD, "error": ERROR}, 0, id="success-with-an-error"),
        pytest.param({**GOOD, "ok": 1}, 0, id="ok-not-a-boolean"),
        pytest.param(GOOD, 3, id="success-with-a-failing-exit"),
        pytest.param({**BAD, "data": {}}, 3, id="failure-with-data"),
        pytest.param({**BAD, "error": None}, 3, id="failure-without-error"),
        pytest.param({**BAD, "error": {**ERROR, "more": 1}}, 3, id="error-with-a-third-field"),
        pytest.param({**BAD, "error": {**ERROR, "message": 1}}, 3, id="message-not-a-text"),
        pytest.param({**BAD, "error": {**ERROR, "code": "other"}}, 3, id="unknown-code"),
        pytest.param(BAD, 4, id="exit-of-another-code"),
        pytest.param(BAD, 0, id="failure-with-exit-0"),
    ],
)
def test_envelope_that_does_not_fit_never_leaves(envelope: dict[str, Any], exit_code: int) -> None:
    with pytest.raises(ValueError, match="envelope"):
        Result(exit_code, envelope)


def test_line_holds_the_five_fields_in_order() -> None:
    lines = [succeed("get", {"a": 1.0}).text, fail("x\n", "not_found", "é").text]

    assert lines == [
        '{"schema":"lifeos-cortex/v1","ok":true,"command":"get","data":{"a":1},"error":null}',
        (
            '{"schema":"lifeos-cortex/v1","ok":false,"command":"x\\n","data":null,'
            '"error":{"code":"not_found","message":"é"}}'
        ),
    ]
    assert all(len(json.loads(line)) == 5 for line in lines)
