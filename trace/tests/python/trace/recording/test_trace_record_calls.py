"""Recording programs: single calls behave as without recording, and their events describe them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from recording import PLAIT, compile_program, record

import plait
import plait.trace
from plait.trace import Flag, Kind


def run_recorded(folder: Path, *command: str | Path) -> str:
    """Return the output of a recorded command."""
    words = [PLAIT, "trace", "record", "-q", "-o", folder / "trace.plait", "--", *command]
    return subprocess.run(words, capture_output=True, text=True, check=True, timeout=300).stdout


def test_spawns_with_an_empty_environment_leak_no_memory(tmp_path: Path) -> None:
    assert int(run_recorded(tmp_path, compile_program(tmp_path, "spawns.c"))) < 20


def test_invalid_pointers_fail_as_without_recording(tmp_path: Path) -> None:
    program = compile_program(tmp_path, "pointers.c")
    plain = subprocess.run([program], capture_output=True, text=True, check=True, timeout=300).stdout
    assert run_recorded(tmp_path, program) == plain
    assert plain.count("Bad address") >= 5


def test_programs_with_address_sanitizer_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASAN_OPTIONS", "detect_leaks=0")
    program = compile_program(tmp_path, "children.c", "-fsanitize=address", "-lasan")
    assert record(tmp_path, program, tmp_path / "out").status == 0
    assert record(tmp_path, "env", "-i", "ASAN_OPTIONS=detect_leaks=0", program, tmp_path / "out").status == 0


def test_a_program_gets_its_original_arguments(tmp_path: Path) -> None:
    assert run_recorded(tmp_path, "sh", "-c", "cat /proc/$$/cmdline; true").startswith("sh\0-c\0")


def test_a_script_that_names_no_interpreter_runs_in_a_shell(tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text('echo "run with $1"\n', encoding="ascii")
    script.chmod(0o755)
    assert run_recorded(tmp_path, script, "5") == "run with 5\n"


def test_the_coverage_of_a_killed_program_is_unknown(tmp_path: Path) -> None:
    command = [PLAIT, "trace", "record", "-o", tmp_path / "a.plait", "--", "sh", "-c", "kill -9 $$"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert "an unknown share of what happened, in" in done.stderr


def test_a_program_that_is_run_by_its_descriptor_is_recorded(tmp_path: Path) -> None:
    recorded = record(tmp_path, compile_program(tmp_path, "programs.c"), "fexecve", "/bin/cat", "/etc/hostname")
    assert recorded.programs() == 2
    assert recorded.missed() == {}
    assert recorded.select("/etc/hostname", Kind.READ)["result"].sum() == Path("/etc/hostname").stat().st_size


def test_names_stay_right_when_a_static_program_could_not_be_run(tmp_path: Path) -> None:
    static = compile_program(tmp_path, "static.c", "-static", "-lc")
    (tmp_path / "data").write_text("data", encoding="ascii")
    recorded = record(tmp_path, compile_program(tmp_path, "programs.c"), "failing", static, tmp_path / "data")
    assert recorded.status == 0
    assert recorded.missed() == {}
    assert recorded.select("/data", Kind.READ)["result"].tolist() == [4]
    assert recorded.select("/static", Kind.READ)["result"].tolist() == [16]


def test_writes_that_append_by_a_flag_of_the_call(tmp_path: Path) -> None:
    (tmp_path / "data").write_bytes(bytes(100))
    recorded = record(tmp_path, compile_program(tmp_path, "appends.c"), tmp_path / "data")
    assert recorded.status == 0
    assert recorded.select("/data", Kind.READ)["offset"].tolist() == [0, 10]
    assert recorded.select("/data", Kind.WRITE)["offset"].tolist() == [100, -1, 120]


def test_durable_writes(tmp_path: Path) -> None:
    recorded = record(tmp_path, compile_program(tmp_path, "durable.c"), tmp_path / "data")
    assert recorded.status == 0
    durable = [bool(flags & Flag.DURABLE) for flags in recorded.select("/data", Kind.WRITE)["flags"]]
    assert durable == [True, True, False, True, False]
    assert not any(flags & Flag.DURABLE for flags in recorded.select("/data", Kind.READ)["flags"])
    assert [bool(flags & Flag.DURABLE) for flags in recorded.select("/data", Kind.OPEN)["flags"]] == [True, True, False]


def test_a_trace_in_use_is_not_replaced(tmp_path: Path) -> None:
    command = [PLAIT, "trace", "record", "-q", "-o", tmp_path / "a.plait", "--", "sh", "-c", "echo; read line"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as first:
        assert first.stdout is not None
        first.stdout.readline()
        with pytest.raises(plait.Error, match="is being recorded into it"):
            plait.trace.record(["true"], tmp_path / "a.plait")
        first.communicate()
    assert plait.trace.record(["true"], tmp_path / "a.plait") == 0
    assert (tmp_path / "a.plait").stat().st_mode & 0o022 == 0


def test_coverage_requires_a_read_trace(tmp_path: Path) -> None:
    record(tmp_path, compile_program(tmp_path, "sandbox.c"))
    with plait.trace.open(tmp_path / "trace.plait") as trace:
        with pytest.raises(plait.Error, match="read the trace first"):
            _ = trace.coverage
        trace.read()
        assert 0 < trace.coverage.events < 1
