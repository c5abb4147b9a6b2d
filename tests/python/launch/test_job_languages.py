"""Ranks without MPI in C, C++ and Fortran."""

import shutil
import subprocess
import time
from pathlib import Path

import jobs
import numpy as np
import pytest
from fortran import compile_program, needs_fortran

import plait

ROOT = Path(__file__).parents[3]
LIBRARIES = Path(plait.__file__).parent
CPP = """
#include <plait/comm.hpp>
#include <plait/error.hpp>
#include <cstdio>
#include <string>

int main() {
  const plait::Comm comm = plait::Comm::world();
  comm.barrier();
  std::string all;
  for (const std::string& text : comm.allgather(std::to_string(comm.rank() * 10))) all += text + ' ';
  if (plait::Comm::world(0).rank() != comm.rank()) return 1;  // a second call returns the same rank
  try {
    plait::Comm::world(-1);
    return 2;
  } catch (const plait::Error&) {
  }
  std::printf("%d of %d: %s\\n", comm.rank(), comm.size(), all.c_str());
}
"""


def compile_with_plait(source, folder, *flags):
    """Return the program that is compiled from a C or C++ file and linked with libplait."""
    compiler = shutil.which("gcc" if source.suffix == ".c" else "g++")
    if compiler is None:
        pytest.skip("no compiler")
    program = folder / source.stem
    options = ["-Wall", "-Wextra", "-Werror", f"-I{ROOT / 'include'}", *flags]
    libraries = [f"-L{LIBRARIES}", "-lplait", f"-Wl,-rpath,{LIBRARIES}"]
    result = subprocess.run(
        [compiler, *options, source, "-o", program, *libraries], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    return program


@pytest.mark.sampled(1)
@pytest.mark.parametrize("ranks", [1, 3])
def test_ranks_of_c_write_a_file(ranks, tmp_path):
    program = compile_with_plait(ROOT / "tests/c/job_ranks.c", tmp_path, "-std=c11", "-Wpedantic")
    status, output = jobs.run(ranks, [program, tmp_path / "a.npy"])
    assert (status, sorted(output.splitlines())) == (0, [f"rank {rank} of {ranks}" for rank in range(ranks)]), output
    assert (np.load(tmp_path / "a.npy") == np.arange(48.0).reshape(8, 6)).all()


def test_ranks_of_cpp_are_connected(tmp_path):
    source = tmp_path / "ranks.cpp"
    source.write_text(CPP)
    status, output = jobs.run(3, [compile_with_plait(source, tmp_path, "-std=c++20")])
    assert (status, sorted(output.splitlines())) == (0, [f"{rank} of 3: 0 10 20 " for rank in range(3)]), output


# Rank 1 calls exit() during a barrier: in the handler of a signal, or while another thread is in the barrier.
EXITING = """
#include <plait/comm.hpp>
#include <plait/error.hpp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <unistd.h>

int main(int, char** arguments) {
  const plait::Comm comm = plait::Comm::world();
  comm.barrier();
  const bool thread = arguments[1][0] == 't';
  if (comm.rank() == 1) {
    if (thread) {
      std::thread([comm] { comm.barrier(); }).detach();
      sleep(1);
      return 0;
    }
    std::signal(SIGALRM, [](int) { std::exit(0); });
    alarm(1);
    comm.barrier();
  }
  sleep(thread ? 3 : 2);
  try {
    if (comm.rank() == 0) comm.barrier();
    if (comm.rank() == 0) comm.barrier();
  } catch (const plait::Error& error) {
    std::printf("%s\\n", error.what());
  }
}
"""


@pytest.mark.long
def test_an_exit_in_the_handler_of_a_signal_is_reported(tmp_path):
    source = tmp_path / "exiting.cpp"
    source.write_text(EXITING)
    status, output = jobs.run(2, [compile_with_plait(source, tmp_path, "-std=c++20"), "handler"])
    assert (status, output) == (0, "rank 1 has left the program; nothing more can be done together\n")


@pytest.mark.long
def test_an_exit_while_another_thread_is_in_a_call_is_reported(tmp_path):
    source = tmp_path / "exiting.cpp"
    source.write_text(EXITING)
    begin = time.monotonic()
    status, output = jobs.run(2, [compile_with_plait(source, tmp_path, "-std=c++20", "-pthread"), "thread"])
    assert (status, output) == (0, "rank 1 has left the program; nothing more can be done together\n")
    assert time.monotonic() - begin < 300


@needs_fortran
@pytest.mark.sampled(1)
@pytest.mark.parametrize("kind", [4, 8])
def test_ranks_of_fortran_write_a_file(kind, tmp_path):
    program = compile_program("job_ranks.f90", tmp_path, kind)
    status, output = jobs.run(3, [program, tmp_path / "a.npy"])
    assert (status, sorted(output.splitlines())) == (0, [f"rank {rank} of 3" for rank in range(3)]), output
    assert (np.arange(48.0).reshape(8, 6) == np.load(tmp_path / "a.npy").T).all()
