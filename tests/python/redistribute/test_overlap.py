"""Arrays that share memory, and masks: rejected, because elements or masks would be lost silently."""

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

import plait
import plait.distant
import plait.shared

SERIAL = plait.Layout((8, 12), "(*, *)")
ROWS = plait.Layout((8, 12), "(block, *) onto (4)")
COLUMNS = plait.Layout((8, 12), "(*, cyclic) onto (4)")
ARRAY = np.arange(96.0).reshape(8, 12)


def split_rows(array):
    """Return copies of the parts of ROWS."""
    return [part.copy() for part in np.split(array, 4)]


@pytest.mark.parametrize("method", ["at once", "started", "planned"])
def test_out_that_shares_memory_with_array_is_rejected(method):
    def redistribute(array, src, dst, out, **regions):
        if method == "at once":
            return plait.redistribute(array, src, dst, out=out, **regions)
        if method == "started":
            return plait.iredistribute(array, src, dst, out=out, **regions).wait()
        with plait.Redistribution(src, dst, "f8", **regions) as plan:
            return plan.run(array, out)

    memory = np.arange(192.0)
    array = memory[:96].reshape(8, 12)
    for out in (array, array[::-1], memory[95:191].reshape(8, 12), memory[::2].reshape(8, 12)):
        before = memory.copy()
        with pytest.raises(plait.ArgumentError, match="target array of rank 0 shares memory with the source array of"):
            redistribute(array, SERIAL, SERIAL, out)
        np.testing.assert_array_equal(memory, before)
    parts = [memory[:24].reshape(2, 12), *split_rows(ARRAY)[1:]]
    filled = [np.empty((8, 3)) for _ in range(3)] + [memory[20:44].reshape(8, 3)]
    with pytest.raises(
        plait.ArgumentError, match="target array of rank 3 shares memory with the source array of rank 0"
    ):
        redistribute(parts, ROWS, COLUMNS, filled)
    with pytest.raises(plait.ArgumentError, match="arrays of ranks 1 and 2 that are to be filled share memory"):
        redistribute(split_rows(ARRAY), ROWS, COLUMNS, [filled[0], filled[1], filled[1], filled[2]])
    # The arrays interleave, follow each other, or are different parts of one array.
    interleaved = np.arange(192.0).reshape(8, 24)
    redistribute(interleaved[:, ::2], SERIAL, SERIAL, interleaved[:, 1::2])
    np.testing.assert_array_equal(interleaved[:, 1::2], interleaved[:, ::2])
    redistribute(memory[:96].reshape(8, 12), SERIAL, SERIAL, memory[96:].reshape(8, 12))
    np.testing.assert_array_equal(memory[96:], memory[:96])
    shift = ARRAY.copy()
    redistribute(shift, SERIAL, SERIAL, shift, source_region=np.s_[:3], target_region=np.s_[5:])
    np.testing.assert_array_equal(shift[5:], ARRAY[:3])
    with pytest.raises(plait.ArgumentError, match="shares memory"):
        redistribute(shift, SERIAL, SERIAL, shift, source_region=np.s_[:3], target_region=np.s_[2:5])


def test_out_that_overlaps_itself_is_rejected(tmp_path):
    np.save(tmp_path / "a.npy", ARRAY)
    memory = np.zeros(300)
    windows = as_strided(memory, (8, 12), (8, 8))
    constant = np.broadcast_to(memory[:12], (8, 12))
    constant.flags.writeable = True
    with plait.open(tmp_path / "a.npy") as file:
        for out in (windows, constant, as_strided(memory, (8, 12), (24, 16))):
            for call in (lambda out: file.read(out=out), lambda out: file.iread(out=out).wait()):
                with pytest.raises(plait.ArgumentError, match="has elements that share memory; pass one in which"):
                    call(out)
            with pytest.raises(plait.ArgumentError, match="has elements that share memory"):
                plait.redistribute(ARRAY, SERIAL, SERIAL, out=out)
        assert not memory.any()
        first, second, third = (np.empty((2, 12)) for _ in range(3))
        with pytest.raises(plait.ArgumentError, match="arrays of ranks 0 and 3 that are to be filled share memory"):
            file.read(ROWS, out=[first, second, third, first])
        whole = np.zeros((10, 12))  # each halo is part of the neighboring array
        layout = plait.Layout((8, 12), "(block, *) onto (4) halo=(1, 0)")
        file.read(layout, out=[whole[2 * rank : 2 * rank + 4] for rank in range(4)])
        np.testing.assert_array_equal(whole[1:9], ARRAY)
        interleaved = np.zeros((12, 16))
        assert file.read(out=interleaved[::-1, ::2].T) is not None
        np.testing.assert_array_equal(interleaved[::-1, ::2].T, ARRAY)
    # Sources may overlap, because they are only read.
    with plait.open(tmp_path / "b.npy", "w", shape=(8, 12), dtype="f8") as file:
        file.write(np.broadcast_to(ARRAY[3], (8, 12)))
    np.testing.assert_array_equal(np.load(tmp_path / "b.npy"), np.broadcast_to(ARRAY[3], (8, 12)))


def test_masked_arrays_are_rejected(tmp_path):
    np.save(tmp_path / "a.npy", ARRAY)
    masked = np.ma.masked_array(ARRAY.copy(), ARRAY > 3)
    with (
        plait.open(tmp_path / "a.npy", "r+") as file,
        file.stream() as stream,
        plait.shared.open(tmp_path / "s", "w") as shared,
        plait.distant.open(tmp_path / "d", "w") as distant,
    ):
        for call in [
            lambda: file.write(masked),
            lambda: file.iwrite(masked),
            lambda: file.write([masked]),
            lambda: file.write([*split_rows(ARRAY)[:3], masked[:2]], ROWS),
            lambda: file.read(out=masked),
            lambda: stream.write(masked),
            lambda: stream.read(96, masked.reshape(-1)),
            lambda: shared.write(0, masked),
            lambda: shared.read(0, masked),
            lambda: distant.iwrite(0, masked),
            lambda: plait.redistribute(masked, SERIAL, SERIAL),
            lambda: plait.redistribute(ARRAY, SERIAL, SERIAL, out=masked),
            lambda: plait.redistribute([masked], SERIAL, ROWS),
        ]:
            with pytest.raises(plait.ArgumentError, match="is a masked array, whose mask would be lost; pass its"):
                call()
        file.write(masked.filled(0.0))
    np.testing.assert_array_equal(np.load(tmp_path / "a.npy"), np.where(ARRAY > 3, 0, ARRAY))
