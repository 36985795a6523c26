"""`add` as a process: what it says, how it exits, and what it writes."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import jsonschema
import pytest
from mc_cli.notices import place_key
from mc_lock import acquire_mutation_lock, resolve_state_directory
from mc_plan.operations import insertion
from mc_retrieve import memorydir
from referencing import Registry, Resource

if TYPE_CHECKING:
    from conftest import RunCommand

SCHEMAS: Final = Path(__file__).parents[3] / "docs" / "schemas"
MEMORY: Final = "docs/memory"
EVIDENCE: Final = ("--evidence", "user-confirmed")
DECISION: Final = ("--type", "decision", *EVIDENCE)
# Made up, and put together here so that no scanner of this repository takes it for a real one.
TOKEN: Final = "ghp_" + "wWPw5k4aXcaT4fNP0UcnZwJUVFk6LO0pINUx"
NEVER_IMPORTED: Final = (
    "dataclasses",
    "tomllib",
    "tomli",
    "importlib.resources",
    "importlib.metadata",
    "platformdirs",
    "tempfile",
    "uuid",
    "difflib",
    "subprocess",
    "mc_retrieve",
    "mc_migrate",
)


@pytest.fixture(scope="module")
def new_project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a project as `init` makes it; tests copy it, since a process costs more."""
    base = tmp_path_factory.mktemp("new").resolve()
    root = base / "project"
    root.mkdir()
    (root / "pyproject.toml").write_text("[project]\n")
    subprocess.run(
        [sys.executable, "-m", "mc_cli", "init"],
        cwd=root,
        env={**os.environ, "XDG_STATE_HOME": str(base / "state")},
        check=True,
        capture_output=True,
    )
    return root


@pytest.fixture
def project(new_project: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(new_project, tmp_path / "project"))


def files_of(root: Path) -> dict[str, bytes]:
    found = (path for path in root.rglob("*") if path.is_file())
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in found}


def ids_in(root: Path, name: str) -> list[str]:
    text = (root / MEMORY / name).read_text("utf-8")
    return re.findall(r"^## (MC-\S+)", text, re.MULTILINE)


def plan_id_of(output: str) -> str:
    (found,) = re.findall(r"^Plan ID: ([0-9a-f]{16})$", output, re.MULTILINE)
    return str(found)


def data_of(output: str, schema: str) -> dict[str, Any]:
    """Return the data of the one JSON document *output*, checked by its schema."""
    answer = json.loads(output)
    registry: Registry[Any] = Registry().with_resources(
        (path.name, Resource.from_contents(json.loads(path.read_text("utf-8"))))
        for path in SCHEMAS.glob("*.json")
    )

    def check(value: Any, name: str) -> None:
        contents = json.loads((SCHEMAS / name).read_text("utf-8"))
        jsonschema.Draft202012Validator(contents, registry=registry).validate(value)

    check(answer, "memory-custodian-v1.schema.json")
    if answer["data"] is not None:
        check(answer["data"], schema)
    if (answer["error"] or {}).get("plan"):
        check(answer["error"]["plan"], "plan.schema.json")
    return dict(answer)


# Success


def test_an_entry_is_added_and_the_files_are_listed(
    project: Path, memory_custodian: RunCommand
) -> None:
    done = memory_custodian(
        ["add", "Support Python 3.10+.", "--type", "decision", "--evidence", "repo:pyproject.toml"],
        cwd=project,
    )

    (entry_id,) = ids_in(project, "decisions.md")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert done.stdout == (
        f"Added active {entry_id} to docs/memory/decisions.md\n"
        "Decision entry budget: 13/120 tokens\n"
        "Budget: docs/memory/decisions.md 20/800 tokens\n"
        "Files written:\n"
        "- docs/memory/decisions.md\n"
    )


def test_json_is_one_document_of_its_schema(project: Path, memory_custodian: RunCommand) -> None:
    """Field report D4: also when there is something to warn about."""
    done = memory_custodian(
        ["add", "Mail a <private>x</private>b", *DECISION, "--json"], cwd=project
    )

    answer = data_of(done.stdout, "add.schema.json")
    assert answer["ok"] is True
    assert answer["data"]["entry"]["id"] == ids_in(project, "decisions.md")[0]
    assert answer["data"]["warnings"] == ["text inside `<private>` was removed from the message"]
    assert done.stderr == "warning: text inside `<private>` was removed from the message\n"


