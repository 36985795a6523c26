"""Every command that the documents show is run, and what they show of its output is compared.

How a page is read, top to bottom, in one temporary project a page:

- a fenced block `console`: lines with `$ ` are commands, the lines below them their output; a line
  `…` stands for any lines. A command ends in a backslash where it goes on in the next line;
- a fenced block `sh`: commands only;
- `<!-- not run: REASON -->` directly before a block: the block is for the reader alone;
- `<!-- exit: N -->` directly before a block: its last command ends with N, else with 0;
- `<!-- file: PATH -->` directly before a block: the block is written to PATH;
- `<!-- setup` … `-->`: commands that the reader does not see, one a line;
- `<!-- copy: PATH -->`: a file or folder of this repository is copied to the same place;
- `<!-- new project -->`: go on in an empty project.

Ids, digests and dates differ from run to run: the first time one is shown it stands for the one
that came out, and from then on it must stand for the same, in commands and in output.

`python tests/test_docs_commands.py PAGE...` writes the output that really came out into the pages.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

ROOT: Final = Path(__file__).resolve().parent.parent
PAGES: Final = sorted(
    path.relative_to(ROOT).as_posix()
    for pattern in (
        "*.md",
        "docs/*.md",
        "docs/examples/*/*.md",
        "templates/adapters/*/install.md",
        "benchmarks/*.md",
    )
    for path in ROOT.glob(pattern)
)
SHELL: Final = shutil.which("sh")
SHELL_LANGUAGES: Final = ("console", "sh", "bash", "shell")
OURS: Final = ("memory-custodian", "mc-cortex", "mc-scan")
ELISION: Final = "…"
PLACE: Final = "/path/to/project"
TIMEOUT_SECONDS: Final = 120

_FENCE: Final = re.compile(
    r"(?P<before>(?:^<!-- [^\n]* -->\n)*)^```(?P<language>[a-z]*)[^\n]*\n(?P<body>.*?)^```$"
    r"|^<!-- setup\n(?P<setup>.*?)^-->$"
    r"|^<!-- copy: (?P<copy>\S+) -->$"
    r"|^<!-- (?P<new>new project) -->$",
    re.MULTILINE | re.DOTALL,
)
_NOTE: Final = re.compile(r"<!-- (not run|exit|file|command): (.*?) -->")
_TOKEN: Final = re.compile(
    r"MC-[A-Z]+-[0-9]{8}-[0-9a-f]{8}"
    r"|[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}"
    r"|\b[0-9]{4}-[0-9]{2}-[0-9]{2}(?:T[0-9:.]+Z)?\b"
    r"|\b(?=[0-9a-f]*[0-9])[0-9a-f]{12,64}\b"
    r"|(?<=[a-z]-)[0-9a-f]{8}\b"
)
_MEASURE: Final = re.compile(r"\b[0-9]+\.[0-9]{3,}\b")  # scores and times depend on ids and machine


class Step(NamedTuple):
    """A piece of a page that does something."""

    kind: str  # run, file, copy, new
    text: str  # the command, the path
    shown: str | None  # its output as shown, the content of the file
    exit_code: int
    line: int
    span: tuple[int, int]  # of the output, in the page


def steps_of(page: str) -> Iterator[Step]:
    """Yield what a page does, in order."""
    for block in _FENCE.finditer(page):
        line = page.count("\n", 0, block.start("body") if block["language"] else block.start()) + 1
        if block["setup"] is not None:
            for number, command in enumerate(block["setup"].splitlines()):
                yield Step("run", command, None, 0, line + number + 1, (0, 0))
        elif block["copy"] or block["new"]:
            yield Step(
                "copy" if block["copy"] else "new", block["copy"] or "", None, 0, line, (0, 0)
            )
        else:
            yield from _block_steps(block, line)


def _block_steps(block: re.Match[str], line: int) -> Iterator[Step]:
    notes = dict(_NOTE.findall(block["before"]))
    if "file" in notes:
        yield Step("file", notes["file"], block["body"], 0, line, (0, 0))
    elif "not run" not in notes and "command" not in notes:
        commands = list(_commands(block, line))
        for number, step in enumerate(commands, 1):
            is_last = number == len(commands)
            yield step._replace(exit_code=int(notes.get("exit", "0")) if is_last else 0)


def _commands(block: re.Match[str], line: int) -> Iterator[Step]:
    if block["language"] not in SHELL_LANGUAGES:
        return
    shows = block["language"] == "console"
    command, start, output, shown_from = "", line, "", 0
    offset = block.start("body")
    for number, text in enumerate(block["body"].splitlines(keepends=True)):
        goes_on = command.endswith("\\\n")
        is_command = text.startswith("$ ") if shows else bool(text.strip()) and text[0] != "#"
        if goes_on:
            command += text
        elif is_command:
            if command:
                yield _step(command, output, shows, start, shown_from)
            command, start, output = text.removeprefix("$ ") if shows else text, line + number, ""
        else:
            output += text
        offset += len(text)
        if goes_on or is_command:
            shown_from = offset
    if command:
        yield _step(command, output, shows, start, shown_from)


def _step(command: str, output: str, shows: bool, line: int, start: int) -> Step:  # noqa: FBT001
    span = (start, start + len(output))
    return Step("run", command.rstrip("\n"), output if shows else None, 0, line, span)


class Reader:
    """Somebody who follows a page, in a project below *folder*."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._projects = 0
        self._real: dict[str, str] = {}
        self.new_project()
        bin_folder = Path(sys.executable).parent
        self._environment = {**os.environ, "PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}"}

    def new_project(self) -> None:
        """Go on in an empty project."""
        self._projects += 1
        self.root = self._folder / f"project-{self._projects}"
        self.root.mkdir()

    def follow(self, step: Step) -> tuple[str, list[str]]:
        """Do one step; return the output and what is not as the page shows it."""
        if step.kind == "new":
            self.new_project()
        elif step.kind == "file":
            path = self.root / step.text
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(self._as_here(step.shown or "").encode())
        elif step.kind == "copy":
            self._copy(step.text)
        else:
            return self._run(step)
        return "", []

    def as_shown(self, text: str) -> str:
        """Return output with the names that the page uses for what came out."""
        names = {value: name for name, value in self._real.items()}
        return _TOKEN.sub(lambda match: names.get(match[0], match[0]), text)

    def bind_in_order(self, shown: str, out: str) -> None:
        """Take the names in *shown* for those in *out*, in order, if they are as many."""
        names, values = _TOKEN.findall(shown), _TOKEN.findall(out)
        if len(names) == len(values):
            self._real.update(zip(names, values, strict=True))

    def _copy(self, name: str) -> None:
        source, target = ROOT / name, self.root / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, dirs_exist_ok=True)
        else:
            shutil.copyfile(source, target)

    def _run(self, step: Step) -> tuple[str, list[str]]:
        assert SHELL is not None
        done = subprocess.run(
            [SHELL, "-c", self._as_here(step.text)],
            cwd=self.root,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=TIMEOUT_SECONDS,
        )
        out = (done.stdout + done.stderr).decode().replace("\r\n", "\n")
        out = out.replace(str(self.root), PLACE)
        faults = []
        if done.returncode != step.exit_code:
            faults.append(f"exit {done.returncode} instead of {step.exit_code}\n{out}")
        if step.shown is not None:
            faults += self._differences(step.shown, out)
        return out, faults

    def _differences(self, shown: str, out: str) -> list[str]:
        real = out.splitlines()
        parts = [part.splitlines() for part in f"\n{shown}".split(f"\n{ELISION}\n")]
        parts[0] = parts[0][1:]
        at = 0
        for number, part in enumerate(parts):
            is_last = number == len(parts) - 1
            starts = range(at, len(real) - len(part) + 1) if number else [0]
            if is_last and number and part:
                starts = [len(real) - len(part)]
            start = next((start for start in starts if self._fit_all(part, real[start:])), None)
            if start is None:
                return self._first_difference(part, real[at:])
            at = start + len(part)
        is_whole = at == len(real) or (len(parts) > 1 and not parts[-1])
        return [] if is_whole else [f"not shown: {real[at]}"]

    def _fit_all(self, part: list[str], real: list[str]) -> bool:
        """Say whether *real* begins with *part*, and keep what that teaches if it does."""
        before = dict(self._real)
        if len(part) <= len(real) and all(map(self._fits, part, real)):
            return True
        self._real = before
        return False

    def _first_difference(self, part: list[str], real: list[str]) -> list[str]:
        for line, came in zip(part, real, strict=False):
            if not self._fits(line, came):
                return [f"shown: {line}\n  came out: {came}"]
        return [f"shown: {part[-1]}\n  came out: (the end)"]

    def _fits(self, shown: str, real: str) -> bool:
        if _shape(shown) != _shape(real):
            return False
        pairs = list(zip(_TOKEN.findall(shown), _TOKEN.findall(real), strict=True))
        if any(self._real.get(name, value) != value for name, value in pairs):
            return False
        self._real.update(pairs)
        return True

    def _as_here(self, text: str) -> str:
        return _TOKEN.sub(lambda match: self._real.get(match[0], match[0]), text)


