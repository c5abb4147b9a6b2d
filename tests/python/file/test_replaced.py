"""Opening a file whose name another process gives to other files: what is read is one of them, whole."""

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
