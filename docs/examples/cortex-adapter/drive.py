"""Drive a Cortex root from Python: capture, remember, find again, propose.

    python docs/examples/cortex-adapter/drive.py /path/to/an/empty/folder

Every adapter name is used once: claude, codex, hermes and subagent. Naming an adapter grants
nothing; each write grants itself with `allow_write=True`. Results are values with `exit_code` and
`envelope`, never exceptions.

The tag `<private>` cleans what passes through here. It cannot clean what a host has already logged:
transcripts, terminals and provider logs keep what they saw before this boundary was reached.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from mc_cli.cortex.adapter import create_adapter
from mc_schema.private import CaptureEnvelope, ingest, is_valid_at

CAPTURES = Path(__file__).with_name("captures.jsonl")


def as_idea(capture: CaptureEnvelope) -> dict[str, Any]:
    """Return a clean capture as an item; the consumer of `ingest` never sees the private text."""
    item = {
        "type": "idea",
        "title": f"Heard from {capture.source} on {capture.captured_at[:10]}",
        "content": capture.content,
    }
    if capture.session_id:
        item["source_session"] = capture.session_id
    return item


def main(root: str) -> int:
    """Write what the captures say with each adapter, and read it back."""
    captures = [json.loads(line) for line in CAPTURES.read_text(encoding="utf-8").splitlines()]
    for name in ("claude", "codex", "hermes", "subagent"):
        adapter = create_adapter(name, memory_root=root)
        refused = adapter.remember({"type": "idea", "title": "x", "content": "y"})
        print(f"{name}: without permission: {refused.envelope['error']['code']}")
        for capture in (each for each in captures if each["source"] == name):
            written = adapter.remember(ingest(capture, as_idea), allow_write=True)
            result = written.envelope["data"]["result"]
            note_id = result["detail"]["id"]
            content = adapter.get(note_id).envelope["data"]["items"][0]["content"]
            print(f"{name}: wrote {result['path']}, {len(content)} characters come back")

    # A chat is no adapter: whoever reads it brings its captures in, and writes under its own name.
    reader = create_adapter("hermes", memory_root=root)
    for capture in captures:
        if capture["source"] != "telegram":
            continue
        if is_valid_at(capture, capture["timestamps"]["captured_at"]):
            reader.remember(ingest(capture, as_idea), allow_write=True)

    entry = {"type": "memory", "actor": "principal", "content": "PREFERENCE: exports in CSV"}
    create_adapter("claude", memory_root=root).remember(entry, allow_write=True)
    proposed = create_adapter("codex", memory_root=root).propose(
        {
            "type": "proposal",
            "target_file": "USER/STYLE.md",
            "edit": "Write dates as 2026-07-26.",
            "rationale": "Every capture of the week does.",
            "confidence": 0.8,
        },
        allow_write=True,
    )
    print(f"queued {proposed.envelope['data']['result']['detail']['id']}")
    print("a person decides: memory-custodian proposals list --memory-root", root)

    found = reader.search("workshop exports").envelope["data"]
    print(f"found {found['total']} records; status {reader.status().exit_code}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
