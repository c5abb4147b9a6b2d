"""Raw elements in gzip files, which are read as if they were not compressed."""

import gzip
import itertools
import os
import shutil
import subprocess
import zlib
from pathlib import Path

import numpy as np
import pytest

import plait


def make_noise(count: int, seed: int = 1) -> np.ndarray:
    """Return numbers that are compressible, but not to a trivial size."""
    return np.random.default_rng(seed).integers(0, 1000, count).astype("i4")


def write_gzip(path: Path, array: np.ndarray, members: int = 1, level: int = 6) -> Path:
    """Write the array's bytes in `members` gzip members."""
    data = array.tobytes()
    cuts = [len(data) * i // members for i in range(members + 1)]
    with open(path, "wb") as file:
        for begin, end in itertools.pairwise(cuts):
            file.write(gzip.compress(data[begin:end], level, mtime=0))
    return path


def open_error_text(kind: type[plait.Error], path: object, mode: str = "r", **options: object) -> str:
    with pytest.raises(kind) as raised:
        plait.open(path, mode, **{"shape": (6,), "dtype": "i4", **options})
    return str(raised.value)


@pytest.mark.parametrize("members", [1, 3])
@pytest.mark.parametrize("level", [0, 1, 9])
def test_layouts_and_regions_are_read(tmp_path, members, level):
    array = make_noise(60 * 70).reshape(60, 70)
    path = write_gzip(tmp_path / "a.raw.gz", array, members, level)
    layout = plait.Layout((60, 70), "(cyclic(7), block)", grid=(2, 2))
    with plait.open(path, shape=(60, 70), dtype="i4") as file:
        for rank, part in enumerate(file.read(layout)):
            np.testing.assert_array_equal(part, array[np.ix_(*layout.indices(rank))])
        np.testing.assert_array_equal(file.read(region=np.s_[3:50:5, 69]), array[3:50:5, 69])
        np.testing.assert_array_equal(file.read(region=np.s_[59, 60:]), array[59, 60:])
    with plait.open(path, shape=(70, 60), dtype="i4", order="F") as file:
        np.testing.assert_array_equal(file.read(), array.ravel().reshape((70, 60), order="F"))


@pytest.mark.parametrize(("members", "level"), [(1, 6), (1, 0), (40, 1)])
def test_every_offset_is_read_from_a_near_restart_point(tmp_path, members, level, effort):
    array = make_noise(effort.choose(600_000, 3_000_000))
    path = write_gzip(tmp_path / "a.bin.gz", array, members, level)
    with plait.open(path, shape=array.shape, dtype="i4") as file:
        assert "restart points" in file.explain(plait.Layout(array.shape, "(block)", grid=(1,)))
        np.testing.assert_array_equal(file.read(), array)
        for begin in np.random.default_rng(2).integers(0, array.size - 1000, 12):
            np.testing.assert_array_equal(file.read(region=np.s_[begin : begin + 1000]), array[begin : begin + 1000])
        stream = file.stream(0)
        stream.seek(array.size - 10)
        assert np.frombuffer(stream.read(40), "i4").tolist() == array[-10:].tolist()


def test_restart_points_are_thinned_out_in_large_files(tmp_path, effort):
    zeros = np.zeros(effort.choose(140, 300) << 20, "u1")
    zeros[123_456_789] = 7
    path = write_gzip(tmp_path / "a.gz", zeros, zeros.size >> 20, 1)
    with plait.open(path, shape=zeros.shape, dtype="u1") as file:
        explanation = file.explain(plait.Layout(zeros.shape, "(block)", grid=(1,)))
        assert 64 <= int(explanation.split(" restart points")[0].split()[-1]) <= 128
        assert file.read(region=np.s_[123_456_780:123_456_800]).tolist() == [0] * 9 + [7] + [0] * 10


def test_files_of_the_gzip_program_are_read(tmp_path):
    array = make_noise(1000)
    (tmp_path / "a.raw").write_bytes(array.tobytes())
    if shutil.which("gzip") is None:
        pytest.skip("there is no gzip")
    subprocess.run(["gzip", tmp_path / "a.raw"], check=True)
    with open(tmp_path / "a.raw.gz", "ab") as file:
        file.write(bytes(700))  # zeros after the data, which tapes add
    assert plait.open(tmp_path / "a.raw.gz", shape=1000, dtype="i4").read().tolist() == array.tolist()
    plait.copy(tmp_path / "a.raw.gz", tmp_path / "a.npy", shape=1000, dtype="i4")
    assert np.load(tmp_path / "a.npy").tolist() == array.tolist()


def test_empty_content_is_read(tmp_path):
    path = write_gzip(tmp_path / "a.gz", make_noise(0))
    assert plait.open(path, shape=(0, 3), dtype="f8").read().shape == (0, 3)


def test_an_offset_counts_bytes_of_the_content(tmp_path):
    path = write_gzip(tmp_path / "a.gz", make_noise(10))
    assert plait.open(path, shape=8, dtype="i4", offset=8).read().tolist() == make_noise(10)[2:].tolist()


def test_wrong_sizes_are_errors(tmp_path):
    path = write_gzip(tmp_path / "a.gz", make_noise(10))
    assert "has 40 bytes, but an array 11 of 4-byte elements" in open_error_text(plait.StoreError, path, shape=11)
    assert "has 40 bytes, but an array 9 of 4-byte elements" in open_error_text(plait.ArgumentError, path, shape=9)
    assert "shape and dtype must be given" in open_error_text(plait.ArgumentError, path, shape=None, dtype=None)


@pytest.mark.parametrize("mode", ["w", "r+"])
def test_writing_is_rejected(tmp_path, mode):
    path = write_gzip(tmp_path / "a.raw.gz", make_noise(6))
    before = path.read_bytes()
    text = open_error_text(plait.ArgumentError, path, mode)
    assert text == (
        f"{path}: gzipped files are only read; write {tmp_path}/a.raw and gzip that, or write raw:{path} for elements "
        "as they are"
    )
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["a.raw.gz"]


def test_names_with_gz_are_gzip_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "is that of a gzipped .npy file" in open_error_text(
        plait.ArgumentError, write_gzip(tmp_path / "a.npy.gz", make_noise(6))
    )
    assert "is that of a gzipped HDF5 file" in open_error_text(
        plait.ArgumentError, write_gzip(tmp_path / "a.h5.gz", make_noise(6))
    )
    path = write_gzip(tmp_path / "a.bin.GZ", make_noise(6))
    assert plait.open(path, shape=6, dtype="i4").read().tolist() == make_noise(6).tolist()
    for prefix in ("stripe:", "distant:", "memory:"):
        assert "names that end with .gz stand for ordinary files only" in open_error_text(
            plait.ArgumentError, f"{prefix}a.gz"
        )
    path = write_gzip(tmp_path / "a.bin", make_noise(6))
    assert "those of gzip files; give it a name that ends with .gz" in open_error_text(
        plait.StoreError, path, shape=1000
    )
    path = write_gzip(tmp_path / "b.gz", make_noise(6))
    size = path.stat().st_size
    assert plait.open(f"raw:{path}", shape=size, dtype="u1").read().tobytes() == path.read_bytes()


def test_files_that_are_not_gzipped_are_errors(tmp_path):
    (tmp_path / "a.gz").write_bytes(bytes(24))
    text = open_error_text(plait.StoreError, tmp_path / "a.gz")
    assert "does not begin like a gzip file" in text
    assert f"write raw:{tmp_path}/a.gz" in text
    (tmp_path / "a.gz").write_bytes(b"")
    assert "does not begin like a gzip file" in open_error_text(plait.StoreError, tmp_path / "a.gz")
    (tmp_path / "a.gz").write_bytes(b"GRIB" + bytes(24))
    assert "Its first bytes are those of GRIB" in open_error_text(plait.StoreError, tmp_path / "a.gz")


def test_damage_is_detected_when_the_file_is_opened(tmp_path):
    path = write_gzip(tmp_path / "a.gz", make_noise(100_000), 2)
    intact = path.read_bytes()
    second_member = intact.index(b"\x1f\x8b\x08", 10)
    options = {"shape": 100_000}
    for length in (5, 1000, second_member - 3, second_member + 4, len(intact) - 1):
        path.write_bytes(intact[:length])
        text = open_error_text(plait.StoreError, path, **options)
        assert f"{path} ends at byte {length} in the middle of gzip data" in text
        assert "it is truncated" in text
    for offset in (1000, second_member + 1000):
        path.write_bytes(intact[:offset] + bytes([intact[offset] ^ 255]) + intact[offset + 1 :])
        text = open_error_text(plait.StoreError, path, **options)
        assert "the gzip data is damaged at byte" in text or "ends at byte" in text
    for offset, message in ((second_member - 8, "incorrect data check"), (len(intact) - 4, "incorrect length check")):
        path.write_bytes(intact[:offset] + bytes([intact[offset] ^ 1]) + intact[offset + 1 :])
        text = open_error_text(plait.StoreError, path, **options)
        assert message in text
        assert f"after {200_000 if offset < second_member else 400_000} bytes of content" in text
    path.write_bytes(intact + b"and more")
    assert f"damaged at byte {len(intact) + 2}" in open_error_text(plait.StoreError, path, **options)


def test_later_damage_is_reported_by_the_read(tmp_path, effort):
    array = make_noise(effort.choose(1_000_000, 3_000_000))
    path = write_gzip(tmp_path / "a.gz", array)
    with plait.open(path, shape=array.shape, dtype="i4") as file:
        with open(path, "r+b") as writer:
            writer.seek(path.stat().st_size // 2)
            writer.write(np.random.default_rng(3).bytes(100_000))
        with pytest.raises(plait.StoreError, match=r"a\.gz: the gzip data is damaged at byte \d+, after \d+ bytes"):
            file.read()
        np.testing.assert_array_equal(file.read(region=np.s_[:1000]), array[:1000])


def test_blocks_of_all_kinds_are_read(tmp_path):
    """Read blocks that are stored, have fixed codes or have dynamic codes, with flushes between them."""
    pieces = [make_noise(50_000, seed).tobytes() for seed in range(9)]
    data = b""
    compressor = zlib.compressobj(6, zlib.DEFLATED, 31, 9, zlib.Z_FIXED)  # 31: a gzip header
    flushes = (zlib.Z_SYNC_FLUSH, zlib.Z_FULL_FLUSH, zlib.Z_BLOCK)
    for i, piece in enumerate(pieces):
        data += compressor.compress(piece) + compressor.flush(flushes[i % 3])
    (tmp_path / "a.gz").write_bytes(data + compressor.flush() + gzip.compress(pieces[0], 0, mtime=0))
    expected = b"".join([*pieces, pieces[0]])
    with plait.open(tmp_path / "a.gz", shape=len(expected), dtype="u1") as file:
        assert file.read().tobytes() == expected
        for begin in range(0, len(expected), 199_999):
            assert file.read(region=np.s_[begin : begin + 9]).tobytes() == expected[begin : begin + 9]
