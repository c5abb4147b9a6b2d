"""Programs that cannot be recorded run as without recording, and the report names them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from compiling import build_once
from recording import PLAIT, SOURCES, RecordedRun, compile_program, load, need

import plait
import plait.trace
from plait.trace import Kind

ADVICE = "strace -f -ttt -T -y -o strace.out COMMAND, then plait trace import strace.out run.plait"
# Symbols that the recording library uses. musl must have all of them, or programs linked with musl would not start.
MUSL_HAS = """__environ __errno_location abort clock_gettime dl_iterate_phdr dladdr dlsym environ fstat getegid geteuid
getppid getrlimit madvise memcpy memmem memset pthread_key_create pthread_setcanceltype pthread_setspecific
pthread_testcancel sched_yield snprintf stpcpy stpncpy strchr strcmp strcpy strcspn strlen strncat strncmp strnlen
strrchr strstr strtoull sysconf uname"""


def run(folder: Path, *command: str | Path) -> tuple[RecordedRun, subprocess.CompletedProcess[str]]:
    words = [PLAIT, "trace", "record", "-o", folder / "trace.plait", "--", *command]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=300)
    return load(folder / "trace.plait", done.returncode), done


def compile_musl_program(folder: Path) -> Path:
    compiler = need("musl-gcc")
    source = SOURCES / "starts.c"

    def make(program: Path) -> None:
        subprocess.run([compiler, "-O1", source, "-o", program], check=True)

    return build_once(folder / "starts", (compiler, source.stat().st_mtime_ns), make)


def unrecorded_programs(recorded: RecordedRun) -> dict[str, int]:
    return {gap.reason: gap.events for gap in recorded.description.missed if gap.reason.startswith("unrecorded")}


def test_musl_programs_run_and_are_named(tmp_path: Path) -> None:
    program = compile_musl_program(tmp_path)
    recorded, done = run(tmp_path, program, "/etc/hostname")
    assert (done.returncode, done.stdout) == (0, f"{Path('/etc/hostname').stat().st_size} bytes\n")
    assert unrecorded_programs(recorded) == {f"unrecorded program {program} (linked with musl instead of glibc)": 1}
    assert f"{program} is linked with musl instead of glibc" in done.stderr
    assert ADVICE in done.stderr
    report = plait.trace.report(recorded.path)
    assert report["trace"]["coverage"]["share"] is None
    assert f"it lacks all that 1 process did (unrecorded program {program}" in report["trace"]["coverage"]["text"]
    assert ADVICE in report["conclusions"][0]["advice"]


@pytest.mark.parametrize("ending", ["", "; true"])  # the shell execs the program, or forks and waits for it
def test_musl_children_of_a_shell_run_and_are_named(tmp_path: Path, ending: str) -> None:
    program = compile_musl_program(tmp_path)
    recorded, done = run(tmp_path, "sh", "-c", f"{program} /etc/hostname && {program} /etc/hostname{ending}")
    assert (done.returncode, done.stdout.count("bytes")) == (0, 2)
    assert unrecorded_programs(recorded) == {f"unrecorded program {program} (linked with musl instead of glibc)": 2}


def test_children_of_a_musl_program_are_recorded(tmp_path: Path) -> None:
    recorded, done = run(tmp_path, compile_musl_program(tmp_path), "/etc/hostname", "cat /etc/passwd")
    assert done.returncode == 0
    assert recorded.select("/etc/passwd", Kind.READ)["result"].sum() == Path("/etc/passwd").stat().st_size


def test_the_recording_library_needs_only_symbols_of_musl() -> None:
    library = Path(plait.__file__).parent / "libplait_capture.so"
    listed = subprocess.run(
        [need("nm"), "-D", "--undefined-only", library], capture_output=True, text=True, check=True
    ).stdout
    needed = {line.split()[1].split("@")[0] for line in listed.splitlines() if line.split()[0] == "U"}
    assert needed <= set(MUSL_HAS.split())


def read_system_loader() -> bytes:
    """Return the loader of this system's programs."""
    command = [need("readelf"), "-p", ".interp", shutil.which("true") or "true"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return Path(listed.split("]")[-1].strip()).read_bytes()


@pytest.mark.parametrize("name", ["odd-loader.so.1", "ld-linux-x86-64.so.2"])
@pytest.mark.parametrize("child", [False, True])
def test_a_loader_that_may_reject_the_library_is_not_asked_to_load_it(tmp_path: Path, name: str, child: bool) -> None:
    loader = tmp_path / name
    loader.write_bytes(re.sub(rb"release version 2\.\d\d", b"release version 2.17", read_system_loader()))
    loader.chmod(0o755)
    program = compile_program(tmp_path, "starts.c", f"-Wl,--dynamic-linker={loader}")
    command = [program, "/etc/hostname", "echo [$LD_PRELOAD]"]
    recorded, done = run(tmp_path, *(["sh", "-c", '"$@"; true', "sh", *command] if child else command))
    assert (done.returncode, done.stdout.splitlines()[1]) == (0, "[]")
    why = "linked with another C library than glibc, or with an older glibc than the recorder"
    assert unrecorded_programs(recorded) == {f"unrecorded program {program} ({why})": 1}


def test_another_loader_that_is_new_enough_loads_the_library(tmp_path: Path) -> None:
    loader = tmp_path / "ld-linux-x86-64.so.2"
    loader.write_bytes(read_system_loader())
    loader.chmod(0o755)
    recorded, done = run(
        tmp_path, compile_program(tmp_path, "starts.c", f"-Wl,--dynamic-linker={loader}"), "/etc/hostname"
    )
    assert done.returncode == 0
    assert unrecorded_programs(recorded) == {}
    assert len(recorded.select("/etc/hostname", Kind.READ)) == 1


def test_static_programs_are_named(tmp_path: Path) -> None:
    program = compile_program(tmp_path, "static.c", "-static", "-lc")
    recorded, done = run(tmp_path, "sh", "-c", f"cd {tmp_path} && ./static && ./static; true")
    assert done.stdout == "static\n" * 2
    assert unrecorded_programs(recorded) == {f"unrecorded program {program} (statically linked)": 2}
    assert "an unknown share of what happened" in done.stderr


def test_programs_of_another_architecture_are_named_unless_they_do_not_run(tmp_path: Path) -> None:
    program = tmp_path / "other"
    header = bytearray(Path(shutil.which("true") or "/bin/true").read_bytes())
    header[18:20] = b"\xf3\x00"  # RISC-V
    program.write_bytes(header)
    program.chmod(0o755)
    recorded, done = run(tmp_path, "sh", "-c", f"{program}; true")
    assert done.returncode == 0
    assert unrecorded_programs(recorded) == {}
    assert recorded.missed() == {}


def test_programs_of_another_user_are_named(tmp_path: Path) -> None:
    trace = tmp_path / "trace.plait"
    command = [need("setpriv"), "--reuid", "65534", "--clear-groups", "cat", "/etc/hostname"]
    if os.geteuid() != 0:
        command = ["sh", "-c", f"chmod 0 {trace}; cat /etc/hostname; chmod 600 {trace}"]
    recorded, done = run(tmp_path, *command)
    assert done.stdout == Path("/etc/hostname").read_text(encoding="utf-8")
    (reason,) = (text for text in unrecorded_programs(recorded) if "/cat " in text)
    assert reason.endswith("(runs as another user or below another root, without access to the trace)")
    assert "an unknown share of what happened" in done.stderr


def test_setuid_programs_are_named(tmp_path: Path) -> None:
    program = Path(shutil.copy(shutil.which("true") or "/bin/true", tmp_path / "changes"))
    if os.geteuid() == 0:
        os.chown(program, 65534, 65534)
        program.chmod(0o4755)
    else:
        program = Path(need("passwd"))  # passwd is setuid on every system
    recorded, done = run(tmp_path, "sh", "-c", f"{program} --help >/dev/null; true")
    assert done.returncode == 0
    assert unrecorded_programs(recorded) == {
        f"unrecorded program {program} (runs with more rights: setuid, setgid or file capabilities)": 1
    }


def test_many_programs_are_summarized(tmp_path: Path) -> None:
    program = compile_program(tmp_path, "static.c", "-static", "-lc")
    for number in range(20):
        os.link(program, tmp_path / f"static{number}")
    recorded, _ = run(tmp_path, "sh", "-c", f"for n in $(seq 0 19); do {tmp_path}/static$n; done")
    assert len(unrecorded_programs(recorded)) == 17
    assert unrecorded_programs(recorded)["unrecorded programs, 4 others"] == 4
