"""The Fortran module plait, with default integers of 4 and of 8 bytes."""

import numpy as np
import pytest
from fortran import compile_program, needs_fortran, run

import plait

pytestmark = needs_fortran


@pytest.mark.sampled(1)
@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 6])
@pytest.mark.parametrize("kind", [4, 8])
def test_arrays_of_any_type_and_rank_are_written(tmp_path, kind, ranks):
    program = compile_program("arrays.f90", tmp_path, kind)
    assert run(program, ranks, tmp_path) == ("", "")
    positions = np.arange(1, 101)
    np.testing.assert_array_equal(np.fromfile(tmp_path / "vector.bin", "c8"), positions - 1j * positions)
    matrix = np.load(tmp_path / "matrix.npy")
    assert matrix.flags.f_contiguous
    expected = np.arange(1, 10)[:, None] + 100.0 * np.arange(1, 11)
    expected[:, [2, 4, 6, 8]] *= -1
    np.testing.assert_array_equal(matrix, expected)
    seven = np.fromfile(tmp_path / "seven.bin", "i2").reshape((2, 3, 7, 2, 2, 2, 3), order="F")
    np.testing.assert_array_equal(seven, np.broadcast_to(np.arange(1, 8)[:, None, None, None, None], seven.shape))
    assert np.fromfile(tmp_path / "fifteen.bin", "i8").tolist() == [1, 2, 3, 4, 5, 6]
    assert np.load(tmp_path / "number.npy") == 2.5
    assert (tmp_path / "flags.bin").read_bytes() == bytes([1, 0, 1, 1]) * ranks
    assert (tmp_path / "words.bin").read_bytes() == b"onetworedsea" * ranks


@pytest.mark.sampled(1)
@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("kind", [4, 8])
def test_arrays_grow(tmp_path, kind, ranks):
    program = compile_program("growth.f90", tmp_path, kind)
    new = {"shape": (6, 3), "dtype": "f4", "chunks": (2, 2), "codec": "gzip:1", "unlimited": [1]}
    with plait.open(tmp_path / "growth.h5::/v", "w", **new) as file:
        file.write(np.ones((6, 3), "f4"))
    assert run(program, ranks, tmp_path) == ("", "")
    with plait.open(tmp_path / "growth.zarr") as file:
        np.testing.assert_array_equal(file.read(), np.tile(np.float32([1, 2, 3, 4, 0]), (6, 1)))
    with plait.open(tmp_path / "growth.h5::/v") as file:
        np.testing.assert_array_equal(file.read(), np.tile(np.float32([1, 1, 1, 7]), (6, 1)))
    with plait.open(tmp_path / "growth.h5::/g/w") as file:
        np.testing.assert_array_equal(file.read(), np.full((6, 1), 8, "f4"))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("ranks", [1, 3, 4])
@pytest.mark.parametrize("kind", [4, 8])
def test_streams_write_in_rank_order(tmp_path, kind, ranks):
    program = compile_program("streams.f90", tmp_path, kind)
    assert run(program, ranks, tmp_path) == ("", "")
    # Rank r wrote r + 1 elements in rank order; then rank 0 wrote the last two elements.
    ordered = [100 * rank + i for rank in range(ranks) for i in range(1, rank + 2)]
    actual = np.fromfile(tmp_path / "stream.bin", "f8")
    assert actual.tolist() == [*ordered, -1, -2]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 6])
@pytest.mark.parametrize("kind", [4, 8])
@pytest.mark.parametrize("nodes", ["one node", "nodes of one rank"])
def test_ranks_access_distant_files(tmp_path, kind, ranks, nodes):
    program = compile_program("distant.f90", tmp_path, kind)
    environment = {"PLAIT_NODE_SIZE": "1"} if nodes != "one node" else {}
    assert run(program, ranks, tmp_path, **environment) == ("", "")
    for rank in range(ranks):
        assert (tmp_path / f"disk-{rank}").read_bytes() == bytes([7] * 100)  # the other files were temporary


@pytest.mark.sampled(1)
@pytest.mark.parametrize("ranks", [1, 3])
def test_unclosed_distant_files_are_reported(tmp_path, ranks):
    program = compile_program("distant_unclosed.f90", tmp_path)
    printed, errors = run(program, ranks, tmp_path)
    assert printed == ""
    if ranks == 1:
        assert errors == ""
    else:
        assert len(errors.splitlines()) == 1, errors
        assert (
            "the ranks of a collective call differ: rank 0 calls close the distant file of number 1, rank 1 " in errors
        )
    remaining = {path.name: np.fromfile(path, "i8").tolist() for path in tmp_path.iterdir() if path != program}
    assert remaining == {f"kept-{rank}": [5] * 100000 for rank in range(ranks)}


@pytest.mark.sampled(1)
@pytest.mark.parametrize("kind", [4, 8])
def test_wrong_arguments_are_errors(tmp_path, kind):
    program = compile_program("module_errors.f90", tmp_path, kind)
    printed, errors = run(program, 2, tmp_path)
    assert printed == ""
    assert len(errors.splitlines()) == 1, errors
    assert errors.startswith("plait: ")
    assert np.fromfile(tmp_path / "file.bin", "f4").tolist() == [1.0] * 48
    assert not (tmp_path / "again.bin").exists()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("kind", [4, 8])
def test_unusual_arguments_and_handles_are_accepted(tmp_path, kind, ranks):
    program = compile_program("handles.f90", tmp_path, kind)
    assert run(program, ranks, tmp_path) == ("", "")
    assert np.fromfile(tmp_path / "kinds.bin").tolist() == list(range(1, 6 * ranks + 1))
    assert not (tmp_path / "other.bin").exists()


@pytest.mark.sampled(1)
@pytest.mark.parametrize("ranks", [2, 3])
def test_unchecked_errors_and_unclosed_files_are_reported(tmp_path, ranks):
    """Each error is reported once, by the rank where it occurred; new files that were not closed leave no file."""
    program = compile_program("unasked.f90", tmp_path)
    _, errors = run(program, ranks, tmp_path)
    lines = sorted(errors.splitlines())
    assert len(lines) == 4, errors
    assert lines[0].endswith("new.npy was not closed, so the new file is discarded; call plait_close")
    assert lines[1].endswith("own.npy was not closed, so the new file is discarded; call plait_close")
    assert lines[2].startswith("plait: rank 1: ")
    assert "cannot be written from element 3 on: the array ends at 4" in lines[2]
    assert lines[3].startswith("plait: the local array of rank 0 has the shape 2, but the layout says 4;")
    assert sorted(path.name for path in tmp_path.iterdir()) == [program.name, "whole.bin"]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("kind", [4, 8])
def test_attributes_are_written(tmp_path, kind, ranks):
    program = compile_program("attributes.f90", tmp_path, kind)
    assert run(program, ranks, tmp_path) == ("", "")
    with plait.open(tmp_path / "a.zarr") as file:
        assert (file.attrs["units"], file.attrs["count"], file.attrs["half"]) == ("K", 7, 0.5)
        assert file.attrs["range"].tolist() == [-1.5, 2.5]
