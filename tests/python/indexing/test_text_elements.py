"""Texts of any length: halos of local arrays, and writes of several threads."""

import sys
import threading

import h5py
import numpy as np
import pytest

import plait

TEXTS = np.array([f"text {number}" * (number % 3) for number in range(6)], object)


def local_array(size):
    return np.full(size, "own", np.dtypes.StringDType())


@pytest.fixture(params=["a.h5", "a.zarr"])
def path(request, tmp_path):
    name = tmp_path / request.param
    with plait.open(name, "w", shape=(6,), dtype="text", chunks=(2,)) as file:
        file.write(TEXTS)
    return name


def test_reads_do_not_change_halos(path):
    layout = plait.Layout((6,), "(block)", grid=(2,), halo=(1,))
    outs = [local_array(layout.padded_shape(rank)) for rank in range(2)]
    with plait.open(path) as file:
        file.read(layout, outs)
        assert [list(out) for out in outs] == [["own", *TEXTS[:3], "own"], ["own", *TEXTS[3:], "own"]]
        file.read(layout, outs, fill_halo=True)
        assert [list(out) for out in outs] == [["own", *TEXTS[:4]], [*TEXTS[2:], "own"]]
        news = file.read(layout)
        assert [list(new[1:4]) for new in news] == [list(TEXTS[:3]), list(TEXTS[3:])]
        assert all(isinstance(text, str) for new in news for text in new)


def test_missing_texts_of_hdf5_are_read(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset("data", (4,), h5py.string_dtype(), chunks=(2,), fillvalue="none")[3] = "x"
    out = local_array(4)
    with plait.open(tmp_path / "a.h5") as file:
        file.read(out=out)
    assert list(out) == ["none", "none", "none", "x"]


def test_several_threads_write(tmp_path):
    count, rounds = 8, 25
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with plait.open(tmp_path / "a.zarr", "w", shape=(count, rounds), dtype="text", chunks=(1, 5)) as file:

            def write(row):
                for column in range(rounds):
                    file[row, column] = f"{row}, {column}"

            threads = [threading.Thread(target=write, args=(row,)) for row in range(count)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
    finally:
        sys.setswitchinterval(interval)
    with plait.open(tmp_path / "a.zarr") as file:
        expected = np.array([[f"{row}, {column}" for column in range(rounds)] for row in range(count)], object)
        np.testing.assert_array_equal(file[...].astype(object), expected)
