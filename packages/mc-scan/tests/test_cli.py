from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from mc_scan.testing import fake

if TYPE_CHECKING:
    from collections.abc import Callable

    Run = Callable[..., Any]

TOKEN = fake("github-classic")
WARNING = "password: k9Xq2Lm7Pz\n"
MAIL = "ana.moril@harrow.dev"
IS_POSIX = os.name == "posix"


def report(outcome: Any) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(outcome.out)
    return data


def test_error_makes_the_exit_code_1(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(f"x {TOKEN.text}\n")
    outcome = run()

    assert (outcome.code, outcome.out) == (1, "a.md:1:3: ERROR github-token ghp_[REDACTED]\n")
    assert outcome.err == "1 file, 1 error, 0 warnings\n"


@pytest.mark.parametrize(
    ("text", "fail_on", "code"),
    [
        ("nothing", "warning", 0),
        (WARNING, "error", 0),
        (WARNING, "warning", 1),
        (WARNING, "never", 0),
        (TOKEN.text, "error", 1),
        (TOKEN.text, "warning", 1),
        (TOKEN.text, "never", 0),
    ],
)
def test_exit_code_follows_fail_on(
    call: Run, tmp_path: Path, text: str, fail_on: str, code: int
) -> None:
    (tmp_path / "a.md").write_text(text)

    assert code == call("--fail-on", fail_on, "a.md").code


def test_folder_is_walked_for_text_and_dotenv_files(call: Run, tmp_path: Path) -> None:
    names = ["a.md", "b.MARKDOWN", "c.mdx", "d.mdc", "e.txt", ".env", ".env.local", "sub/f.md"]
    others = ["g.py", ".envrc", "node_modules/h.md", ".git/i.md", ".venv/j.md", "md"]
    for name in names + others:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(WARNING)
    found = {finding["path"] for finding in report(call("--format", "json"))["findings"]}

    assert set(names) == found
    assert call("--fail-on", "warning", "g.py").code == 1


def test_findings_come_by_path_line_and_column(call: Run, tmp_path: Path) -> None:
    for name in ("b.md", "a/z.md", "a.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"{MAIL} /home/moril\n{WARNING}")
    rows = [
        (f["path"], f["line"], f["column"])
        for f in report(call("--format", "json", "b.md", ".", "./a.md"))["findings"]
    ]

    assert sorted(rows) == rows
    assert len(rows) == 9


def test_standard_input_is_scanned_under_a_name(run: Run) -> None:
    outcome = run("-", "--stdin-name", "docs/x.md", stdin=TOKEN.text.encode())

    assert outcome.out == "docs/x.md:1:1: ERROR github-token ghp_[REDACTED]\n"
    assert "stdin:1:1:" in run("-", stdin=TOKEN.text.encode()).out


def test_only_and_rules_filter_the_report(call: Run, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(f"{TOKEN.text} {MAIL} /home/moril\n")

    def rules(*arguments: str) -> list[str]:
        return [f["rule"] for f in report(call("--format", "json", *arguments))["findings"]]

    assert rules("--only", "security") == ["github-token"]
    assert rules("--only", "privacy") == ["email", "home-path"]
    assert rules("--rules", "email, jwt") == ["email"]
    assert rules("--rules", "email", "--only", "security") == []


@pytest.mark.parametrize(
    "arguments",
    [
        ["--format", "xml"],
        ["--fail-on", "all"],
        ["--rules", "no-such-rule"],
        ["--rules", ""],
        ["--max-file-mb", "0"],
        ["--max-file-mb", "many"],
        ["--max-file-mb", "nan"],
        ["--no-such-option"],
        ["--form", "json"],
    ],
)
def test_wrong_usage_is_exit_code_2_with_a_hint(call: Run, arguments: list[str]) -> None:
    outcome = call(*arguments)

    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith("error: ")
    assert outcome.err.endswith("\nhint: see `mc-scan --help`\n")


@pytest.mark.parametrize("option", ["--format", "--rules", "--max-file-mb", "--unknown"])
def test_secret_typed_as_an_argument_is_not_echoed(call: Run, option: str) -> None:
    outcome = call(f"{option}={TOKEN.text}")

    assert outcome.code == 2
    assert TOKEN.body[:6] not in outcome.err + outcome.out


def test_secret_typed_as_a_path_is_not_echoed(run: Run) -> None:
    outcome = run(TOKEN.text, f"docs/{TOKEN.text}.md")

    assert outcome.code == 2
    assert TOKEN.body[:6] not in outcome.err + outcome.out
    assert "[REDACTED]" in outcome.err


def test_double_dash_ends_the_options(run: Run, tmp_path: Path) -> None:
    (tmp_path / "--quiet").write_text(TOKEN.text)

    assert run("--", "--quiet").code == 1


def test_missing_file_is_reported_and_the_rest_scanned(call: Run, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(WARNING)
    outcome = call("gone.md", "a.md")

    assert outcome.code == 2
    assert "a.md:1:11: WARNING" in outcome.out
    assert outcome.err.startswith(
        "error: not readable (No such file or directory): gone.md\n\nhint: "
    )


def test_trouble_does_not_hide_a_finding(call: Run, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(TOKEN.text)

    assert call("gone.md", "a.md").code == 1


def test_oversized_file_is_no_silent_pass(run: Run, tmp_path: Path) -> None:
    (tmp_path / "big.md").write_text(f"{TOKEN.text}\n" * 30_000)
    outcome = run("--format", "json", "--max-file-mb", "1")

    assert outcome.code == 2
    assert report(outcome)["summary"]["files"] == 0
    assert [n["code"] for n in report(outcome)["notices"]] == ["oversized"]
    assert "--max-file-mb" in outcome.err
    assert run("-", "--max-file-mb", "0.001", stdin=b"x" * 2000).code == 2


def test_output_file_is_private(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(TOKEN.text)
    target = tmp_path / "report.json"
    target.write_text("older and longer than the report " * 100)
    outcome = run("--format", "json", "--output", "report.json", "a.md")

    assert (outcome.code, outcome.out) == (1, "")
    assert len(json.loads(target.read_text())["findings"]) == 1
    if os.name == "posix":
        assert stat.S_IMODE(target.stat().st_mode) == 0o600


def test_output_that_cannot_be_written_is_exit_code_2(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("x")
    outcome = run("--output", "no/such/folder.json")

    assert outcome.code == 2
    assert "error: not writable" in outcome.err


def test_quiet_keeps_trouble_only(call: Run, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(WARNING)

    assert call("--quiet", "a.md").err == ""
    assert (
        call("--quiet", "gone.md").err
        == "error: not readable (No such file or directory): gone.md\n"
    )


def test_verbose_names_scanned_files(call: Run, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("x")

    assert call("--verbose").err == "scanned: a.md\n1 file, 0 errors, 0 warnings\n"


def test_inline_mark_is_counted_and_can_be_ignored(call: Run, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(f"{MAIL} <!-- mc-scan: allow email - public -->\n")

    assert call("--fail-on", "warning")[:2] == (0, "")
    assert report(call("--format", "json"))["summary"]["suppressed"] == 1
    assert call("--fail-on", "warning", "--no-inline").code == 1
    results = json.loads(call("--format", "sarif").out)["runs"][0]["results"]
    assert [result["suppressions"] for result in results] == [[{"kind": "inSource"}]]


def test_rules_are_listed(run: Run) -> None:
    lines = run("--list-rules").out.splitlines()

    assert len(lines) == 24
    assert lines[0] == "private-key          security error   Private key"


def test_version_and_help_name_the_tool(call: Run) -> None:
    assert (call("--version").code, call("--version").out.strip()) == (0, "mc-scan 0.10.0")
    assert "example: mc-scan docs" in call("--help").out


def test_link_loop_ends(run: Run, tmp_path: Path) -> None:
    if not IS_POSIX:
        return
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "up").symlink_to("..")
    (tmp_path / "sub" / "a.md").write_text(TOKEN.text)
    (tmp_path / "b.md").symlink_to("c.md")
    (tmp_path / "c.md").symlink_to("b.md")
    outcome = run("--format", "json")

    assert outcome.code == 1
    assert [f["path"] for f in report(outcome)["findings"]] == ["sub/a.md"]
    told = {(n["path"], n["code"]) for n in report(outcome)["notices"]}
    assert {("b.md", "unreadable"), ("c.md", "unreadable"), ("sub/up", "not_followed")} == told


def test_links_are_followed_to_files_inside_only(call: Run, tmp_path: Path) -> None:
    if not IS_POSIX:
        return
    (tmp_path / "in").mkdir()
    (tmp_path / "out.md").write_text(TOKEN.text)
    (tmp_path / "in" / "data.bin").write_text(TOKEN.text)
    (tmp_path / "in" / "inside.md").symlink_to("data.bin")
    (tmp_path / "in" / "outside.md").symlink_to("../out.md")
    outcome = call("--format", "json", "in")

    assert [f["path"] for f in report(outcome)["findings"]] == ["in/inside.md"]
    assert [(n["path"], n["code"]) for n in report(outcome)["notices"]] == [
        ("in/outside.md", "not_followed")
    ]


def test_pipe_with_a_text_name_does_not_block(run: Run, tmp_path: Path) -> None:
    if not IS_POSIX:
        return
    os.mkfifo(tmp_path / "pipe.md")
    outcome = run()

    assert outcome.code == 2
    assert "error: not a regular file: pipe.md" in outcome.err


def test_unreadable_file_is_reported(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("x")
    (tmp_path / "a.md").chmod(0)
    outcome = run("a.md/b.md")

    assert outcome[:2] == (2, "")
    assert "error: not readable" in outcome.err
    if IS_POSIX and os.geteuid() != 0:
        assert "error: not readable (Permission denied): a.md" in run("a.md").err


def test_file_name_of_odd_bytes_is_shown_safely(run: Run, tmp_path: Path) -> None:
    if not IS_POSIX:
        return
    (tmp_path / os.fsdecode(b"x\xff\x1b[31m\n.md")).write_text(TOKEN.text)
    outcome = run()

    assert outcome.code == 1
    assert outcome.out.count("\n") == 1
    assert "\x1b" not in outcome.out
    assert run("--format", "json").code == 1
    assert "x%FF%1B%5B31m%0A.md" in run("--format", "sarif").out


def test_reader_that_leaves_early_causes_no_traceback(tmp_path: Path) -> None:
    if not IS_POSIX:
        return
    (tmp_path / "a.md").write_text(WARNING * 20_000)
    command = f"{sys.executable} -m mc_scan a.md | head -1; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False
    )

    assert "Traceback" not in done.stderr
    assert "BrokenPipe" not in done.stderr


def test_interrupt_causes_no_traceback(tmp_path: Path) -> None:
    if not IS_POSIX:
        return
    with subprocess.Popen(
        [sys.executable, "-m", "mc_scan", "-"],
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdin is not None
        process.stdin.write(b"x" * (1 << 20))
        process.stdin.flush()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)

    assert b"Traceback" not in err
    assert process.returncode == 130


def test_paths_outside_the_folder_show_no_home(run: Run, tmp_path: Path) -> None:
    home, work = tmp_path / "Users" / "moril", tmp_path / "work"
    home.mkdir(parents=True)
    work.mkdir()
    (home / "a.md").write_text(TOKEN.text)
    outcome = run(str(home / "a.md"), cwd=work, HOME=str(home), USERPROFILE=str(home))

    assert outcome.out.startswith("~/a.md:1:1: ERROR")


def test_same_input_gives_the_same_bytes(call: Run, tmp_path: Path) -> None:
    for number in range(5):
        (tmp_path / f"{number}.md").write_text(f"{MAIL}\n{TOKEN.text}\n{WARNING}")

    for form in ("text", "json", "sarif"):
        assert len({call("--format", form).out for _ in range(2)}) == 1


def test_scanned_files_are_not_changed(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_bytes(f"{TOKEN.text}\r\n".encode())
    before = (path.read_bytes(), path.stat().st_mtime_ns, len(list(tmp_path.iterdir())))
    run()

    assert before == (path.read_bytes(), path.stat().st_mtime_ns, len(list(tmp_path.iterdir())))


def test_full_disk_is_reported_without_traceback(tmp_path: Path) -> None:
    device = Path("/dev/full")
    if not device.exists():
        return
    (tmp_path / "a.md").write_text(WARNING)
    with device.open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "mc_scan", "a.md"],
            cwd=tmp_path,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )

    assert done.returncode == 2
    assert "error: the report is not writable (No space left on device)" in done.stderr
    assert "Traceback" not in done.stderr


def test_long_scan_shows_progress_on_a_terminal(tmp_path: Path) -> None:
    """A real terminal for standard error: the line appears while text still comes in."""
    if not IS_POSIX:
        return
    import pty
    import select

    parent, child = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "mc_scan", "-"],
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=child,
    ) as process:
        os.close(child)
        assert process.stdin is not None
        while not select.select([parent], [], [], 0.05)[0]:
            process.stdin.write(b"lorem ipsum\n")
            process.stdin.flush()
        shown = os.read(parent, 4096)
        process.stdin.close()
        while not shown.endswith(b"warnings\r\n"):
            shown += os.read(parent, 4096)
    os.close(parent)

    assert process.returncode == 0
    assert b"\rscanning: file 1 of 1, 0 MB" in shown
    assert shown.endswith(b"  \r1 file, 0 errors, 0 warnings\r\n")
