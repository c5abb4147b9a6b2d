"""Shapes of chunks that Plait chooses (chunks="auto..."): their sizes, their alignment, and how many a read accesses.

"maps" suits reads of everything at one time, "series" reads of all times at one point, "balanced" both equally.
"""

import math

import numpy as np
import pytest

import plait
from plait._arguments.auto_chunks import AutoChunks
from plait._copying.steps import StepArray
from plait._copying.storage.chunk_shapes import ChunkUnits, choose_chunks

YEAR = (8760, 721, 1440)  # hours, latitudes and longitudes at 0.25 degrees
MIB = 1 << 20


def choose_chunk_shape(text, shape, *, names=(), unlimited=(), source=None, shards=None, dtype="f4", order="C"):
    """Return the chunk shape for a specification such as "auto:maps"; `source` is the chunk shape of the source."""
    array = StepArray.make("a", shape, dtype, order)
    array.content.dimension_names = list(names)
    units = ChunkUnits(source if shards is None else shards, must_divide=shards is not None)
    return choose_chunks(AutoChunks.parse(text), array, unlimited, units)


def count_touched(shape, chunks, read):
    """Return the number of chunks that a read accesses; `read` has True for dimensions of which it reads all indices.

    Of the other dimensions it reads one index.
    """
    return math.prod(-(-size // chunk) for size, chunk, is_whole in zip(shape, chunks, read, strict=True) if is_whole)


def test_the_example_of_the_documentation():
    assert choose_chunk_shape("auto:maps", YEAR) == (1, 721, 1440)
    assert choose_chunk_shape("auto:series", YEAR) == (8760, 10, 23)
    assert choose_chunk_shape("auto:balanced", YEAR) == choose_chunk_shape("auto", YEAR) == (133, 88, 179)
    assert choose_chunk_shape("auto", YEAR, source=(48, 100, 100)) == (96, 100, 200)


@pytest.mark.parametrize("text", ["auto", "auto:1M", "auto:maps", "auto:series:64M", "auto:balanced:100K", "auto:1"])
@pytest.mark.parametrize("shape", [YEAR, (5, 3), (1, 1, 1), (10**7, 2), (3, 10**9), (4, 0, 7), (365, 20, 90, 180)])
@pytest.mark.parametrize("source", [None, 1, 7, 100])
def test_chunks_fit_the_array_and_the_limit_of_bytes(text, shape, source):
    units = None if source is None else (source,) * len(shape)
    chunks = choose_chunk_shape(text, shape, source=units)
    assert len(chunks) == len(shape)
    assert all(1 <= chunk <= max(size, 1) for chunk, size in zip(chunks, shape, strict=True))
    assert math.prod(chunks) * 4 <= max(AutoChunks.parse(text).bytes, 4)


@pytest.mark.parametrize("shape", [YEAR, (1000, 1000, 1000), (365, 20, 90, 180), (100_000, 5000)])
def test_balanced_chunks_cost_maps_and_series_equally(shape):
    chunks = choose_chunk_shape("auto:1M", shape)
    maps = count_touched(shape, chunks, [False, *[True] * (len(shape) - 1)])
    series = count_touched(shape, chunks, [True, *[False] * (len(shape) - 1)])
    assert 0.5 < maps / series < 2
    assert math.prod(chunks) * 4 > 0.5 * MIB


def test_the_time_dimension_is_recognized_by_its_name_or_unlimited_length():
    assert choose_chunk_shape("auto:maps", (721, 8760, 1440), names=("lat", "time", "lon")) == (721, 1, 1440)
    assert choose_chunk_shape("auto:maps", (721, 1440, 8760), unlimited=(2,)) == (721, 1440, 1)
    assert choose_chunk_shape("auto:maps", (721, 1440, 8760), order="F") == (721, 1440, 1)
    assert choose_chunk_shape("auto:series", (4, 8760, 10), names=("x", "Time", "y"), unlimited=(0,)) == (4, 8760, 10)


def test_large_maps_are_split_along_their_slowest_dimensions():
    assert choose_chunk_shape("auto:maps", (100, 50, 1000, 1000)) == (1, 2, 1000, 1000)
    assert choose_chunk_shape("auto:maps:1M", (100, 50, 1000, 1000)) == (1, 1, 262, 1000)
    assert choose_chunk_shape("auto:maps:1M", (100, 50, 1000, 1000), source=(1, 1, 100, 100)) == (1, 1, 200, 1000)


def test_sizes_are_aligned_to_chunks_of_the_source():
    chunks = choose_chunk_shape("auto:series:1M", (8760, 720, 1440), source=(24, 12, 12))
    assert chunks == (8760, 3, 6)  # both divide 12
    chunks = choose_chunk_shape("auto:4M", (8760, 720, 1440), source=(24, 12, 12))
    assert chunks[0] % 24 == chunks[1] % 12 == chunks[2] % 12 == 0


def test_chunks_divide_shards():
    shards = (8760, 72, 144)
    for text in ("auto", "auto:maps", "auto:series", "auto:10K"):
        chunks = choose_chunk_shape(text, YEAR, shards=shards)
        assert all(shard % chunk == 0 for shard, chunk in zip(shards, chunks, strict=True))


def test_arrays_of_one_dimension_have_one_chunk():
    assert choose_chunk_shape("auto:maps", (100_000,)) == (100_000,)
    assert choose_chunk_shape("auto:series:64K", (100_000,)) == (16_384,)
    assert choose_chunk_shape("auto", (3,), unlimited=(0,)) == (1024,)
    assert choose_chunk_shape("auto", ()) == ()
    assert choose_chunk_shape("auto", (100_000,), shards=(40_000,)) == (40_000,)
    assert choose_chunk_shape("auto:64K", (100_000,), shards=(40_000,)) == (10_000,)


@pytest.mark.parametrize("text", ["auto:", "auto:fast", "auto:64M:series", "auto:0", "64,64", "", "auto:series:1Q"])
def test_unknown_chunk_specifications_are_errors(tmp_path, text):
    np.save(tmp_path / "a.npy", np.zeros((4, 4)))
    with pytest.raises(plait.ArgumentError, match=r'are no sizes; give .*"auto", with balanced, maps or series'):
        plait.copy(tmp_path / "a.npy", tmp_path / "a.zarr", chunks=text)
    assert not (tmp_path / "a.zarr").exists()
