"""Random Protocol 0.5 projects keep the invariants of a migration."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st
from mc_plan import open_project
from mc_schema.manifest import parse_manifest

if TYPE_CHECKING:
    from conftest import Migrating

LINE = st.sampled_from(
    [
        "",
        "Decision:",
        "Decision: inline",
        "Reason:",
        "plain text",
        "中文正文。",
        "- bullet",
        "  continued",
        "1. number",
        "```",
        "~~~~",
        "<!-- remark -->",
        "<!--",
        "-->",
        "## 2026-02-03 - Dated",
        "## 2026-02-31 - No such day",
        "## 2026-02-03",
        "## Undated",
        "## Tombstone: gone",
        "### Sub",
        "# Title",
        "---",
        "Status: odd",
        "<private>hidden</private>",
        "<private>",
        "</private>",
        "tail  ",
    ]
)
END = st.sampled_from(["\n", "\n", "\n", "\r\n"])
TEXT = st.builds(
    lambda lines, end, final, bom: (
        ("\ufeff" if bom else "") + end.join(lines) + (end if final else "")
    ),
    st.lists(LINE, max_size=25),
    END,
    st.booleans(),
    st.booleans(),
)


@settings(max_examples=60)
@given(
    files=st.dictionaries(st.sampled_from(["decisions.md", "areas/x.md", "constraints.md"]), TEXT)
)
def test_migration_keeps_every_line_and_is_done_once(
    files: dict[str, str], migrating: type[Migrating]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        memory = Path(folder, "docs", "memory")
        (memory / "areas").mkdir(parents=True)
        manifest = "# M\n\n## MemoryCustodian Protocol\n- protocol_version: 0.5\n\n## Always load\n"
        for name, text in {"manifest.md": manifest, **files}.items():
            (memory / name).write_bytes(text.encode())
        project = open_project(folder)
        before = migrating.read_all(project)

        plan = migrating.migrate(project)

        after = migrating.read_all(project)
        headings = {(new.path, new.line) for new in plan.result.ids}
        for name, data in before.items():
            if name == "manifest.md":
                continue
            kept = [
                line
                for number, line in enumerate(migrating.lines_of(data), 1)
                if (f"docs/memory/{name}", number) not in headings
            ]
            assert migrating.is_subsequence(kept, migrating.lines_of(after[name]))
        assert parse_manifest(after["manifest.md"].decode()).metadata.is_current
        assert migrating.plan_of(project).public().changes_nothing
