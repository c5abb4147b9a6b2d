"""Gzipped raw elements on several ranks; each rank decompresses its own part."""

import gzip

import numpy as np
import pytest
from same import expect_same_error

import plait

#: Large enough for a few restart points.
SHAPE = (1200, 1500)
ARRAY = np.random.default_rng(5).integers(0, 500, SHAPE).astype("i4")


@pytest.fixture(scope="module")
def data():
    """Gzip data of two members; the second one begins in the middle of a row."""
    content = ARRAY.tobytes()
    return gzip.compress(content[:2_999_999], 1, mtime=0) + gzip.compress(content[2_999_999:], 1, mtime=0)


def open_file(comm, path, data, **options):
    if comm.rank == 0:
        path.write_bytes(data)
    return plait.open(path, comm=comm, **{"shape": SHAPE, "dtype": "i4", **options})


@pytest.mark.parametrize("dist", ["(block, *)", "(*, cyclic(40))", "(cyclic(3), *)"])
@pytest.mark.parametrize("strategy", ["two-phase", "direct"])
def test_each_rank_gets_its_part(comm, shared, data, dist, strategy):
    layout = plait.Layout(SHAPE, dist, grid=(comm.size,))
    with open_file(comm, shared / "a.raw.gz", data, strategy=strategy, memory=1 << 20) as file:
        local = file.read(layout)
    np.testing.assert_array_equal(local, ARRAY[np.ix_(*layout.indices(comm.rank))])


def test_regions(comm, shared, data):
    with open_file(comm, shared / "a.gz", data) as file:
        rows = plait.Layout((100, 30), "(block, *)", grid=(comm.size,))
        local = file.read(rows, region=np.s_[7:1107:11, 1470:])
        np.testing.assert_array_equal(local, ARRAY[7:1107:11, 1470:][np.ix_(*rows.indices(comm.rank))])
        line = plait.Layout((1500,), "(cyclic)", grid=(comm.size,))
        np.testing.assert_array_equal(file.read(line, region=np.s_[1199]), ARRAY[1199, comm.rank :: comm.size])


def test_streams_read_parts(comm, shared, data):
    with open_file(comm, shared / "a.gz", data) as file, file.stream(0) as stream:
        stream.seek(500_000 + 1000 * comm.rank)
        np.testing.assert_array_equal(stream.read(1000), ARRAY.ravel()[500_000 + 1000 * comm.rank :][:1000])


@pytest.mark.parametrize(
    ("change", "text_part"),
    [
        (lambda data: data[:-1], "in the middle of gzip data, after 7200000 bytes of content; it is truncated"),
        (lambda data: data[:4000], "ends at byte 4000 in the middle of gzip data"),
        (lambda data: data[:-5] + bytes([data[-5] ^ 1]) + data[-4:], "(incorrect data check)"),
        (lambda data: data + b"x", "after 7200000 bytes of content"),
        (lambda data: bytes(3) + data, "does not begin like a gzip file"),
    ],
)
def test_damage_is_an_error_on_all_ranks(comm, shared, data, change, text_part):
    expect_same_error(comm, lambda: open_file(comm, shared / "a.gz", change(data)), plait.StoreError, text_part)


def test_wrong_sizes_and_modes_are_errors_on_all_ranks(comm, shared, data):
    path = shared / "a.gz"
    expect_same_error(
        comm,
        lambda: open_file(comm, path, data, shape=(1201, 1500)),
        plait.StoreError,
        "has 7200000 bytes, but an array 1201x1500",
    )
    for mode in ("w", "r+"):
        expect_same_error(
            comm, lambda mode=mode: open_file(comm, path, data, mode=mode), plait.ArgumentError, "are only read"
        )
