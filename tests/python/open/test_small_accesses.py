"""Accesses to small files: short reads use one thread, and cached plans are used only for equal accesses."""

import os
import threading

import numpy as np
import pytest

import plait

FILES = 40  # of different shapes: more than the plans that a process caches


def make_distinct_array(shape):
    return np.arange(np.prod(shape), dtype=np.float64).reshape(shape)


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="one core needs no decision on threads")
@pytest.mark.parametrize(("rows", "has_threads"), [(512, False), (2047, False), (2048, True)])
def test_short_contiguous_reads_start_no_thread(tmp_path, rows, has_threads):
    # 1024 doubles are 8 KiB, so that 2048 rows are 16 MiB.
    np.save(tmp_path / "a.npy", make_distinct_array((rows, 1024)))
    with plait.open(tmp_path / "a.npy", strategy="two-phase") as file:
        assert ("readers    1 of 1" not in file.explain("(*, *)")) == has_threads
        np.testing.assert_array_equal(file.read(), make_distinct_array((rows, 1024)))


def test_files_of_different_shapes_are_read_by_turns(tmp_path):
    shapes = [(8 + k % 7, 5 + k) for k in range(FILES)]
    for k, shape in enumerate(shapes):
        np.save(tmp_path / f"{k}.npy", make_distinct_array(shape) + k)
    for _ in range(2):
        for k, shape in enumerate(shapes):
            for dist in ("(block, *) onto (2)", "(*, cyclic) onto (2)"):
                layout = plait.Layout.parse(f"{shape[0]}x{shape[1]} {dist}")
                with plait.open(tmp_path / f"{k}.npy") as file:
                    for rank, part in enumerate(file.read(layout)):
                        expected = (make_distinct_array(shape) + k)[np.ix_(*layout.indices(rank))]
                        np.testing.assert_array_equal(part, expected)


def test_equal_arrays_that_are_stored_differently_are_read(tmp_path):
    # All arguments of the plans are equal, apart from one: the order, the size of an element, the offset or the region.
    array = make_distinct_array((12, 10))
    for order in ("C", "F"):
        for dtype in ("f8", "f4"):
            for offset in (0, 24):
                (tmp_path / f"{order}{dtype}{offset}").write_bytes(b"?" * offset + array.astype(dtype).tobytes(order))
    layout = plait.Layout.parse("12x10 (cyclic, block) onto (2, 2)")
    for _ in range(2):
        for order in ("C", "F"):
            for dtype in ("f8", "f4"):
                for offset in (0, 24):
                    name = tmp_path / f"{order}{dtype}{offset}"
                    with plait.open(name, shape=(12, 10), dtype=dtype, order=order, offset=offset) as file:
                        for rank, part in enumerate(file.read(layout)):
                            np.testing.assert_array_equal(part, array[np.ix_(*layout.indices(rank))])
                        rows = plait.Layout.parse("5x10 (block, *) onto (2)")
                        parts = file.read(rows, region=np.s_[3:8])
                        np.testing.assert_array_equal(np.concatenate(parts), array[3:8])


def test_threads_read_files_of_different_shapes(tmp_path):
    wrong_reads = []

    def write_and_read(number):
        name = tmp_path / f"{number}.npy"
        for k in range(FILES):
            array = make_distinct_array((4 + (number + k) % 23, 6)) + number
            layout = plait.Layout.parse(f"{array.shape[0]}x6 (cyclic, *) onto (2)")
            np.save(name, array)
            with plait.open(name) as file:
                parts = file.read(layout)
            if not all(np.array_equal(parts[rank], array[rank::2]) for rank in range(2)):
                wrong_reads.append((number, k))

    threads = [threading.Thread(target=write_and_read, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong_reads == []
