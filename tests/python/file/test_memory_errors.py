"""A lack of memory: what it is to Python."""

import errno
import pickle

import numpy as np
import pytest

import plait
import plait.distant


def test_a_lack_of_memory_is_of_pythons_class_too(tmp_path):
    class Exhausting:
        def __index__(self):
            raise MemoryError

    with plait.distant.open(str(tmp_path / "d.bin"), "w") as disk, pytest.raises(plait.StoreError) as caught:
        disk.read(0, np.zeros(8, np.uint8), Exhausting())
    assert isinstance(caught.value, MemoryError)
    assert caught.value.errno == errno.ENOMEM
    assert "there is not enough memory" in str(caught.value)
    again = pickle.loads(pickle.dumps(caught.value))
    assert isinstance(again, MemoryError)
    assert (again.errno, str(again)) == (errno.ENOMEM, str(caught.value))
