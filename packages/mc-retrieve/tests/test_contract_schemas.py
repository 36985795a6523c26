"""Every answer follows the published schemas."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from jsonschema import Draft202012Validator

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from mc_retrieve.envelope import Result

PAYLOADS = {
    "status": "status",
    "search": "search",
    "timeline": "timeline",
    "get": "export",
    "export": "export",
    "rebuild": "rebuild",
    "remember": "write",
    "propose": "write",
}
ALLOW = ["--adapter", "claude", "--allow-write"]


@pytest.fixture
def schemas(repository_root: Path) -> dict[str, Draft202012Validator]:
    found: dict[str, Draft202012Validator] = {}
    for path in sorted((repository_root / "docs" / "schemas").glob("lifeos-cortex-*.schema.json")):
        schema = json.loads(path.read_text(encoding="utf-8"))
        Draft202012Validator.check_schema(schema)
        found[path.name.removeprefix("lifeos-cortex-").removesuffix(".schema.json")] = (
            Draft202012Validator(schema)
        )
    return found


@pytest.fixture
def root(
    make_root: Callable[[Mapping[str, str | bytes]], Path], json_line: Callable[..., str]
) -> Path:
    rows = json_line("a", related=["b"], source_session="s") + json_line(
        "b", valid_from="2020-01-01"
    )
    return make_root({"KNOWLEDGE/a.jsonl": rows, "KNOWLEDGE/c.md": "---\nid: c\n---\nwords\n"})


@pytest.mark.parametrize(
    ("argv", "exit_code"),
    [
        pytest.param(["status"], 0, id="status"),
        pytest.param(["search", "words"], 0, id="search"),
        pytest.param(["search", "words", "--expand", "a", "--recency", "1"], 0, id="expansion"),
        pytest.param(["search", "nowhere"], 0, id="no-hit"),
        pytest.param(["timeline", "--anchor", "a"], 0, id="timeline"),
        pytest.param(["timeline", "--anchor", "2026-01-01"], 0, id="timeline-of-a-date"),
        pytest.param(["get", "a", "c", "a"], 0, id="get"),
        pytest.param(["export", "b"], 0, id="export"),
        pytest.param(["rebuild", "--from-canonical"], 0, id="rebuild"),
        pytest.param(["remember", '{"type":"idea"}', *ALLOW], 0, id="remember"),
        pytest.param(["propose", '{"type":"proposal"}', *ALLOW], 0, id="propose"),
        pytest.param(["get", "x"], 3, id="not-found"),
        pytest.param(["search", ""], 4, id="invalid-input"),
        pytest.param(["remember", "{}"], 5, id="write-refused"),
        pytest.param(["unknown"], 4, id="unknown-command"),
    ],
)
def test_answer_follows_the_schema_of_its_command(
    cortex: Callable[..., Result],
    schemas: dict[str, Draft202012Validator],
    root: Path,
    argv: list[str],
    exit_code: int,
) -> None:
    def store(request: object) -> dict[str, Any]:
        return {"ok": True, "type": "idea", "path": "p", "detail": {"id": "i", "created": "c"}}

    result = cortex(*argv, root=root, store=store)
    answer = json.loads(result.text)

    assert exit_code == result.exit_code
    schemas["v1"].validate(answer)
    if exit_code == 0:
        schemas[PAYLOADS[argv[0]]].validate(answer["data"])


ERROR = {"code": "not_found", "message": "m"}
SUCCESS: dict[str, Any] = {
    "schema": "lifeos-cortex/v1",
    "ok": True,
    "command": "get",
    "data": {},
    "error": None,
}
FAILURE = {**SUCCESS, "ok": False, "data": None, "error": ERROR}


@pytest.mark.parametrize("envelope", [SUCCESS, FAILURE], ids=["success", "failure"])
def test_schema_accepts_both_forms(
    schemas: dict[str, Draft202012Validator], envelope: dict[str, Any]
) -> None:
    assert schemas["v1"].is_valid(envelope)


@pytest.mark.parametrize(
    "envelope",
    [
        pytest.param({**SUCCESS, "sixth": 1}, id="sixth-field"),
        pytest.param({**FAILURE, "sixth": 1}, id="sixth-field-in-a-failure"),
        pytest.param({**SUCCESS, "error": ERROR}, id="success-with-an-error"),
        pytest.param({**FAILURE, "data": {}}, id="failure-with-data"),
        pytest.param({**SUCCESS, "ok": False}, id="failure-without-error"),
        pytest.param({**FAILURE, "ok": True}, id="success-without-data"),
        pytest.param({**FAILURE, "error": {**ERROR, "more": 1}}, id="error-with-a-third-field"),
        pytest.param({**FAILURE, "error": {**ERROR, "code": "other"}}, id="unknown-code"),
        pytest.param({key: SUCCESS[key] for key in list(SUCCESS)[:4]}, id="four-fields"),
    ],
)
def test_schema_refuses_mixed_and_larger_forms(
    schemas: dict[str, Draft202012Validator], envelope: dict[str, Any]
) -> None:
    assert not schemas["v1"].is_valid(envelope)


def test_every_payload_refuses_a_field_more(schemas: dict[str, Draft202012Validator]) -> None:
    names = sorted(set(PAYLOADS.values()))

    for name in names:
        schema = schemas[name].schema
        assert isinstance(schema, dict)
        assert schema["additionalProperties"] is False