def test_the_message_can_come_from_standard_input(
    project: Path, memory_custodian: RunCommand
) -> None:
    message = "Zuerst: é\n\n```\n## code\n```\n"

    done = memory_custodian(["add", "-", *DECISION], cwd=project, input=message)

    assert done.returncode == 0, done.stderr
    assert message in (project / MEMORY / "decisions.md").read_text("utf-8")


@pytest.mark.parametrize("data", [b"\xff\xfe", b"x" * ((1 << 20) + 1), b""])
def test_unusable_standard_input_is_refused(
    project: Path, memory_custodian: RunCommand, data: bytes
) -> None:
    done = memory_custodian(["add", "-", *DECISION], cwd=project, input=data)

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.endswith("no files were written\n")


def test_a_dry_run_shows_the_change_and_writes_nothing(
    project: Path, memory_custodian: RunCommand
) -> None:
    before = files_of(project)

    done = memory_custodian(["add", "Keep it", *DECISION, "--dry-run"], cwd=project)
    as_json = memory_custodian(["add", "Keep it", *DECISION, "--dry-run", "--json"], cwd=project)

    assert done.returncode == 0
    assert "+Keep it\n" in done.stdout
    assert "Plan ID:" not in done.stdout
    assert files_of(project) == before
    data = data_of(as_json.stdout, "add.schema.json")["data"]
    assert (data["applied"], data["files_written"]) == (False, [])
    assert "+Keep it\n" in data["diff"]


def test_the_memory_is_found_from_a_folder_below(
    project: Path, memory_custodian: RunCommand
) -> None:
    """Field report D17."""
    below = project / "src" / "deep"
    below.mkdir(parents=True)

    done = memory_custodian(["add", "Keep it", *DECISION], cwd=below)

    assert done.returncode == 0, done.stderr
    assert len(ids_in(project, "decisions.md")) == 1


def test_another_spelling_of_the_root_is_the_same_project(
    project: Path, tmp_path: Path, memory_custodian: RunCommand
) -> None:
    """Field report D16."""
    link = tmp_path / "link"
    link.symlink_to(project)
    for root in (f"{project}/", f"{project}/docs/..", str(link)):
        done = memory_custodian(
            ["add", f"From {root}", *DECISION, "--project-root", root], cwd=tmp_path
        )
        assert done.returncode == 0, done.stderr

    assert len(ids_in(project, "decisions.md")) == 3


def test_a_command_loads_no_slow_module(project: Path) -> None:
    script = (
        "import sys; from mc_cli.main import main; "
        f"main(['add', 'Keep it', '--type', 'decision', '--evidence', 'issue:#1']); "
        f"print(*[name for name in {NEVER_IMPORTED!r} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=project, capture_output=True, text=True, check=True
    )

    assert done.stderr.strip() == ""


# Refusals


@pytest.mark.parametrize(
    ("words", "code", "name"),
    [
        pytest.param(["x"], 2, "no_evidence", id="no-evidence"),
        pytest.param(["x", "--evidence", "agent-observed"], 2, "weak_evidence", id="weak"),
        pytest.param(["x", "--evidence", "repo:absent"], 2, "missing_evidence", id="missing"),
        pytest.param(["x", "--evidence", "repo:/etc/passwd"], 2, "invalid_evidence", id="path"),
        pytest.param(["## x", "--evidence", "issue:#1"], 2, "invalid_text", id="heading"),
        pytest.param(
            ["x", "--evidence", "issue:#1", "--area", "../x"], 2, "invalid_name", id="name"
        ),
        pytest.param(
            ["x", "--evidence", "issue:#1", "--name", "x"], 2, "invalid_placement", id="place"
        ),
        pytest.param(["word " * 130, "--evidence", "issue:#1"], 1, "long_entry", id="long"),
        pytest.param(["x", "--evidence", "issue:#1", "--apply"], 2, "usage", id="apply"),
        pytest.param(
            ["x", "--evidence", "issue:#1", "--confirm-plan", "0" * 16], 2, "usage", id="confirm"
        ),
        pytest.param(["x", "--unknown"], 2, "usage", id="option"),
        pytest.param(
            ["x", "--evidence", "issue:#1", "--supersedes", "MC-DEC-20260101-aaaaaaaa"],
            1,
            "unknown_id",
            id="unknown-id",
        ),
        pytest.param(["x", "--supersedes", "odd"], 2, "invalid_id", id="malformed-id"),
        pytest.param(
            [
                "x",
                "--evidence",
                "issue:#1",
                "--supersedes",
                "MC-DEC-20260101-aaaaaaaa",
                "--apply",
                "--confirm-plan",
                "xyz",
            ],
            2,
            "malformed_plan_id",
            id="malformed-plan-id",
        ),
    ],
)
def test_a_refusal_says_what_and_what_next_and_that_nothing_was_written(
    project: Path, memory_custodian: RunCommand, words: list[str], code: int, name: str
) -> None:
    before = files_of(project)
    command = ["add", *words, "--type", "decision"]

    done = memory_custodian(command, cwd=project)
    as_json = memory_custodian([*command, "--json"], cwd=project)

    assert (done.returncode, done.stdout) == (code, "")
    assert re.fullmatch(r"error: .+\n\nhint: .+\nno files were written\n", done.stderr)
    assert "Traceback" not in done.stderr
    assert as_json.returncode == code
    assert data_of(as_json.stdout, "add.schema.json")["error"]["code"] == name
    assert files_of(project) == before


