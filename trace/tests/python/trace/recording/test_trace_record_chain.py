"""Other preloaded libraries behave as without the recorder, in any order."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from recording import RecordedRun, check_calls, compile_program, load

import plait
from plait.trace import Flag, Kind

RECORDER = Path(plait.__file__).parent / "libplait_capture.so"
ORDERS = ["", "{recorder}:{other}", "{other}:{recorder}"]  # empty: the recorder puts itself first


def compile_chained_library(folder: Path, *flags: str) -> Path:
    return compile_program(folder, "chain/chained.c", "-shared", "-fPIC", "-ldl", *flags).rename(
        folder / "libchained.so"
    )


def find_library(name: str) -> Path:
    match = re.search(rf"\s{re.escape(name)}\S* .*=> (\S+)", list_libraries())
    if match is None:
        pytest.skip(f"{name} is not installed")
    return Path(match.group(1))


def list_libraries() -> str:
    environment = {**os.environ, "PATH": f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"}
    return subprocess.run(["ldconfig", "-p"], capture_output=True, text=True, check=True, env=environment).stdout


def run_recorded(folder: Path, order: str, other: Path, *command: str | Path) -> tuple[RecordedRun, str]:
    preload = order.format(recorder=RECORDER, other=other) or str(other)
    # Set LD_PRELOAD only for the recorded programs, not for the recording process.
    start = "import os, sys, plait.trace as t; os.environ['LD_PRELOAD'] = sys.argv[1]; "
    start += "sys.exit(t.record(sys.argv[3:], sys.argv[2]))"
    words = [sys.executable, "-c", start, preload, str(folder / "trace.plait"), *map(str, command)]
    environment = {**os.environ, "CHAINED_TO": str(folder / "store")}
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=300, env=environment)
    assert done.returncode == 0, done.stderr
    return load(folder / "trace.plait"), done.stdout


@pytest.mark.parametrize("order", ORDERS)
def test_a_library_that_redirects_files(tmp_path: Path, order: str) -> None:
    (tmp_path / "store").mkdir()
    data = np.random.default_rng(1).bytes(1050)
    (tmp_path / "store" / "in").write_bytes(data)
    other = compile_chained_library(tmp_path, "-DREDIRECT")
    recorded, _ = run_recorded(
        tmp_path, order, other, compile_program(tmp_path, "chain/copies.c"), "/chained/in", "/chained/out"
    )
    assert (tmp_path / "store" / "out").read_bytes() == data
    name = "store/out" if order.startswith("{other}") else "/chained/out"
    writes = recorded.select(name, Kind.WRITE)
    logical = writes[(writes["flags"] & Flag.LOGICAL) != 0]
    assert list(logical["offset"]) == list(range(0, 1050, 100))
    assert int(logical["result"].sum()) == 1050
    below = writes[(writes["flags"] & Flag.LOGICAL) == 0]
    if not order.startswith("{other}"):  # system calls of the library belong to the recorded call
        assert list(below["operation"]) == list(logical["operation"])
        assert len(recorded.select("store/out", Kind.OPEN)) == 1
    assert recorded.missed() == {}
    assert plait.trace.report(recorded.path)["trace"]["coverage"]["share"] == 1.0


@pytest.mark.parametrize("order", ORDERS)
def test_a_redirected_file_in_a_program_that_uses_streams(tmp_path: Path, order: str) -> None:
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "in").write_bytes(b"content\n")
    recorded, printed = run_recorded(
        tmp_path,
        order,
        compile_chained_library(tmp_path, "-DREDIRECT"),
        "sh",
        "-c",
        "cat /chained/in; cat </chained/in",
    )
    assert printed == "content\n" * 2
    assert recorded.missed() == {}


def count_calls(folder: Path, order: str | None, other: Path, program: Path) -> list[int]:
    """Return the opens, reads and writes of a program that the counting library counts."""
    counts = folder / "store"
    counts.unlink(missing_ok=True)
    command = [program, folder / "in", folder / "out"]
    if order is None:
        environment = {**os.environ, "LD_PRELOAD": str(other), "CHAINED_TO": str(counts)}
        subprocess.run(command, env=environment, check=True, timeout=300)
    else:
        run_recorded(folder, order, other, *command)
    return [int(word) for word in counts.read_text(encoding="ascii").split()]


def test_a_library_that_counts_calls_counts_the_same(tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(bytes(1050))
    other, program = compile_chained_library(tmp_path), compile_program(tmp_path, "chain/copies.c")
    unrecorded = count_calls(tmp_path, None, other, program)
    assert unrecorded[0] >= 2
    for order in ORDERS:
        assert count_calls(tmp_path, order, other, program) == unrecorded


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("name", ["libjemalloc.so", "libtcmalloc_minimal.so", "libdarshan.so"])
def test_installed_libraries(tmp_path: Path, name: str, order: str) -> None:
    (tmp_path / "in").write_bytes(bytes(1050))
    script = (
        "import sys, threading, mmap\n"
        "def copy(): open(sys.argv[2], 'wb').write(open(sys.argv[1], 'rb').read())\n"
        "threads = [threading.Thread(target=copy) for _ in range(4)]\n"
        "for each in threads: each.start()\n"
        "for each in threads: each.join()\n"
        "print(len(mmap.mmap(-1, 1 << 20)))\n"
    )
    command = [sys.executable, "-c", script, tmp_path / "in", tmp_path / "out"]
    recorded, printed = run_recorded(tmp_path, order, find_library(name), *command)
    assert printed == f"{1 << 20}\n"
    assert (tmp_path / "out").read_bytes() == bytes(1050)
    writes = recorded.select("/out", Kind.WRITE)
    assert int(writes["result"][(writes["flags"] & Flag.LOGICAL) != 0].sum()) == 4 * 1050
    assert recorded.missed() == {}


@pytest.mark.parametrize("order", ORDERS)
def test_every_call_reaches_the_next_library_as_it_was_made(tmp_path: Path, order: str) -> None:
    other = compile_program(tmp_path, "chain/passes.c", "-shared", "-fPIC", "-ldl").rename(tmp_path / "libpasses.so")
    recorded, _ = run_recorded(
        tmp_path, order, other, compile_program(tmp_path, "calls.c"), tmp_path / "data", tmp_path / "expected"
    )
    check_calls(recorded, tmp_path / "expected")


@pytest.mark.parametrize("order", ORDERS)
def test_children_of_a_program_with_another_library(tmp_path: Path, order: str) -> None:
    other = compile_program(tmp_path, "chain/passes.c", "-shared", "-fPIC", "-ldl").rename(tmp_path / "libpasses.so")
    recorded, _ = run_recorded(tmp_path, order, other, compile_program(tmp_path, "children.c"), tmp_path / "data")
    lines = (tmp_path / "data").read_text(encoding="ascii").splitlines(keepends=True)
    writes = recorded.select("data", Kind.WRITE)
    logical = writes[(writes["flags"] & Flag.LOGICAL) != 0]
    assert list(logical["result"]) == [len(line) for line in lines if line != "not recorded\n"]
    assert [gap.events for gap in recorded.description.missed if gap.reason.startswith("unrecorded")] == [1]


def test_a_library_that_the_loader_orders_after_the_c_library_is_not_called(tmp_path: Path) -> None:
    (tmp_path / "in").write_text("plain", encoding="ascii")
    link_flags = [f"-L{tmp_path}", f"-Wl,-rpath,{tmp_path}", "-Wl,--no-as-needed"]
    compile_program(tmp_path, "chain/later.c", "-shared", "-fPIC").rename(tmp_path / "libsecond.so")
    compile_program(
        tmp_path, "chain/later.c", "-DFIRST", "-shared", "-fPIC", "-nostdlib", *link_flags, "-lsecond"
    ).rename(tmp_path / "libfirst.so")
    program = compile_program(
        tmp_path, "chain/later.c", "-DMAIN", *link_flags, f"-Wl,-rpath-link,{tmp_path}", "-lfirst", "-lc"
    )
    expected = subprocess.run([program, tmp_path / "in"], capture_output=True, text=True, check=True).stdout
    assert expected == "5 plain 1 0 1\n"
    recorded, printed = run_recorded(tmp_path, "{recorder}", tmp_path, program, tmp_path / "in")
    assert printed == expected
    assert list(recorded.select("/in", Kind.READ)["result"]) == [5]


@pytest.mark.parametrize("order", ORDERS)
def test_a_program_gets_the_values_and_errnos_of_the_next_library(tmp_path: Path, order: str) -> None:
    other = compile_program(tmp_path, "chain/answers.c", "-shared", "-fPIC").rename(tmp_path / "libanswers.so")
    program = compile_program(
        tmp_path, "chain/answers.c", "-DTAKE", f"-L{tmp_path}", "-Wl,-rpath", f"-Wl,{tmp_path}", "-lanswers"
    )
    environment = {**os.environ, "LD_PRELOAD": str(other)}
    expected = subprocess.run([program], capture_output=True, text=True, check=True, env=environment).stdout
    assert {"read -7 11", "close -1 0", "fsync 0 1003", "io_destroy -1 5"} <= set(expected.splitlines())
    _, printed = run_recorded(tmp_path, order, other, program)
    assert printed == expected
