"""Opening a file whose name another process gives to other files: what is read is one of them, whole."""

import numpy as np
import pytest
from replacing import replaced

import plait


@pytest.mark.parametrize("mode", ["r", "r+"])
def test_a_file_that_is_being_replaced_is_read_whole(tmp_path, mode):
    path = tmp_path / "a.npy"
    with replaced(path, [1000, 3000]):
        for _ in range(1000):
            with plait.open(path, mode) as file:
                found = file.read()
            assert found.min() == found.max() == len(found)


@pytest.mark.parametrize("name", ["a.npy", "a.bin", "stripe:a?disks=.,.&unit=64"])
def test_a_file_that_is_replaced_while_it_is_written_in_place(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    array = np.arange(100.0)

    def make():
        with plait.open(name, "w", shape=array.shape, dtype=array.dtype) as file:
            file.write(array)

    make()
    kind = {} if name.endswith(".npy") else {"shape": array.shape, "dtype": array.dtype}
    file, unwritten = plait.open(name, "r+", **kind), plait.open(name, "r+", **kind)
    file.write(-array)
    make()
    unwritten.close()
    with pytest.raises(plait.StoreError, match="another file has replaced it since it was opened"):
        file.close()
    np.testing.assert_array_equal(plait.open(name, **kind).read(), array)
