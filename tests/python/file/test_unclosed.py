"""New files that are not closed: nothing remains of them, and a message says so."""

import gc
import os
import subprocess
import sys

import numpy as np
import pytest
from launching import WELCOME, needs_mpi

import plait

START = """
import os, sys
import numpy as np
import plait

def new(name):
    file = plait.open(name, "w", shape=6, dtype="f8")
    file.iwrite(np.arange(6.0)).wait()
    return file
"""


def run_program(program, folder, *launcher, status=0):
    """Run a program in a folder, and return its error output and the names in the folder."""
    result = subprocess.run(
        [*launcher, sys.executable, "-c", START + program],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, **WELCOME},
    )
    assert result.returncode == status, result.stderr
    return result.stderr, sorted(os.listdir(folder))


def find_plait_lines(output):
    return [line for line in output.splitlines() if line.startswith("plait: ")]


def unclosed_message(name):
    return f"plait: {name} was opened in mode w and never closed: nothing was written under that name; "


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["a.npy", "a", "stripe:a?disks=.", "distant:a.npy?folder=."])
def test_a_program_names_the_files_that_it_loses_at_exit(tmp_path, name):
    output, remaining = run_program(f"file = new({name!r})", tmp_path)
    assert output.startswith(unclosed_message(name))
    assert len(output.splitlines()) == 1
    assert remaining == []


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("program", "reports", "expected_names"),
    [
        ("new('a.npy'); print('goes on', file=sys.stderr)", 1, []),
        ("files = [new('a.npy'), new('b.npy')]", 2, []),
        ("import sys; sys.held = new('a.npy'); sys.held.self = sys.held", 1, []),
        ("new('a.npy').close()", 0, ["a.npy"]),
        ("with new('a.npy'): pass", 0, ["a.npy"]),
        ("file = new('a.npy'); file.__exit__(KeyError, None, None)", 0, []),
        ("new('a.npy').close(); file = plait.open('a.npy')", 0, ["a.npy"]),
        ("new('a.npy').close(); file = plait.open('a.npy', 'r+')", 0, ["a.npy"]),
        ("file = new('a.npy')\nif os.fork() == 0: sys.exit()\nos.wait(); file.close()", 0, ["a.npy"]),
        (
            "file = new('a.npy')\nif os.fork() == 0: file = new('b.npy'); sys.exit()\nos.wait(); file.close()",
            1,
            ["a.npy"],
        ),
    ],
)
def test_each_lost_file_is_named_once(tmp_path, program, reports, expected_names):
    output, remaining = run_program(program, tmp_path)
    assert len(find_plait_lines(output)) == reports, output
    assert remaining == expected_names


def test_an_atomic_shared_file_is_named_as_well(tmp_path):
    program = """
from plait import shared
files = [shared.open(name, "w", persistent=True, atomic=True) for name in ("lost", "closed", "given up")]
files[1].close()
files[2].__exit__(KeyError, None, None)
files.append(shared.open("not atomic", "w", persistent=True))
"""
    output, remaining = run_program(program, tmp_path)
    assert [line[: len(unclosed_message("lost"))] for line in find_plait_lines(output)] == [unclosed_message("lost")]
    assert remaining == ["closed", "not atomic"]


def test_an_exception_leaves_the_old_file(tmp_path):
    np.save(tmp_path / "a.npy", np.ones(3))
    output, remaining = run_program("file = new('a.npy'); raise KeyError('mine')", tmp_path, status=1)
    assert "KeyError: 'mine'" in output
    assert find_plait_lines(output)[0].startswith(unclosed_message("a.npy"))
    assert remaining == ["a.npy"]
    np.testing.assert_array_equal(np.load(tmp_path / "a.npy"), np.ones(3))


def test_the_next_writer_removes_leftovers_of_exec(tmp_path):
    output, remaining = run_program(
        "file = new('a.npy'); os.execv(sys.executable, [sys.executable, '-c', ''])", tmp_path
    )
    assert output == ""
    assert len(remaining) == 1
    assert remaining[0].startswith(".a.npy.plait-")
    assert run_program("new('a.npy').close()", tmp_path) == ("", ["a.npy"])


def test_leftovers_of_exec_remain_while_the_new_program_runs(tmp_path):
    write = START + "new('a.npy').close()"
    program = f"""
import subprocess
subprocess.run([sys.executable, "-c", {write!r}], check=True)
others = sorted(os.listdir())
exec({write!r})
assert len(others) == 2 and others[0].startswith(".a.npy.plait-"), others
"""
    exec_program = f"file = new('a.npy'); os.execv(sys.executable, [sys.executable, '-c', {START + program!r}])"
    assert run_program(exec_program, tmp_path) == ("", ["a.npy"])


def test_busy_daemon_threads_do_not_disturb_the_exit(tmp_path):
    program = """
import threading, time
def work(number):
    while True:
        with new(f"{number}.npy") as file:
            file.write(np.zeros(6))
        plait.open(f"{number}.npy").read()
for number in range(3):
    threading.Thread(target=work, args=(number,), daemon=True).start()
time.sleep(0.1)
"""
    for _ in range(3):
        output, _ = run_program(program, tmp_path)
        assert all(line.startswith("plait: ") for line in output.splitlines()), output


@pytest.mark.sampled(1)
@pytest.mark.parametrize("mode", ["r", "r+", "w"])
def test_a_collected_file_raises_a_resource_warning(tmp_path, mode):
    name = str(tmp_path / "a.npy")
    np.save(name, np.ones(3))
    file = plait.open(name, mode, shape=3, dtype="f8")
    files = [file]
    del file
    with pytest.warns(ResourceWarning, match=f"unclosed plait.File '{name}', mode {mode}".replace("+", r"\+")):
        files.clear()
    gc.collect()


@pytest.mark.sampled(1)
@pytest.mark.parametrize("end", ["file.close()", "file.__exit__(KeyError, None, None)"])
@pytest.mark.filterwarnings("error")
def test_a_closed_or_discarded_file_raises_no_warning(tmp_path, end):
    with plait.open(tmp_path / "a.npy", "w", shape=3, dtype="f8") as file:
        exec(end, {"file": file, "KeyError": KeyError})
    del file
    gc.collect()


@needs_mpi
@pytest.mark.sampled(1)
@pytest.mark.parametrize("end", ["", "MPI.Finalize()", "MPI.Finalize(); del file"])
def test_rank_0_names_a_lost_file_of_all_ranks(tmp_path, end):
    program = f"""
from mpi4py import MPI
file = plait.open("a.npy", "w", comm=MPI.COMM_WORLD, shape=6, dtype="f8")
file.write(np.zeros(2), plait.Layout((6,), "(block)", grid=(3,)))
{end}
"""
    output, remaining = run_program(program, tmp_path, "mpiexec", "-n", "3")
    assert [line[: len(unclosed_message("a.npy"))] for line in find_plait_lines(output)] == [unclosed_message("a.npy")]
    assert remaining == []


@needs_mpi
def test_close_after_mpi_finalize_is_an_error(tmp_path):
    program = """
os.environ["PLAIT_NODE_SIZE"] = "1"
from mpi4py import MPI
file = plait.open("a.npy", "w", comm=MPI.COMM_WORLD, shape=6, dtype="f8")
MPI.Finalize()
try:
    file.close()
except plait.StoreError as error:
    sys.stderr.write(f"reported: {error}\\n")
"""
    output, remaining = run_program(program, tmp_path, "mpiexec", "-n", "2")
    assert output.count("reported: MPI has ended; close files") == 2, output
    assert remaining == []
