"""Recording programs: single calls behave as they do unrecorded, and their events say what happened."""

from __future__ import annotations

import subprocess
from pathlib import Path

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


def test_programs_with_an_address_sanitizer_run(tmp_path: Path) -> None:
    program = compiled(tmp_path, "children.c", "-fsanitize=address", "-lasan")
    assert record(tmp_path, program).status == 0
    assert record(tmp_path, "env", "-i", program).status == 0
