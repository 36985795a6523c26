"""Drive the command through the steps of a scenario, each in a temporary project of its own.

A step is one of:

- ``{"run": [...], "exit": 0, "stdout": [...], "stderr": [...], "not_stdout": [...],
  "not_stderr": [...], "keep": {"NAME": "regex with one group"}, "unchanged": true}``:
  run one command; ``keep`` takes a value for later steps, written ``{NAME}`` there;
  ``unchanged`` means that no file of the project differs afterwards.
- ``{"together": [[...], [...]]}``: run commands at the same time; all have to succeed.
- ``{"write": "path", "lines": [...]}``: write a file.
- ``{"file": "path", "has": [...], "lacks": [...]}``: look into a file.

``{SECRET}`` is a made-up secret that the scanner takes for a real one; no file here holds it.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mc_scan.testing import fake

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

WORKERS: Final = 3
TIMEOUT_SECONDS: Final = 120
_MACHINE: Final = ("GIT_", "XDG_", "MEMORY_CUSTODIAN_", "CORTEX_")


def drive_all(scenarios: Sequence[Mapping[str, Any]]) -> tuple[int, list[str]]:
    """Return how many commands ran, and one line for each step that did not go as written."""
    with ThreadPoolExecutor(WORKERS) as pool:
        results = list(pool.map(_drive_in_new_project, scenarios))
    return sum(count for count, _ in results), [fault for _, faults in results for fault in faults]


def _drive_in_new_project(scenario: Mapping[str, Any]) -> tuple[int, list[str]]:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        project = _Project(Path(folder).resolve())
        faults = []
        for number, step in enumerate(scenario["cli"], 1):
            found = list(project.take(step))
            faults += [f"{scenario['id']}, step {number}: {fault}" for fault in found]
            if found:
                break
        return project.commands, faults


class _Project:
    """A project below *folder*, with a home and a state directory beside it."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "project"
        self.root.mkdir()
        home = folder / "home"
        home.mkdir()
        self.kept = {"SECRET": fake("github-classic").text}
        self.commands = 0
        places = ("HOME", "USERPROFILE", "LOCALAPPDATA", "APPDATA", "XDG_STATE_HOME")
        self._environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(_MACHINE)},
            **dict.fromkeys(places, str(home)),
            "GIT_CEILING_DIRECTORIES": str(folder),
        }

    def take(self, step: Mapping[str, Any]) -> Iterator[str]:
        """Do one step and yield what is not as it says."""
        if "write" in step:
            path = self.root / step["write"]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(("\n".join(map(self._filled, step["lines"])) + "\n").encode())
        elif "file" in step:
            text = (self.root / step["file"]).read_bytes().decode()
            yield from self._text_faults(step["file"], text, step.get("has"), step.get("lacks"))
        elif "together" in step:
            running = [self._start(arguments) for arguments in step["together"]]
            for process in running:
                _, err = process.communicate(timeout=TIMEOUT_SECONDS)
                if process.returncode:
                    yield f"exit {process.returncode}: {err.decode()}"
        else:
            yield from self._run(step)

    def _run(self, step: Mapping[str, Any]) -> Iterator[str]:
        before = self._files()
        process = self._start(step["run"])
        out, err = (part.decode() for part in process.communicate(timeout=TIMEOUT_SECONDS))
        if process.returncode != step.get("exit", 0):
            yield f"exit {process.returncode} instead of {step.get('exit', 0)}: {err}"
        yield from self._text_faults("stdout", out, step.get("stdout"), step.get("not_stdout"))
        yield from self._text_faults("stderr", err, step.get("stderr"), step.get("not_stderr"))
        if step.get("unchanged") and before != self._files():
            yield "a file of the project changed"
        for name, pattern in step.get("keep", {}).items():
            match = re.search(pattern, out, re.MULTILINE)
            if match is None:
                yield f"nothing to keep as {name}"
            else:
                self.kept[name] = match[1]

    def _start(self, arguments: Sequence[str]) -> subprocess.Popen[bytes]:
        self.commands += 1
        return subprocess.Popen(
            [sys.executable, "-m", "mc_cli", *map(self._filled, arguments)],
            cwd=self.root,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def _text_faults(
        self, name: str, text: str, has: Sequence[str] | None, lacks: Sequence[str] | None
    ) -> Iterator[str]:
        for part in map(self._filled, has or ()):
            if part not in text:
                yield f"{name} lacks: {part}"
        for part in map(self._filled, lacks or ()):
            if part in text:
                yield f"{name} has: {part}"

    def _filled(self, text: str) -> str:
        for name, value in self.kept.items():
            text = text.replace(f"{{{name}}}", value)
        return text

    def _files(self) -> dict[str, bytes]:
        return {str(p): p.read_bytes() for p in sorted(self.root.rglob("*")) if p.is_file()}
