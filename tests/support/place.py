"""A project on a machine of its own: a root, a home, a state directory, and commands run there."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MEMORY: Final = "docs/memory"
PLAN_LINE: Final = re.compile(r"^Plan ID: ([0-9a-f]{16})$", re.MULTILINE)
ENTRY_ID: Final = re.compile(r"MC-[A-Z]+-\d{8}-[0-9a-f]{8}")
COMMAND: Final = re.compile(r"`memory-custodian ([^`]+)`")
APPLY_LINE: Final = re.compile(
    r"^  memory-custodian (.*--confirm-plan [0-9a-f]{16}.*)$", re.MULTILINE
)
TIMEOUT_SECONDS: Final = 120.0
_LONG_AGO: Final = 1_577_836_800
_LAUNCHER: Final = "import sys\nfrom mc_cli.main import main\nsys.exit(main())\n"


class Answer(NamedTuple):
    """What a command said."""

    code: int
    out: str
    err: str

    @property
    def plan_id(self) -> str:
        """The one id that a preview prints in the form of section 8 of the guide."""
        (found,) = PLAN_LINE.findall(self.out)
        return str(found)

    @property
    def apply_words(self) -> list[str]:
        """The arguments of the command that the preview says applies it."""
        import shlex

        (line,) = APPLY_LINE.findall(self.out)
        return shlex.split(line)


class Place(NamedTuple):
    """One project and the machine it is on; everything lies below `base`."""

    base: Path
    memory_dir: str = MEMORY

    @property
    def root(self) -> Path:
        """The project's root."""
        return self.base / "project"

    @property
    def memory(self) -> Path:
        """The memory directory."""
        return self.root / self.memory_dir

    @property
    def state(self) -> Path:
        """The state directory of this machine."""
        return self.base / "state" / "memory-custodian"

    def environment(self, changes: Mapping[str, str] | None = None) -> dict[str, str]:
        """Return the environment of a command on this machine."""
        return {
            **os.environ,
            "HOME": str(self.base),
            "XDG_STATE_HOME": str(self.base / "state"),
            "PYTHONDONTWRITEBYTECODE": "1",
            **(changes or {}),
        }

    def argv(self, words: Sequence[str]) -> list[str]:
        """Return the command line of a real process that does not import from its folder."""
        launcher = self.base / "bin" / "launcher.py"
        if not launcher.exists():
            launcher.parent.mkdir()
            launcher.write_text(_LAUNCHER, "utf-8")
        return [sys.executable, str(launcher), *words]

    def run(
        self,
        *words: str,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        prefix: Sequence[str] = (),
        code: str | None = None,
    ) -> Answer:
        """Run a command as a process; *prefix* runs before it, *code* instead of the launcher."""
        argv = self.argv(words) if code is None else [sys.executable, "-c", code, *words]
        done = subprocess.run(
            [*prefix, *argv],
            cwd=cwd or self.root,
            env=self.environment(env),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=TIMEOUT_SECONDS,
        )
        return Answer(done.returncode, done.stdout.decode(), done.stderr.decode())

    def start(self, *words: str, env: Mapping[str, str] | None = None) -> subprocess.Popen[bytes]:
        """Start a command and do not wait for it."""
        return subprocess.Popen(
            self.argv(words),
            cwd=self.root,
            env=self.environment(env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def call(self, *words: str) -> Answer:
        """Run a command in this process: for claims that are not about processes."""
        from mc_cli.main import main

        out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", newline="\n") for _ in range(2))
        before = Path.cwd()
        saved = dict(os.environ)
        os.environ.update(self.environment())
        os.chdir(self.root)
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                code = main(words)
        finally:
            os.chdir(before)
            os.environ.clear()
            os.environ.update(saved)
        texts = []
        for stream in (out, err):
            stream.flush()
            buffer = stream.buffer
            assert isinstance(buffer, io.BytesIO)
            texts.append(buffer.getvalue().decode())
        return Answer(code, *texts)

    def require(self, *words: str) -> Answer:
        """Run a command in this process that must succeed."""
        answer = self.call(*words)
        assert answer.code == 0, (words, answer)
        return answer

    def add(self, text: str, kind: str = "decision", *words: str) -> str:
        """Add one active entry, return its id."""
        evidence = () if "--candidate" in words else ("--evidence", "user-confirmed")
        said = self.require("add", text, "--type", kind, *evidence, *words).out
        return str(ENTRY_ID.findall(said)[0])

    def apply(self, *words: str) -> Answer:
        """Preview, then apply with the printed command; of a private plan with its topic."""
        shown = self.require(*words).apply_words
        return self.require(*(words[1] if word == "<TOPIC>" else word for word in shown))

    def tree(self) -> dict[str, bytes]:
        """Return every regular file below the project's root, by POSIX path."""
        return files_below(self.root)

    def text(self, name: str) -> str:
        """Return the text of a file of the memory directory, line ends as they are."""
        return (self.memory / name).read_bytes().decode()

    def write(self, name: str, text: str) -> Path:
        """Write a file of the memory directory, line ends as given."""
        path = self.memory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
        return path

    def leftovers(self) -> list[str]:
        """Return every lock, journal and temporary that is there; empty is as it should be."""
        found = [path for name in ("locks", "journal") for path in (self.state / name).glob("*")]
        # An empty or filled `retired` is where `recover --accept-current` puts journals.
        found = [path for path in found if path.name != "retired"]
        found += [path for path in self.root.rglob(".*") if path.name.endswith(".tmp")]
        found += list((self.state / "plans").glob("*.tmp"))
        return sorted(path.relative_to(self.base).as_posix() for path in found)

    def age_locks(self) -> None:
        """Let every lock look as if it were years old: nobody waits for that in a test."""
        for path in (self.state / "locks").glob("*.lock"):
            data = path.read_bytes()
            with contextlib.suppress(ValueError):
                record = {**json.loads(data), "created_at": "2020-01-01T00:00:00+00:00"}
                path.write_bytes(json.dumps(record).encode())
            os.utime(path, (_LONG_AGO, _LONG_AGO))

    def keep_as(self, copy: Path) -> None:
        """Copy the whole machine to *copy*, for `restore_from`."""
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(self.base, copy, symlinks=True)

    def restore_from(self, copy: Path) -> None:
        """Make the whole machine what it was when `keep_as` was called."""
        for path in (self.base / "project", self.base / "state"):
            shutil.rmtree(path, ignore_errors=True)
            shutil.copytree(copy / path.name, path, symlinks=True)


def files_below(root: Path) -> dict[str, bytes]:
    """Return the bytes of every regular file below *root*, by POSIX path."""
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and not path.is_symlink()
    }


def new_place(base: Path, *, memory_dir: str = MEMORY, extended: bool = False) -> Place:
    """Return a new Protocol 0.6 project below *base*, as `init` makes it, its brief filled in."""
    place = Place(base.resolve(), memory_dir)
    place.root.mkdir(parents=True)
    words = ["init", *(["--extended"] if extended else [])]
    if memory_dir != MEMORY:
        words += ["--memory-dir", memory_dir]
    place.require(*words)
    place.write("brief.md", "# Project Brief\n\nA service that answers questions about trains.\n")
    return place


def without_new_ids(tree: Mapping[str, bytes], known: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return *tree* with ids that *known* has not, and instants, made equal for comparison."""
    old = set(ENTRY_ID.findall(b"".join(known.values()).decode("utf-8", "replace")))

    def same(match: re.Match[str]) -> str:
        # Without its date too: midnight may pass between two runs.
        return match[0] if match[0] in old else match[0].rpartition("-")[0].rpartition("-")[0]

    result = {}
    for path, data in tree.items():
        text = data.decode("utf-8", "surrogateescape")
        text = ENTRY_ID.sub(same, text)
        text = re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", "<INSTANT>", text)
        result[path] = text.encode("utf-8", "surrogateescape")
    return result
