"""Recording programs: single calls behave as they do unrecorded, and their events say what happened."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from recording import PLAIT, compiled, record


def output(folder: Path, *command: str | Path) -> str:
    """What a recorded command prints."""
    words = [PLAIT, "trace", "record", "-q", "-o", folder / "trace.plait", "--", *command]
    return subprocess.run(words, capture_output=True, text=True, check=True, timeout=100).stdout


def test_spawns_with_an_emptied_environment_leave_no_memory_behind(tmp_path: Path) -> None:
    assert int(output(tmp_path, compiled(tmp_path, "spawns.c"))) < 20


def test_pointers_that_lead_nowhere_fail_as_unrecorded(tmp_path: Path) -> None:
    program = compiled(tmp_path, "pointers.c")
    plain = subprocess.run([program], capture_output=True, text=True, check=True, timeout=100).stdout
    assert output(tmp_path, program) == plain
    assert plain.count("Bad address") >= 5


def test_programs_with_an_address_sanitizer_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASAN_OPTIONS", "detect_leaks=0")
    program = compiled(tmp_path, "children.c", "-fsanitize=address", "-lasan")
    assert record(tmp_path, program, tmp_path / "out").status == 0
    assert record(tmp_path, "env", "-i", "ASAN_OPTIONS=detect_leaks=0", program, tmp_path / "out").status == 0


def test_a_program_is_called_as_it_was_named(tmp_path: Path) -> None:
    assert output(tmp_path, "sh", "-c", "cat /proc/$$/cmdline; true").startswith("sh\0-c\0")


def test_a_script_that_names_no_interpreter_runs_in_a_shell(tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text('echo "run with $1"\n', encoding="ascii")
    script.chmod(0o755)
    assert output(tmp_path, script, "5") == "run with 5\n"


def test_of_a_killed_program_nobody_knows_how_much_is_there(tmp_path: Path) -> None:
    command = [PLAIT, "trace", "record", "-o", tmp_path / "a.plait", "--", "sh", "-c", "kill -9 $$"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=100)
    assert "an unknown share of what happened, in" in done.stderr