def test_the_two_sentences_of_the_guide_stand_word_for_word(
    project: Path, memory_custodian: RunCommand
) -> None:
    done = memory_custodian(
        ["add", "x", "--type", "decision", "--evidence", "agent-observed"], cwd=project
    )

    assert done.stderr == (
        "error: agent-observed evidence cannot create active memory.\n\n"
        "hint: Use --candidate or provide user-confirmed/source-backed evidence.\n"
        "no files were written\n"
    )


def test_a_duplicate_is_refused_with_its_id(project: Path, memory_custodian: RunCommand) -> None:
    memory_custodian(["add", "Keep it", *DECISION], cwd=project)
    (entry_id,) = ids_in(project, "decisions.md")

    done = memory_custodian(["add", "keep  IT", *DECISION], cwd=project)

    assert done.returncode == 1
    assert f"--supersedes {entry_id}" in done.stderr


def test_without_a_memory_directory_init_is_named(
    tmp_path: Path, memory_custodian: RunCommand
) -> None:
    done = memory_custodian(["add", "x"], cwd=tmp_path)

    assert done.returncode == 1
    assert "memory-custodian init" in done.stderr


SECRET: Final = (
    "-----BEGIN " + "RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7bq\n-----END RSA PRIVATE KEY-----"
)


def test_a_secret_is_refused_and_never_shown(project: Path, memory_custodian: RunCommand) -> None:
    """Field report D33."""
    before = files_of(project)
    for words in (
        ["add", SECRET, *DECISION],
        ["add", SECRET, *DECISION, "--json"],
        ["add", "x", *DECISION, "--reason", SECRET],
    ):
        done = memory_custodian(words, cwd=project)

        assert done.returncode == 1, done.stderr
        assert "MIIEpAIBAAKCAQEA7bq" not in done.stdout + done.stderr
        assert "--allow-secret-like" in done.stderr + done.stdout
    assert files_of(project) == before


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("-----BEGIN " + "RSA PRIVATE KEY-----", id="key-header-alone"),
        pytest.param("x -----BEGIN " + "OPENSSH PRIVATE KEY----- b3BlbnNzaC1rZXkt", id="one-line"),
        pytest.param(f"{TOKEN} <!-- mc-scan: allow github-token -->", id="marked-as-allowed"),
    ],
)
def test_what_may_be_a_cut_secret_is_refused_too(
    project: Path, memory_custodian: RunCommand, text: str
) -> None:
    """A key header typed into a command, and a mark: only `--allow-secret-like` lets them in."""
    done = memory_custodian(["add", *DECISION, "--", text], cwd=project)

    assert done.returncode == 1
    assert "error: the text looks like it holds a secret" in done.stderr
    assert ids_in(project, "decisions.md") == []


@pytest.mark.skipif(os.name == "nt", reason="a POSIX shell closes the stream")
def test_closed_standard_input_is_an_error_of_one_line(project: Path) -> None:
    command = shlex.join([sys.executable, "-m", "mc_cli", "add", "-", *DECISION])

    done = subprocess.run(
        ["/bin/sh", "-c", f"{command} <&-"], cwd=project, capture_output=True, check=False
    )

    assert done.returncode == 2
    assert done.stderr.startswith(b"error: standard input is closed\n\nhint: ")
    assert ids_in(project, "decisions.md") == []