def _shape(line: str) -> str:
    return _MEASURE.sub("#", _TOKEN.sub("#", line)).rstrip()


def _read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


@pytest.fixture
def _posix_shell() -> None:
    if SHELL is None or os.name == "nt":
        pytest.skip("the documents show commands of a POSIX shell")


@pytest.mark.parametrize("name", [page for page in PAGES if list(steps_of(_read(page)))])
@pytest.mark.usefixtures("_posix_shell")
def test_page_can_be_followed(name: str, tmp_path: Path) -> None:
    reader = Reader(tmp_path)

    for step in steps_of(_read(name)):
        faults = reader.follow(step)[1]
        assert not faults, f"{name}:{step.line}: {step.text}\n  " + "\n".join(faults)


@pytest.mark.parametrize("name", PAGES)
def test_block_that_is_not_run_says_why(name: str) -> None:
    for block in _FENCE.finditer(_read(name)):
        reason = dict(_NOTE.findall(block["before"] or "")).get("not run", "fine")
        assert len(reason) > 3, f"{name}: {block['body']}"


# The rest reads the commands that stand in running text, and those of the skill: they have to be
# commands and options that exist.

PROSE: Final = sorted(
    {
        *PAGES,
        *(
            path.relative_to(ROOT).as_posix()
            for folder in ("skills", "templates", "hooks", "packages")
            for path in ROOT.joinpath(folder).rglob("*.md")
            if "/tests/" not in path.as_posix() and "/mc_plan/templates/" not in path.as_posix()
        ),
    }
)
_CODE: Final = re.compile(r"`+((?:memory-custodian|mc-scan|mc-cortex) [^`\n]+)`+")
_SHOWN: Final = re.compile(
    r"^(?:\$ )?((?:memory-custodian|mc-scan|mc-cortex) (?:[^\n]*\\\n)*[^\n]*)$", re.MULTILINE
)
_HOLE: Final = re.compile(r"<[^<>\n]*>|…|\.\.\.")


