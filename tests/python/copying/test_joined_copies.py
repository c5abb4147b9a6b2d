"""plait.copy and `plait copy` of several files that are joined along a dimension."""

from pathlib import Path

import numpy as np
import pytest
from launching import needs_mpi, run

import plait


@pytest.fixture
def parts(tmp_path, monkeypatch):
    """Create three files whose natural order is not the order of their names, and return their joined content."""
    monkeypatch.chdir(tmp_path)
    arrays = [np.random.default_rng(number).random((number + 2, 9, 5)).astype("f4") for number in range(3)]
    for number, array in zip((2, 9, 10), arrays, strict=True):
        with plait.open(
            f"run-{number}.h5::/t2m", "w", shape=array.shape, dtype="f4", chunks=(2, 4, 5), codec="gzip:1"
        ) as file:
            file.write(array)
    return np.concatenate(arrays)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("memory", ["4K", "256M"])
@pytest.mark.parametrize("ranks", ["1", pytest.param("3", marks=needs_mpi)])
def test_files_that_a_pattern_matches_are_joined_in_natural_order(parts, memory, ranks):
    result = run("copy", "run-*.h5::/t2m", "all.zarr", "--concat", "0", "--memory", memory, "--ranks", ranks)
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("run-*.h5::/t2m -> all.zarr: 1.58 KiB in ")
    with plait.open("all.zarr") as file:
        assert file.chunks == (2, 4, 5)
        np.testing.assert_array_equal(file.read(), parts)


def test_listed_files_are_joined_in_the_order_of_the_list(parts):
    first, last = "run-2.h5::t2m", "run-10.h5::t2m"
    result = run("copy", last, first, "all.npy", "--concat", "-3")
    assert result.exit_code == 0, result.output
    np.testing.assert_array_equal(np.load("all.npy"), np.concatenate([parts[5:], parts[:2]]))
    plait.copy([first, last], "joined.h5", concat=0, chunks=(3, 3, 3), codec="gzip:1")
    with plait.open("joined.h5") as file:
        np.testing.assert_array_equal(file[...], np.concatenate([parts[:2], parts[5:]]))


def test_invalid_joins_are_rejected(parts):
    for target in ("run-9.h5", "run-2.h5::/new"):
        with pytest.raises(plait.ArgumentError, match="is a source itself"):
            plait.copy("run-*.h5::/t2m", target, concat=0)
    with pytest.raises(plait.ArgumentError, match="the name of a dimension"):
        plait.copy("run-*.h5::/t2m", "all.zarr", concat="time")
    with pytest.raises(plait.ArgumentError, match="has shape 3x9x5, but"):
        plait.copy("run-*.h5::/t2m", "all.zarr", concat=1)
    with open("run-2.h5", "rb") as stream, pytest.raises(plait.ArgumentError, match="a stream cannot be joined"):
        plait.copy(stream, "all.zarr", concat=0)
    assert not list(Path().glob("*all*"))


def test_errors_name_a_step_only_if_the_sources_are_steps(parts):
    for sources, options, expected in (
        (["run-2.h5::/t2m"], {}, "run-2.h5::/t2m has no array 'zz'; it has: t2m"),
        (["run-2.h5::/t2m"], {"concat": 0}, "run-2.h5::/t2m has no array 'zz'; it has: t2m"),
        (
            ["run-2.h5::/t2m", "run-9.h5::/t2m"],
            {"concat": 0},
            "the array joined from run-2.h5::/t2m and 1 more has no array 'zz'; it has: t2m",
        ),
    ):
        with pytest.raises(plait.ArgumentError) as failed:
            plait.copy(sources if options else sources[0], "all.zarr", variable="zz", **options)
        assert str(failed.value) == expected
    np.save("a.npy", parts)
    with pytest.raises(plait.ArgumentError, match=r"^step 0 of a.npy has no array 'zz'; it has: data$"):
        plait.copy(["a.npy", "a.npy"], "{step}.npy", variable="zz")
    for variable in ("", ["t2m", ""]):
        with pytest.raises(plait.ArgumentError, match=r"^variable='' is not the name of an array; pass a name"):
            plait.copy("run-2.h5", "all.zarr", variable=variable)