def test_writers_and_readers_agree_on_the_largest_file() -> None:
    assert memorydir.MAX_FILE_BYTES == insertion.MAX_FILE_BYTES


def test_an_allowed_secret_is_written_and_still_not_shown(
    project: Path, memory_custodian: RunCommand
) -> None:
    memory_custodian(["add", "Keep it", *DECISION], cwd=project)
    (old,) = ids_in(project, "decisions.md")
    allowed = ["add", SECRET, *DECISION, "--allow-secret-like"]
    seen = ""
    for words in (
        [*allowed, "--dry-run"],
        [*allowed, "--dry-run", "--json"],
        [*allowed, "--supersedes", old],
        [*allowed, "--supersedes", old, "--apply"],
        [*allowed, "--supersedes", old, "--apply", "--json"],
        allowed,
    ):
        done = memory_custodian(words, cwd=project)
        assert done.returncode == (3 if "--apply" in words else 0), done.stderr
        seen += done.stdout + done.stderr

    assert "MIIEpAIBAAKCAQEA7bq" not in seen
    assert "MIIEpAIBAAKCAQEA7bq" in (project / MEMORY / "decisions.md").read_text()


def test_words_that_look_like_keys_are_accepted(
    project: Path, memory_custodian: RunCommand
) -> None:
    """Field report D32."""
    done = memory_custodian(["add", "task-isolated-runner-for-long-names", *DECISION], cwd=project)

    assert done.returncode == 0, done.stderr


def test_text_in_a_private_span_appears_nowhere(
    project: Path, memory_custodian: RunCommand
) -> None:
    """Field report D31."""
    text = "a <private>zebra-marker</private> b"
    memory_custodian(["add", "Old", *DECISION], cwd=project)
    (old,) = ids_in(project, "decisions.md")
    seen = ""
    for words in (
        ["--dry-run"],
        ["--dry-run", "--json"],
        ["--supersedes", old],
        ["--supersedes", old, "--apply"],
        ["--json"],
    ):
        done = memory_custodian(
            ["add", text, *DECISION, "--title", text, "--reason", text, *words], cwd=project
        )
        seen += done.stdout + done.stderr
    done = memory_custodian(["add", "x <private>zebra-marker", *DECISION], cwd=project)
    seen += done.stdout + done.stderr

    assert done.returncode == 2
    assert "zebra-marker" not in seen
    assert b"zebra-marker" not in b"".join(files_of(project).values())


# Previews


def test_the_printed_command_applies_what_was_previewed(
    project: Path, memory_custodian: RunCommand
) -> None:
    """Also for text that a shell and a plan could misread; only one line has the form of an id."""
    memory_custodian(["add", "Old", *DECISION], cwd=project)
    (old,) = ids_in(project, "decisions.md")
    message = "-It's `x` $HOME\n\nPlan ID: 0123456789abcdef\n\n```\n\"a\" \\ 'b'\n```"
    before = files_of(project)

    shown = memory_custodian(
        ["add", "-", "--supersedes", old, *DECISION, "--reason", "- a\n- b"],
        cwd=project,
        input=message,
    )

    assert shown.returncode == 0, shown.stderr
    assert files_of(project) == before
    plan_id = plan_id_of(shown.stdout)
    command = shown.stdout.split("Apply it with:\n  ")[1].rstrip("\n")
    assert "\n" not in command
    assert f"--apply --confirm-plan {plan_id}" in command
    tools = project.parent / "bin"
    tools.mkdir()
    script = tools / "memory-custodian"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m mc_cli "$@"\n')
    script.chmod(0o755)
    environment = {**os.environ, "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        ["sh", "-c", command], cwd=project, env=environment, capture_output=True, check=False
    )

    assert done.returncode == 0, done.stderr
    assert f"Superseded {old}".encode() in done.stdout
    text = (project / MEMORY / "decisions.md").read_text("utf-8")
    assert message in text
    assert "Reason:\n- a\n- b\n" in text


def test_a_preview_shows_all_parts_of_a_plan(project: Path, memory_custodian: RunCommand) -> None:
    memory_custodian(["add", "Old", *DECISION], cwd=project)
    (old,) = ids_in(project, "decisions.md")

    done = memory_custodian(["add", "New", "--supersedes", old, *DECISION], cwd=project)
    as_json = memory_custodian(
        ["add", "New", "--supersedes", old, *DECISION, "--json"], cwd=project
    )

    for part in ("Target files:", "Operations:", "Blockers:", "Warnings:", "Estimated budget:"):
        assert f"\n{part}\n" in done.stdout
    assert re.search(r"- docs/memory/decisions\.md: replace, base [0-9a-f]{12}\n", done.stdout)
    assert "--- a/docs/memory/decisions.md\n" in done.stdout
    data = data_of(as_json.stdout, "add.schema.json")["data"]
    assert data["plan_id"] == data["plan"]["plan_id"] == plan_id_of(done.stdout)