def commands_in(text: str) -> list[str]:
    """Return the command lines of ours that a text shows, in code spans and in blocks."""
    blocks = [match["body"] for match in _FENCE.finditer(text) if match["body"]]
    spans = _CODE.findall(_FENCE.sub("", text))
    return spans + [line for block in blocks for line in _SHOWN.findall(block)]


def option_faults(command: str, known: Mapping[str, frozenset[str]]) -> list[str]:
    """Return the words of *command* that its `--help` does not know."""
    words = shlex.split(_HOLE.sub("X", command.replace("\\\n", " ")), comments=True)
    words = words[: words.index("--")] if "--" in words else words
    program, rest = words[0], words[1:]
    if program == "mc-cortex":
        rest = ["cortex", *rest]
    name = "mc-scan" if program == "mc-scan" else next(iter(rest), "")
    if name == "X" or name.startswith("-"):
        return []
    if name == "cortex":
        name = f"cortex {next(iter(rest[1:]), '')}"
        if name in {"cortex ", "cortex X"}:
            return []
    if name not in known:
        return [f"no command `{name}`"]
    options = [word.partition("=")[0] for word in words if word.startswith("--")]
    return [f"no option `{word}`" for word in options if word not in known[name]]


@pytest.fixture(scope="module")
def known_options() -> dict[str, frozenset[str]]:
    """Return the options of each command, as its parser has them."""
    from importlib import import_module

    from mc_cli.commands import COMMANDS
    from mc_retrieve import arguments

    known = {
        name: frozenset(import_module(command.module).parser(command)._option_string_actions)
        for name, command in COMMANDS.items()
    }
    for name in arguments.COMMANDS:
        known[f"cortex {name}"] = frozenset(arguments._OPTIONS[name] | arguments._COMMON)
    root = {"--memory-root"}
    known["cortex benchmark"] = frozenset({"--labels", "--output", "--plot", *root})
    known["cortex health"] = known["cortex index"] = frozenset({"--json", *root})
    known["cortex init-root"] = frozenset()
    scan = subprocess.run(
        [sys.executable, "-m", "mc_scan", "--help"], capture_output=True, check=True
    )
    known["mc-scan"] = frozenset(re.findall(r"--[a-z-]+", scan.stdout.decode()))
    return known


