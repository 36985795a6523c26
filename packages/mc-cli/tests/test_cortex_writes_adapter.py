"""The adapter factory: frozen, permission per call, and bad input is a result."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from mc_cli.cortex.adapter import CortexAdapter, create_adapter
from mc_cli.cortex.testing import files_of, idea, make_root, memory, proposal

NAMES = ("claude", "hermes", "codex", "subagent")


@pytest.fixture
def adapter(tmp_path: Path) -> CortexAdapter:
    return create_adapter("claude", memory_root=make_root(tmp_path))


class Hostile(dict[str, Any]):
    """A mapping that raises what it likes while it is looked at."""

    def __bool__(self) -> bool:
        raise ZeroDivisionError

    def items(self) -> Any:
        raise OSError

    def __iter__(self) -> Any:
        raise SystemError


@pytest.mark.parametrize("name", NAMES)
def test_each_of_the_four_names_reads_and_writes(tmp_path: Path, name: str) -> None:
    adapter = create_adapter(name, memory_root=make_root(tmp_path))

    written = adapter.remember(idea(), allow_write=True)
    proposed = adapter.propose(proposal(), allow_write=True)

    data = written.envelope["data"]
    note_id = data["result"]["detail"]["id"]
    assert (0, 0, name) == (written.exit_code, proposed.exit_code, data["adapter"])
    assert adapter.status().envelope["data"]["canonical"]["records"] == 1
    assert note_id == adapter.search("purr").envelope["data"]["items"][0]["id"]
    assert note_id == adapter.timeline(note_id).envelope["data"]["items"][0]["id"]
    assert "They purr." in adapter.get(note_id).envelope["data"]["items"][0]["content"]
    assert adapter.export(note_id).envelope["data"] == adapter.get(note_id).envelope["data"]


@pytest.mark.parametrize("name", ["root", "", "Claude", None, 7, [], {}, b"claude"])
def test_another_name_is_no_adapter(name: Any) -> None:
    with pytest.raises(ValueError, match="claude, hermes, codex, subagent"):
        create_adapter(name)


@pytest.mark.parametrize(
    "attribute", ["name", "memory_root", "remember", "search", "new", "__class__", "_run"]
)
def test_no_attribute_can_be_set_or_deleted(adapter: CortexAdapter, attribute: str) -> None:
    with pytest.raises((AttributeError, TypeError)):
        setattr(adapter, attribute, "x")
    with pytest.raises((AttributeError, TypeError)):
        delattr(adapter, attribute)
    with pytest.raises((AttributeError, TypeError)):
        object.__setattr__(adapter, attribute, "x")


@pytest.mark.parametrize("options", [{}, {"allow_write": False}])
def test_naming_an_adapter_grants_nothing(adapter: CortexAdapter, options: dict[str, bool]) -> None:
    results = [adapter.remember(idea(), **options), adapter.propose(proposal(), **options)]

    for result in results:
        assert (result.exit_code, result.envelope["error"]["code"]) == (5, "write_refused")
    assert files_of(Path(adapter.memory_root or "")) == {}


def test_grant_of_one_call_does_not_last(adapter: CortexAdapter) -> None:
    adapter.remember(memory("RULE: one"), allow_write=True)

    assert adapter.remember(memory("RULE: two")).exit_code == 5


@pytest.mark.parametrize(
    "options",
    [
        pytest.param({"allow_write": 1}, id="one"),
        pytest.param({"allow_write": "true"}, id="text"),
        pytest.param({"allow_write": None}, id="none"),
        pytest.param({"allow_write": [True]}, id="list"),
        pytest.param({"allow_write": Hostile()}, id="hostile"),
        pytest.param({"allow_write": True, "force": True}, id="another-option"),
        pytest.param({"allowWrite": True}, id="other-spelling"),
        pytest.param({"item": 1}, id="named-like-the-argument"),
        pytest.param({"self": 1}, id="named-self"),
        pytest.param({"command": "remember"}, id="named-like-an-inner-argument"),
    ],
)
def test_any_other_option_is_invalid_input(adapter: CortexAdapter, options: dict[str, Any]) -> None:
    for result in (adapter.remember(idea(), **options), adapter.propose(proposal(), **options)):
        assert (result.exit_code, result.envelope["error"]["code"]) == (4, "invalid_input")


def circular() -> dict[str, Any]:
    item = idea()
    item["self"] = item
    return item


def deep() -> list[Any]:
    item: list[Any] = []
    for _ in range(100_000):
        item = [item]
    return item


@pytest.mark.parametrize(
    "item",
    [
        pytest.param(object(), id="object"),
        pytest.param({1, 2}, id="set"),
        pytest.param(idea(confidence=float("nan")), id="nan"),
        pytest.param({("a",): 1}, id="tuple-as-key"),
        pytest.param(circular(), id="circular"),
        pytest.param(Hostile(type="idea"), id="hostile"),
        pytest.param(b"bytes", id="bytes"),
    ],
)
def test_item_without_json_form_is_invalid_input(adapter: CortexAdapter, item: Any) -> None:
    result = adapter.remember(item, allow_write=True)

    assert (result.exit_code, result.envelope["error"]["code"]) == (4, "invalid_input")


def test_very_deep_item_is_invalid_input(adapter: CortexAdapter) -> None:
    result = adapter.remember(deep(), allow_write=True)

    assert result.exit_code == 4


@pytest.mark.parametrize("item", [None, 5, "-", [], [idea()], "text", True, -5])
def test_item_of_no_type_is_refused_as_a_write(adapter: CortexAdapter, item: Any) -> None:
    assert adapter.remember(item, allow_write=True).exit_code == 5


def test_lone_surrogate_is_refused_by_governance_not_by_an_exception(
    adapter: CortexAdapter,
) -> None:
    result = adapter.remember(idea(content="a\ud800"), allow_write=True)

    assert (result.exit_code, result.envelope["error"]["code"]) == (5, "governance_refused")


def test_largest_content_of_three_byte_characters_fits_the_payload(adapter: CortexAdapter) -> None:
    assert adapter.remember(idea(content="中" * 65_536), allow_write=True).exit_code == 0


@pytest.mark.parametrize("value", [None, 7, b"x", ["a"], {}, True])
def test_argument_that_is_no_text_is_invalid_input(adapter: CortexAdapter, value: Any) -> None:
    results = [
        adapter.search(value),
        adapter.timeline(value),
        adapter.get(value),
        adapter.get("a", value),
        adapter.export(value),
    ]

    for command, result in zip(
        ("search", "timeline", "get", "get", "export"), results, strict=True
    ):
        assert (result.exit_code, result.envelope["error"]["code"]) == (4, "invalid_input")
        assert command == result.envelope["command"]


def test_argument_never_becomes_an_option(adapter: CortexAdapter, tmp_path: Path) -> None:
    elsewhere = make_root(tmp_path / "elsewhere")
    free = create_adapter("claude")

    results = [
        free.get("x", "--memory-root", str(elsewhere)),
        free.export("x", "--memory-root", str(elsewhere)),
        adapter.search("--type"),
        adapter.timeline("--before"),
    ]

    assert [result.exit_code for result in results] == [4, 4, 4, 4]


def test_environment_names_the_root_where_the_adapter_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = make_root(tmp_path)
    monkeypatch.setenv("CORTEX_MEMORY_ROOT", str(root))

    result = create_adapter("codex").status()

    assert str(root.resolve()) == result.envelope["data"]["canonical"]["root"]
