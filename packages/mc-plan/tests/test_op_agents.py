from __future__ import annotations

import pytest
from mc_plan.errors import MalformedFileError
from mc_plan.operations.agents import (
    ADDED,
    END,
    KEPT,
    REPLACED,
    START,
    UNMANAGED,
    WRITTEN,
    block_of,
    find_block,
    with_block,
)
from mc_schema.trust import is_stated_in

BLOCK = block_of("docs/memory")
OLD = f"{START}\n## MemoryCustodian\n\nold\n{END}"
LEGACY = "## MemoryCustodian\nThis project uses MemoryCustodian. Read `docs/memory/manifest.md`.\n"


def test_the_block_states_the_trust_boundary_and_the_memory_directory() -> None:
    block = block_of("docs/team/memory")

    assert is_stated_in(block)
    assert "docs/team/memory/manifest.md" in block
    commands = [part for part in block.split("`") if part.startswith("memory-custodian ")]
    assert block.count(" with `--memory-dir docs/team/memory`") == len(commands) == 2
    assert "--memory-dir" not in BLOCK


def test_a_new_file_has_a_title_and_the_block() -> None:
    assert (f"# Agent Instructions\n\n{BLOCK}\n", WRITTEN) == with_block(
        None, BLOCK, path="AGENTS.md", replace=False
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("# Mine\n", f"# Mine\n\n{BLOCK}\n", id="lf"),
        pytest.param("# Mine", f"# Mine\n\n{BLOCK}", id="no-final-newline"),
        pytest.param("# Mine\n\n\n", f"# Mine\n\n\n{BLOCK}\n", id="blank-lines"),
        pytest.param("# A\r\nb\r\n", f"# A\r\nb\r\n\r\n{BLOCK}\r\n", id="crlf"),
        pytest.param(
            "see ## MemoryCustodian\n", f"see ## MemoryCustodian\n\n{BLOCK}\n", id="prose"
        ),
        pytest.param(
            f"```\n{OLD}\n```\n", f"```\n{OLD}\n```\n\n{BLOCK}\n", id="markers-in-a-fence"
        ),
        pytest.param(
            "```\n## MemoryCustodian\n```\n",
            f"```\n## MemoryCustodian\n```\n\n{BLOCK}\n",
            id="heading-in-a-fence",
        ),
    ],
)
def test_the_block_is_added_below_what_is_there(text: str, expected: str) -> None:
    """Fault 30: a heading counts at the start of a line, outside fences, alone."""
    wanted = expected.replace("\r\n", "\n").replace("\n", "\r\n") if "\r" in text else expected
    after, done = with_block(text, BLOCK, path="AGENTS.md", replace=False)

    assert (wanted, ADDED) == (after, done)
    assert (after, KEPT) == with_block(after, BLOCK, path="AGENTS.md", replace=True)


def test_an_existing_block_is_kept_unless_asked() -> None:
    text = f"a\n\n{OLD}\n\nb"

    assert (text, KEPT) == with_block(text, BLOCK, path="AGENTS.md", replace=False)
    assert (f"a\n\n{BLOCK}\n\nb", REPLACED) == with_block(
        text, BLOCK, path="AGENTS.md", replace=True
    )


def test_a_replaced_block_uses_the_newlines_of_the_file() -> None:
    """Fault 2."""
    text = f"a\n\n{OLD}\n\nb\n".replace("\n", "\r\n")

    after, _ = with_block(text, BLOCK, path="AGENTS.md", replace=True)

    assert f"a\n\n{BLOCK}\n\nb\n".replace("\n", "\r\n") == after


def test_an_older_section_is_kept_unless_asked() -> None:
    text = f"# T\n\n{LEGACY}\n## Next\n"

    assert (text, UNMANAGED) == with_block(text, BLOCK, path="AGENTS.md", replace=False)
    assert (f"# T\n\n{BLOCK}\n\n## Next\n", REPLACED) == with_block(
        text, BLOCK, path="AGENTS.md", replace=True
    )


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"{END}\nx\n{START}\n", id="order"),
        pytest.param(f"{START}\nx\n", id="no-end"),
        pytest.param(f"x\n{END}\n", id="no-start"),
        pytest.param(f"{OLD}\n{OLD}\n", id="two"),
        pytest.param(f"```\nopen fence\n\n{OLD}\n", id="open-fence"),
        pytest.param("<!-- open comment\n", id="open-comment"),
        pytest.param(f"{LEGACY}\n{LEGACY}", id="two-older-sections"),
        pytest.param("## MemoryCustodian\nwritten by a person\n", id="section-of-a-person"),
    ],
)
def test_a_malformed_file_is_refused_and_named(text: str) -> None:
    """Fault 29."""
    with pytest.raises(MalformedFileError) as caught:
        with_block(text, BLOCK, path="AGENTS.md", replace=True)

    assert caught.value.where.startswith("AGENTS.md")
    assert caught.value.hint


@pytest.mark.parametrize("text", [f"{END}\nx\n{START}\n", f"{OLD}\n{OLD}\n", f"x\n{END}\n"])
def test_markers_that_are_not_one_pair_are_a_malformed_block(text: str) -> None:
    with pytest.raises(MalformedFileError) as caught:
        find_block(text, "AGENTS.md")

    assert (caught.value.code, caught.value.where) == ("malformed_block", "AGENTS.md")


def test_markers_inside_a_fence_are_no_block() -> None:
    assert find_block(f"```\n{START}\n{END}\n```\n", "AGENTS.md") is None