@pytest.mark.parametrize("words", [[], ["--confirm-plan", "0" * 16]], ids=["unconfirmed", "stale"])
def test_a_wrong_plan_id_prints_the_new_plan_and_writes_nothing(
    project: Path, memory_custodian: RunCommand, words: list[str]
) -> None:
    memory_custodian(["add", "Old", *DECISION], cwd=project)
    (old,) = ids_in(project, "decisions.md")
    before = files_of(project)
    command = ["add", "New", "--supersedes", old, *DECISION, "--apply", *words]

    done = memory_custodian(command, cwd=project)
    as_json = memory_custodian([*command, "--json"], cwd=project)

    assert done.returncode == 3
    assert done.stderr.endswith("\nno files were written\n")
    assert ("plan is stale" in done.stderr) is bool(words)
    error = data_of(as_json.stdout, "add.schema.json")["error"]
    assert error["plan"]["plan_id"] == plan_id_of(done.stdout)
    assert files_of(project) == before


def test_a_nested_memory_directory_is_shown_in_full(
    tmp_path: Path, memory_custodian: RunCommand
) -> None:
    where = ["--memory-dir", "docs/team/memory"]
    memory_custodian(["init", *where], cwd=tmp_path)
    memory_custodian(["add", "Old", *DECISION, *where], cwd=tmp_path)
    text = (tmp_path / "docs/team/memory/decisions.md").read_text()
    old = re.findall(r"^## (MC-\S+)", text, re.MULTILINE)[0]
    command = ["add", "New", "--supersedes", old, *DECISION, *where]

    shown = memory_custodian(command, cwd=tmp_path)
    done = memory_custodian(
        [*command, "--apply", "--confirm-plan", plan_id_of(shown.stdout)], cwd=tmp_path
    )

    assert "- docs/team/memory/decisions.md: replace" in shown.stdout
    assert "--memory-dir docs/team/memory" in shown.stdout
    assert done.stdout.endswith("Files written:\n- docs/team/memory/decisions.md\n")


# The machine


def test_a_held_lock_is_waited_for_and_then_named(
    project: Path, memory_custodian: RunCommand
) -> None:
    """The configured time-out is used; a reader is not stopped."""
    (project / "memory-custodian.toml").write_text("lock-timeout = 0.2\n")
    project_id = re.findall(r"project_id: (\S+)", (project / MEMORY / "manifest.md").read_text())[0]
    with acquire_mutation_lock(
        resolve_state_directory(project),
        read_identity=lambda: project_id,
        memory_dir=project / MEMORY,
        project_root=project,
        command="other",
        notify=lambda _: None,
    ):
        done = memory_custodian(["add", "x", *DECISION], cwd=project)
        dry = memory_custodian(["add", "x", *DECISION, "--dry-run"], cwd=project)

    assert (done.returncode, done.stdout) == (4, "")
    assert "other" in done.stderr
    assert done.stderr.endswith("no files were written\n")
    assert dry.returncode == 0


def test_an_interrupted_change_stops_writers_and_warns_previews(
    project: Path, memory_custodian: RunCommand
) -> None:
    state = resolve_state_directory(project).ensure()
    (state.journal / f"{place_key(project / MEMORY)}.json").write_text("damaged")
    (state.journal / f"{place_key(project / MEMORY)}.json").chmod(0o600)
    before = files_of(project)

    done = memory_custodian(["add", "x", *DECISION], cwd=project)
    dry = memory_custodian(["add", "x", *DECISION, "--dry-run"], cwd=project)

    assert done.returncode == 5
    assert "memory-custodian recover --accept-current" in done.stderr
    assert done.stderr.endswith("no files were written\n")
    assert (dry.returncode, "warning: " in dry.stderr) == (0, True)
    assert files_of(project) == before


