"""The 1993 primitives as external procedures of Fortran, with default integers of 4 and of 8 bytes."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from fortran import MPIEXEC, compile_program, launch, needs_fortran, run
from launching import WELCOME
from mappings import declare_local_array, make_distinct_array, random_mapping

pytestmark = needs_fortran
PROGRAMS = Path(__file__).parents[2] / "fortran"
on_nodes = pytest.mark.parametrize("node", ["", "1"], ids=["one node", "nodes of 1"])


@pytest.mark.sampled(1)
@pytest.mark.parametrize("kind", [4, 8])
def test_figure_21(tmp_path, kind):
    """The program of the thesis reads a matrix column-cyclic, and appends the changed matrix to the file."""
    program = compile_program(PROGRAMS / "figure21.f", tmp_path, kind)
    global_array = (np.arange(64 * 64) * 3 % 1000).reshape(64, 64).astype(f"i{kind}")
    (tmp_path / "TEST").write_bytes(global_array.tobytes(order="F"))
    assert run(program, 4, tmp_path) == ("", "")
    changed = np.empty_like(global_array)
    for column in range(64):
        local = column // 4  # on rank column % 4
        for i in range(64):
            changed[i, column] = 2 * global_array[i, column] + (i + 1) + 64 * local
    assert (tmp_path / "TEST").read_bytes() == global_array.tobytes(order="F") + changed.tobytes(order="F")


def test_figure_21_on_other_numbers_of_ranks(tmp_path):
    """The program reports the error once, and ends."""
    program = compile_program(PROGRAMS / "figure21.f", tmp_path)
    (tmp_path / "TEST").write_bytes(bytes(64 * 64 * 4))
    for ranks in (1, 2, 6):
        _, errors = run(program, ranks, tmp_path)
        lines = errors.splitlines()
        assert lines[0].startswith(
            f"plait: proc_map: the grid (1, 4) has 4 processors, but the program runs on {ranks}"
        )
        assert [line.split(":")[1].strip() for line in lines] == ["proc_map", "array_map", "pread", "pwrite"]
    assert (tmp_path / "TEST").read_bytes() == bytes(64 * 64 * 4)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 6])
@pytest.mark.parametrize("kind", [4, 8])
def test_any_mix_of_distributions(tmp_path, kind, ranks):
    """Arrays of 1 to 7 dimensions are written under one mapping and read under another one, through 1 to P ranks."""
    random = np.random.default_rng([kind, ranks])
    cases = 20
    lines = [[str(cases)] for _ in range(ranks)]
    global_arrays, expected = [], {}
    for case in range(1, cases + 1):
        first = random_mapping(random, ranks)
        global_array = make_distinct_array(first.size, f"i{kind}", case)
        global_arrays.append(global_array)
        for pass_number, mapping in enumerate((first, random_mapping(random, ranks, first.size))):
            unused_entries = [-1] * (7 - len(mapping.size))
            lists = [
                *mapping.size,
                *unused_entries,
                *mapping.codes,
                *unused_entries,
                *mapping.blocks,
                *unused_entries,
                *mapping.grid,
                *unused_entries,
            ]
            processors = int(random.integers(1, ranks + 1)) if random.integers(2) else -1
            io_size = int(random.choice([-1, 5, 4096]))
            for rank in range(ranks):
                sizes, array, share = declare_local_array(random, mapping, global_array, rank)
                share[...] = mapping.local(global_array, rank)
                numbers = [*lists, mapping.mode, processors, io_size, *sizes]
                lines[rank] += [" ".join(map(str, numbers)), " ".join(map(str, [*mapping.user_map, *[0] * 64][:64]))]
                if pass_number == 0:
                    (tmp_path / f"in{case}_{rank}").write_bytes(array.tobytes())
                else:
                    expected[f"ou{case}_{rank}"] = array.tobytes()
    for rank in range(ranks):
        (tmp_path / f"cases{rank}").write_text("\n".join(lines[rank]) + "\n", encoding="ascii")
    assert run(compile_program(PROGRAMS / "mixes.f90", tmp_path, kind), ranks, tmp_path) == ("", "")
    for case, global_array in enumerate(global_arrays, start=1):
        assert (tmp_path / f"whole{case}").read_bytes() == global_array.tobytes(order="F")
    for name, content in expected.items():
        assert (tmp_path / name).read_bytes() == content


@pytest.mark.sampled(1)
@pytest.mark.parametrize("kind", [4, 8])
def test_words_maps_types_and_tables(tmp_path, kind):
    program = compile_program(PROGRAMS / "matrix.f90", tmp_path, kind)
    printed, errors = run(program, 2, tmp_path)
    assert errors == ""
    rows = {line.split()[0]: [int(n) for n in line.split()[1:]] for line in printed.splitlines()}
    assert rows["fda"] == [10, 0, 0, 1, 1, 2, 1]  # the last number is the number of disks that popen returned
    assert rows["adt"] == [9, 1, -1, 2, 7, 2, -1, 1]
    assert rows["p_info"] == [0, 0, 1, 1, 0, 0]
    expected = np.array([[i + 0.001 * j for j in range(1, 8)] for i in range(1, 10)])
    np.testing.assert_allclose(np.fromfile(tmp_path / "matrix.bin").reshape(9, 7, order="F"), expected, rtol=1e-15)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("kind", [4, 8])
def test_errors_are_queried_or_reported(tmp_path, kind, ranks):
    program = compile_program(PROGRAMS / "mistakes.f90", tmp_path, kind)
    printed, errors = run(program, ranks, tmp_path)
    assert printed == ""
    lines = errors.splitlines()  # only rank 0 reports an error
    assert len(lines) == 3
    assert lines[0].startswith("plait: array_map: size_info has no entries")
    assert lines[1].startswith("plait: pread: unit 3 is not open")
    assert lines[2].startswith("plait: pclose: unit 4 is not open")
    assert not (tmp_path / "file").exists()


@on_nodes
@pytest.mark.sampled(1)
@pytest.mark.parametrize("ranks", [2, 4])
def test_a_rank_that_leaves_early(tmp_path, ranks, node):
    """No rank hangs, and a new file that was not closed is discarded."""
    program = compile_program(PROGRAMS / "leaves_early.f90", tmp_path)
    _, errors = run(program, ranks, tmp_path, RANKS=str(ranks), PLAIT_NODE_SIZE=node)
    assert errors.splitlines() == ["plait: unit 3 (left) was not closed, so the new file is discarded; call pclose"]
    assert [path.name for path in tmp_path.iterdir() if path.name != program.name] == []


@on_nodes
@pytest.mark.sampled(1)
@pytest.mark.parametrize("failing", [0, 2])
def test_a_rank_that_fails(tmp_path, failing, node):
    """The launcher ends the others, which wait for the failed rank."""
    program = compile_program(PROGRAMS / "fails.f90", tmp_path)
    done = launch(program, 3, tmp_path, RANK=str(failing), PLAIT_NODE_SIZE=node)
    assert done.returncode != 0
    assert f"plait: rank {failing} failed; unit 3 (left) was not closed" in done.stderr
    assert not (tmp_path / "left").exists()


def test_tables_come_after_the_first_primitive(tmp_path):
    """A single rank may request the tables, without waiting for others."""
    program = compile_program(PROGRAMS / "tables_first.f90", tmp_path)
    printed, errors = run(program, 2, tmp_path)
    assert printed == ""
    assert errors == ""


@pytest.mark.sampled(1)
@pytest.mark.parametrize("kind", [4, 8])
def test_mistakes_with_a_status(tmp_path, kind):
    assert run(compile_program(PROGRAMS / "status_errors.f90", tmp_path, kind), 2, tmp_path) == ("", "")


def test_ranks_without_mpi(tmp_path, meeting_folder):
    program = compile_program(PROGRAMS / "matrix.f90", tmp_path)
    command = [sys.executable, "-m", "plait.cli", "run", "-n", "2", "--", program]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, "fda" in done.stdout) == (0, True), done.stdout + done.stderr
    expected = np.array([[i + 0.001 * j for j in range(1, 8)] for i in range(1, 10)])
    np.testing.assert_allclose(np.fromfile(tmp_path / "matrix.bin").reshape(9, 7, order="F"), expected, rtol=1e-15)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("kind", [4, 8])
@pytest.mark.parametrize(("writers", "readers"), [(2, 3), (4, 1)])
def test_pipes(tmp_path, meeting_folder, kind, writers, readers):
    program = compile_program(PROGRAMS / "pipe.f", tmp_path, kind)
    unused_entries = [
        subprocess.Popen(
            [MPIEXEC, "-n", str(ranks), program, role, "pipe:flow", str(ranks)],
            env={**os.environ, **WELCOME},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for role, ranks in (("write", writers), ("read", readers))
    ]
    printed = [end.communicate(timeout=300)[0] for end in unused_entries]
    assert ([end.returncode for end in unused_entries], printed) == ([0, 0], ["", ""])