@pytest.mark.parametrize("name", PROSE)
def test_commands_in_text_exist(name: str, known_options: dict[str, frozenset[str]]) -> None:
    for command in commands_in(_read(name)):
        assert option_faults(command, known_options) == [], command


@pytest.mark.parametrize(
    ("command", "fault"),
    [
        pytest.param("memory-custodian remember", "no command `remember`", id="command"),
        pytest.param("memory-custodian forget x --force", "no option `--force`", id="option"),
        pytest.param("mc-scan docs --fix", "no option `--fix`", id="scan-option"),
        pytest.param("mc-cortex find x", "no command `cortex find`", id="cortex-command"),
        pytest.param("mc-cortex get x --page 2", "no option `--page`", id="cortex-option"),
    ],
)
def test_command_that_does_not_exist_is_found(
    command: str, fault: str, known_options: dict[str, frozenset[str]]
) -> None:
    assert option_faults(command, known_options) == [fault]


PAGE: Final = """# A page

<!-- setup
echo MC-DEC-20260102-0a1b2c3d > new
-->

<!-- file: notes.txt -->
```text
one
```

```console
$ cat \\
    notes.txt
one
$ cat new
MC-DEC-20250101-00000000
$ echo MC-DEC-20250101-00000000 a b
MC-DEC-20250101-00000000 a b
```

<!-- exit: 3 -->
```sh
exit 3
```

<!-- not run: it would never end -->
```sh
sleep infinity
```
"""


def _follow(page: str, folder: Path) -> list[str]:
    reader = Reader(folder)
    return [fault for step in steps_of(page) for fault in reader.follow(step)[1]]


@pytest.mark.usefixtures("_posix_shell")
@pytest.mark.parametrize(
    ("old", "new", "faults"),
    [
        pytest.param("", "", 0, id="as-it-is"),
        pytest.param("\none\n$", "\ntwo\n$", 1, id="other-output"),
        pytest.param("\none\n$", "\n$", 1, id="output-not-shown"),
        pytest.param("\none\n$", "\n…\n$", 0, id="elision"),
        pytest.param("00000000 a b\n```", "00000001 a b\n```", 0, id="a-name-not-used-before"),
        pytest.param("echo MC-DEC-20250101-00000000", "echo MC-DEC-20250101-00000001", 1, id="id"),
        pytest.param("exit: 3", "exit: 4", 1, id="other-exit"),
        pytest.param("exit 3", "exit 0", 1, id="success-where-failure-is-shown"),
    ],
)
def test_page_that_is_not_true_is_found(old: str, new: str, faults: int, tmp_path: Path) -> None:
    assert old in PAGE

    assert len(_follow(PAGE.replace(old, new), tmp_path)) == faults


def main(names: Sequence[str]) -> int:
    """Write the output that came out into the pages *names*; names already shown are kept."""
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            os.environ.update({"XDG_STATE_HOME": f"{folder}/state", "HOME": folder})
            os.environ["GIT_CEILING_DIRECTORIES"] = folder
            reader = Reader(Path(folder).resolve())
            page, shift = _read(name), 0
            for step in steps_of(page):
                out, faults = reader.follow(step)
                if faults:
                    reader.bind_in_order(step.shown or "", out)
                if step.shown is not None and ELISION not in step.shown.splitlines():
                    start, end = (place + shift for place in step.span)
                    text = reader.as_shown(out)
                    page = page[:start] + text + page[end:]
                    shift += len(text) - (end - start)
            (ROOT / name).write_text(page, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
