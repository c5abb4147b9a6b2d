"""Offsets and counts beyond 2^31, and the memory limit."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest

import plait

pytestmark = pytest.mark.usefixtures("nothing_left")

FAR = 5 << 30  # bytes


def make_sparse_file(path, size, contents):
    """Make a sparse file with bytes at some offsets; skip the test if the file system does not support such sizes."""
    try:
        with path.open("wb") as out:
            out.truncate(size)
            for offset, content in contents:
                out.seek(offset)
                out.write(content)
    except OSError as error:
        pytest.skip(f"no file of {size} bytes here: {error}")
    if path.stat().st_blocks * 512 > 1 << 20:
        pytest.skip("the file system does not support holes")
    return path


@pytest.mark.parametrize("strategy", ["direct", "two-phase"])
def test_regions_beyond_2_to_the_31_bytes_are_accessed(tmp_path, strategy):
    rows, columns = FAR // 8192, 1024
    row = np.arange(1024.0)
    path = make_sparse_file(tmp_path / "a.bin", FAR, [((rows - 3) * 8192, row.tobytes()), (FAR - 8, b"\1" * 8)])
    layout = plait.Layout((10, 100), "(cyclic, cyclic(7)) onto (3, 2)")
    with plait.open(path, "r+", shape=(rows, columns), dtype="f8", strategy=strategy, memory=1 << 20) as file:
        actual = file.read(region=np.s_[-10:, 200:300])
        np.testing.assert_array_equal(actual[7], row[200:300])
        assert (actual[[0, 1, 2, 3, 4, 5, 6, 8, 9]] == 0).all()
        parts = file.read(layout, region=np.s_[-10:, 200:300])
        for rank, part in enumerate(parts):
            np.testing.assert_array_equal(part, actual[np.ix_(*layout.indices(rank))])
        assert file.read(region=(-1, -1)).tobytes() == b"\1" * 8
        every_1000th = file.read(region=np.s_[rows - 3 :: 1000, 5])
        np.testing.assert_array_equal(every_1000th, [5.0])
        # The same region is written.
        file.write([part + 1 for part in parts], layout, region=np.s_[-10:, 200:300])
        np.testing.assert_array_equal(file.read(region=np.s_[-10:, 200:300]), actual + 1)
        np.testing.assert_array_equal(file.read(region=np.s_[-3, :200]), row[:200])
    with path.open("rb") as file:
        file.seek((rows - 3) * 8192 + 250 * 8)
        assert np.frombuffer(file.read(8))[0] == 251
    assert path.stat().st_size == FAR


@pytest.mark.sampled(1)
@pytest.mark.parametrize("strategy", ["direct", "two-phase"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_of_2_to_the_32_elements_are_read(tmp_path, strategy, order):
    size = 1 << 32
    path = make_sparse_file(tmp_path / "a.bin", size, [(size - 3, b"abc"), (1 << 31, b"x")])
    with plait.open(path, shape=(1 << 16, 1 << 16), dtype="u1", order=order, strategy=strategy) as file:
        line = file.read(region=np.s_[-1, 1:] if order == "C" else np.s_[1:, -1])
        assert bytes(line[-3:]) == b"abc"
        assert line[:-3].sum() == 0
        column = file.read(region=np.s_[:, 0] if order == "C" else np.s_[0, :])
        assert np.flatnonzero(column).tolist() == [1 << 15]
        assert column[1 << 15] == ord("x")
        layout = plait.Layout((1 << 16, 3), "(cyclic(1000), cyclic) onto (3, 2)")
        parts = file.read(layout, region=np.s_[:, -3:] if order == "C" else np.s_[:, :3])
        expected = np.zeros((1 << 16, 3), "u1")
        if order == "C":
            expected[-1] = list(b"abc")
        else:
            expected[0, :] = [0, 0, 0]
        for rank, part in enumerate(parts):
            np.testing.assert_array_equal(part, expected[np.ix_(*layout.indices(rank))])
    with plait.open(path, shape=size, dtype="u1", strategy=strategy) as file:
        assert bytes(file.read(region=np.s_[-3:])) == b"abc"
        ends = file.read(region=np.s_[1 :: (1 << 31) - 1])
        assert ends.tolist() == [0, ord("x"), ord("c")]


def test_layouts_may_have_more_elements_than_any_disk():
    layout = plait.Layout((1 << 31, 1 << 20), "(cyclic, block)", grid=(1 << 10, 1 << 10))
    assert layout.elements == 1 << 51
    assert layout.local_shape(5) == (1 << 21, 1 << 10)


# The memory limit: a read may use this much in addition to the array that it fills.

MEASURE_ACCESS = """
    import resource, sys
    import numpy as np
    import plait

    path, write, memory, dist, grid, strategy, order = eval(sys.argv[1])

    def peak():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

    shape = (2048, 4096)
    layout = plait.Layout(shape, dist, grid=grid)
    with plait.open(path, "r+", shape=shape, dtype="f8", memory=memory, strategy=strategy, order=order) as file:
        parts = [np.ones(layout.local_shape(rank)) for rank in range(layout.size)]
        array = parts if layout.size > 1 else parts[0]
        small = plait.Layout((16, 16), dist, grid=grid)
        small_parts = [np.ones(small.local_shape(rank)) for rank in range(small.size)]
        file.read(small, out=small_parts, region=np.s_[:16, :16])  # starts threads and loads code
        before = peak()
        if write:
            file.write(array, layout)
        else:
            file.read(layout, out=array)
        print(peak() - before)
"""


@pytest.mark.sampled(2)
@pytest.mark.parametrize("write", [False, True], ids=["read", "write"])
@pytest.mark.parametrize(
    ("dist", "grid", "strategy", "order"),
    [
        ("(*, *)", (), "two-phase", "C"),
        ("(*, cyclic)", (4,), "two-phase", "C"),
        ("(cyclic(3), block)", (2, 2), "two-phase", "F"),
        ("(*, cyclic(64))", (4,), "direct", "C"),
        ("(block, *)", (4,), None, "F"),
    ],
)
def test_an_access_stays_within_its_memory_limit(tmp_path, write, dist, grid, strategy, order):
    path = tmp_path / "a.bin"
    with path.open("wb") as out:
        out.truncate(2048 * 4096 * 8)
    memory = 1 << 20
    arguments = repr((str(path), write, memory, dist, grid, strategy, order))
    result = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(MEASURE_ACCESS), arguments], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    # 4 MiB are for stacks of threads and the allocator.
    assert int(result.stdout) < memory + (4 << 20), f"{int(result.stdout) >> 10} KiB more than before"