def test_an_interruption_after_the_change_names_the_files(project: Path) -> None:
    """Ctrl-C while the answer is made must not be reported as if nothing had been written."""
    script = (
        "import sys, mc_cli.addview as view\n"
        "from mc_cli.main import main\n"
        "def interrupted(metadata): raise KeyboardInterrupt\n"
        "view.protocol_notices = interrupted\n"
        "sys.exit(main(['add', 'Keep it', '--type', 'decision', '--evidence', 'issue:#1']))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=project, capture_output=True, text=True, check=False
    )

    assert done.returncode == 130
    assert "written: docs/memory/decisions.md\n" in done.stderr
    assert "no files were written" not in done.stderr
    assert len(ids_in(project, "decisions.md")) == 1


@pytest.mark.skipif(os.name == "nt", reason="needs modes that bind the user")
def test_nothing_is_needed_but_python(
    project: Path, tmp_path: Path, memory_custodian: RunCommand
) -> None:
    """No git on PATH, no HOME, no state directory yet, an umask of its own."""
    empty = tmp_path / "empty"
    empty.mkdir()
    changes = {"PATH": str(empty), "HOME": None, "XDG_STATE_HOME": None, "TMPDIR": str(empty)}

    done = memory_custodian(
        ["add", "x", "--type", "decision", "--evidence", "repo:pyproject.toml@abc"],
        cwd=project,
        env=changes,
    )

    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_evidence_at_a_revision_is_asked_from_git(
    project: Path, memory_custodian: RunCommand
) -> None:
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "x"]):
        subprocess.run(["git", *words], cwd=project, check=True)
    command = ["add", "x", "--type", "decision", "--evidence"]

    missing = memory_custodian([*command, "repo:never.md@HEAD"], cwd=project)
    there = memory_custodian([*command, "repo:pyproject.toml@HEAD"], cwd=project)

    assert (missing.returncode, there.returncode) == (2, 0)
    assert "`repo:never.md@HEAD`" in missing.stderr


def test_an_older_project_gets_its_own_format_and_one_hint(
    project: Path, memory_custodian: RunCommand
) -> None:
    path = project / MEMORY / "manifest.md"
    path.write_text(path.read_text().replace("protocol_version: 0.6", "protocol_version: 0.5"))

    done = memory_custodian(["add", "Keep it", *DECISION], cwd=project)
    closing = memory_custodian(
        ["add", "x", *DECISION, "--supersedes", "MC-DEC-20260101-aaaaaaaa"], cwd=project
    )

    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Added decision memory to docs/memory/decisions.md\n")
    assert done.stderr.count("\n") == 1
    assert "memory-custodian migrate" in done.stderr
    assert "evidence cannot be stored" in done.stderr
    assert closing.returncode == 1
    assert "memory-custodian migrate" in closing.stderr


def test_the_help_ends_with_an_example_that_works(
    project: Path, memory_custodian: RunCommand
) -> None:
    done = memory_custodian(["add", "--help"], cwd=project)

    assert done.returncode == 0
    example = done.stdout.rstrip("\n").rpartition("example: ")[2]
    assert "--evidence repo:pyproject.toml" in " ".join(example.split())


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(("add", "my token is", TOKEN, *DECISION), id="unquoted-message"),
        pytest.param(("add", "x", "--type", TOKEN), id="type"),
        pytest.param(("add", "x", "--type", "rule", "--name", f"{TOKEN}/x", *EVIDENCE), id="name"),
        pytest.param(("add", "x", "--evidence", TOKEN, "--allow-secret-like"), id="evidence"),
        pytest.param(
            ("add", "x", "--evidence", f"repo:../{TOKEN}", "--allow-secret-like"), id="path"
        ),
        pytest.param(("add", "x", "--project-root", TOKEN), id="project-root"),
        pytest.param((TOKEN,), id="command"),
        pytest.param(("read", "--task", TOKEN), id="task"),
        pytest.param(("show", TOKEN), id="record"),
        pytest.param(("init", "--agent", TOKEN), id="agent"),
    ],
)
def test_refusal_never_echoes_a_secret(
    project: Path, memory_custodian: RunCommand, words: tuple[str, ...]
) -> None:
    """Field report D33: what was typed into the wrong place ends up in logs as well."""
    before = files_of(project)

    done = memory_custodian([*words, "--json"], cwd=project)

    assert done.returncode in (1, 2)
    assert TOKEN[8:] not in done.stdout + done.stderr
    assert "[REDACTED]" in json.loads(done.stdout)["error"]["message"] + done.stderr
    assert before == files_of(project)
