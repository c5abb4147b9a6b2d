"""A lack of memory is a MemoryError in Python."""

import errno
import pickle

import numpy as np
import pytest

import plait
import plait.distant
import plait.shared


def test_a_lack_of_memory_is_a_memory_error(tmp_path):
    class ExhaustedMemory:
        def __index__(self):
            raise MemoryError

    with plait.distant.open(str(tmp_path / "d.bin"), "w") as disk, pytest.raises(plait.StoreError) as caught:
        disk.read(0, np.zeros(8, np.uint8), ExhaustedMemory())
    assert isinstance(caught.value, MemoryError)
    assert caught.value.errno == errno.ENOMEM
    assert "there is not enough memory" in str(caught.value)
    unpickled = pickle.loads(pickle.dumps(caught.value))
    assert isinstance(unpickled, MemoryError)
    assert (unpickled.errno, str(unpickled)) == (errno.ENOMEM, str(caught.value))


def test_a_lack_of_memory_is_a_memory_error_in_collective_calls(tmp_path):
    class ExhaustedMemory:
        def __array__(self, *ignored, **also):
            raise MemoryError

        def __index__(self):
            raise MemoryError

    def check_memory_error(call):
        with pytest.raises(plait.StoreError, match="there is not enough memory") as caught:
            call()
        assert isinstance(caught.value, MemoryError)
        assert not isinstance(caught.value, plait.ArgumentError)

    layout = plait.Layout((4,), "(block) onto (1)")
    with plait.open(tmp_path / "a.npy", "w", shape=4, dtype="f8") as file:
        check_memory_error(lambda: file.write(ExhaustedMemory()))
        check_memory_error(lambda: file.iwrite(ExhaustedMemory()))
        check_memory_error(lambda: file.stream(ExhaustedMemory()))
    check_memory_error(lambda: plait.open(tmp_path / "b.npy", "w", shape=ExhaustedMemory(), dtype="f8"))
    check_memory_error(lambda: plait.redistribute(ExhaustedMemory(), layout, layout))
    with plait.shared.open(tmp_path / "s", "w") as shared:
        check_memory_error(lambda: shared.resize(ExhaustedMemory()))
