"""Striped files in one process: every mode and layout, replacement, and arguments that are rejected."""

import errno
import os
from pathlib import Path

import numpy as np
import pytest
from brute_force import make_distinct_array, models
from hypothesis import given
from hypothesis import strategies as st

import plait

SHAPE = (31, 17)
ARRAY = {"shape": SHAPE, "dtype": "f8"}


@pytest.fixture
def disks(tmp_path: Path) -> list[Path]:
    folders = [tmp_path / f"disk{i}" for i in range(3)]
    for folder in folders:
        folder.mkdir()
    return folders


def stripe_url(path, disks, unit="64K"):
    return f"stripe:{path}?disks={','.join(map(str, disks))}&unit={unit}"


def list_components(disks):
    return sorted(file.name for folder in disks for file in folder.iterdir())


def join_components(path):
    """Return the bytes of a striped file, from its description and the striping rule alone."""
    lines = [line.split(maxsplit=1) for line in Path(path).read_text(encoding="utf-8").splitlines()]
    values = {line[0]: line[1] for line in lines if len(line) == 2}
    unit, total = int(values["unit"]), int(values["bytes"])
    parts = [Path(line[1]).read_bytes() for line in lines if line[0] == "component"]
    result = bytearray()
    for stripe in range(-(-total // unit)):
        position = stripe // len(parts) * unit
        result += parts[stripe % len(parts)][position : position + unit]
    assert len(result) == total == sum(map(len, parts))
    return bytes(result)


@pytest.mark.parametrize("unit", ["1", "7", "1000", "4K", "1M"])
@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("order", ["C", "F"])
def test_any_unit_and_number_of_disks_is_possible(tmp_path, disks, unit, count, order):
    array = make_distinct_array(SHAPE)
    path = tmp_path / "a.bin"
    with plait.open(stripe_url(path, disks[:count], unit), "w", order=order, **ARRAY) as file:
        file.write(array)
        assert not path.exists()
    assert join_components(path) == array.tobytes(order)
    assert len(list_components(disks)) == count
    with plait.open(f"stripe:{path}", order=order, **ARRAY) as file:
        np.testing.assert_array_equal(file.read(), array)
        assert file.url == f"stripe:{path}"


@given(data=st.data())
def test_random_layouts_and_regions_are_written_and_read(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("stripes")
    disks = [folder / f"disk{i}" for i in range(data.draw(st.integers(1, 4)))]
    for disk in disks:
        disk.mkdir()
    shape = tuple(data.draw(st.lists(st.integers(0, 9), min_size=1, max_size=3)))
    array = make_distinct_array(shape, data.draw(st.sampled_from(["f8", "u1", "S3", "c16"])))
    options = {
        "shape": shape,
        "dtype": array.dtype,
        "order": data.draw(st.sampled_from("CF")),
        "strategy": data.draw(st.sampled_from(["automatic", "direct", "two-phase"])),
        "memory": data.draw(st.sampled_from([0, 3 * array.itemsize, 1000])),
    }
    writer, reader = data.draw(models(shape)), data.draw(models(shape))
    path = folder / "a"
    with plait.open(stripe_url(path, disks, data.draw(st.integers(1, 40))), "w", **options) as file:
        file.write(writer.locals(array), writer.layout())
    assert join_components(path) == array.tobytes(options["order"])
    region = tuple(
        slice(*sorted(data.draw(st.tuples(st.integers(0, size), st.integers(0, size)))), data.draw(st.integers(1, 3)))
        for size in shape
    )
    with plait.open(f"stripe:{path}", "r+", **options) as file:
        parts = file.read(reader.layout())
        for rank, part in enumerate([parts] if reader.size == 1 and not isinstance(parts, list) else parts):
            np.testing.assert_array_equal(part, reader.local(array, rank))
        new = array[region][..., ::-1].copy()
        file.write(new, region=region)
        array[region] = new
        np.testing.assert_array_equal(file.read(), array)
    assert join_components(path) == array.tobytes(options["order"])


@pytest.mark.parametrize("strategy", ["direct", "two-phase"])
def test_arrays_of_many_windows_are_written_and_read(tmp_path, disks, strategy):
    array = np.random.default_rng(1).random((700, 900))
    options = {"shape": array.shape, "dtype": "f8", "strategy": strategy, "memory": 200_000}
    layout = plait.Layout(array.shape, "(cyclic(5), *)", grid=(3,))
    parts = [array[[i for i in range(700) if i // 5 % 3 == rank]] for rank in range(3)]
    for unit in ("4K", "10001"):
        with plait.open(stripe_url(tmp_path / "a", disks, unit), "w", **options) as file:
            file.write(parts, layout)
        assert join_components(tmp_path / "a") == array.tobytes()
        with plait.open(f"stripe:{tmp_path / 'a'}", **options) as file:
            for actual, part in zip(file.read(layout), parts, strict=True):
                np.testing.assert_array_equal(actual, part)


def test_disks_may_be_in_a_setting_and_have_relative_names(tmp_path, disks, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PLAIT_DISKS", "disk2:disk0")
    with plait.open("stripe:a?unit=8", "w", shape=(3,), dtype="u8") as file:
        file.write(np.array([1, 2, 3], "u8"))
    assert [len(list_components([disk])) for disk in disks] == [1, 0, 1]
    with plait.open("stripe:b?disks=disk1", "w", shape=(3,), dtype="u8") as file:  # the name takes precedence
        file.write(np.zeros(3, "u8"))
    assert len(list_components([disks[1]])) == 1
    monkeypatch.delenv("PLAIT_DISKS")
    monkeypatch.chdir("/")
    for name in ("", "?unit=8", f"?disks={disks[2]},{disks[0]}"):
        with plait.open(f"stripe:{tmp_path / 'a'}{name}", shape=(3,), dtype="u8") as file:
            assert file.read().tolist() == [1, 2, 3]


def test_striped_and_plain_files_replace_each_other(tmp_path, disks):
    path = tmp_path / "a"
    names = [
        str(path),
        stripe_url(path, disks),
        stripe_url(path, disks[:2], 100),
        str(path),
        stripe_url(path, disks[1:]),
        str(path),
    ]
    for i, name in enumerate(names):
        with plait.open(name, "w", **ARRAY) as file:
            file.write(np.full(SHAPE, float(i)))
        expected = 0 if name == str(path) else len(name.split("&")[0].split(","))
        assert len(list_components(disks)) == expected
        with plait.open(name, **ARRAY) as file:
            assert (file.read() == i).all()
    assert sorted(os.listdir(tmp_path)) == ["a", "disk0", "disk1", "disk2"]


def test_a_reader_continues_with_the_old_file(tmp_path, disks):
    path = tmp_path / "a"
    with plait.open(stripe_url(path, disks), "w", **ARRAY) as file:
        file.write(np.ones(SHAPE))
    with plait.open(f"stripe:{path}", **ARRAY) as old:
        with plait.open(stripe_url(path, disks), "w", **ARRAY) as file:
            file.write(np.zeros(SHAPE))
        assert (old.read() == 1).all()
    with plait.open(f"stripe:{path}", **ARRAY) as new:
        assert (new.read() == 0).all()


def test_a_discarded_new_file_leaves_nothing(tmp_path, disks):
    path = tmp_path / "a"
    file = plait.open(stripe_url(path, disks), "w", **ARRAY)
    assert len(list_components(disks)) == 3
    with pytest.raises(KeyError), file:
        raise KeyError("stop")
    assert list_components(disks) == []
    with plait.open(stripe_url(path, disks), "w", **ARRAY) as file:
        file.write(np.ones(SHAPE))
    before = list_components(disks)
    file = plait.open(stripe_url(path, disks[:1]), "w", **ARRAY)
    file.write(np.zeros(SHAPE))
    del file
    assert list_components(disks) == before
    assert sorted(os.listdir(tmp_path)) == ["a", "disk0", "disk1", "disk2"]


def test_offsets_are_possible_and_wrong_sizes_are_errors(tmp_path, disks):
    path = tmp_path / "a"
    with plait.open(stripe_url(path, disks, 16), "w", shape=(13,), dtype="i4") as file:
        file.write(np.arange(13, dtype="i4"))
    with plait.open(f"stripe:{path}", "r+", shape=(11,), dtype="i4", offset=8) as file:
        np.testing.assert_array_equal(file.read(), np.arange(2, 13))
        file.write(np.arange(11, dtype="i4"))
    assert join_components(path) == np.r_[[0, 1], np.arange(11)].astype("i4").tobytes()
    with pytest.raises(plait.StoreError, match="has 52 bytes, but an array"):
        plait.open(f"stripe:{path}", shape=(14,), dtype="i4")
    with pytest.raises(plait.ArgumentError, match="has 52 bytes, but an array"):
        plait.open(f"stripe:{path}", shape=(12,), dtype="i4")
    with pytest.raises(plait.ArgumentError, match="shape and dtype must be given"):
        plait.open(f"stripe:{path}")


def open_error_text(name, mode="r", kind=plait.StoreError, code=None, **options):
    with pytest.raises(kind) as caught:
        plait.open(name, mode, **{**ARRAY, **options})
    if code is not None:
        assert caught.value.errno == code
    return str(caught.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("disks=.&unit=0", "unit=0 is not above 0"),
        ("disks=.&unit=-64K", "not above 0"),
        ("disks=.&unit=64KB", "is not a number of bytes"),
        ("disks=.&unit=16000000000G", "too large"),
        ("disks=.&unit=1&unit=2", "unit= is given twice"),
        ("disks=.,,.", "a disk without a name"),
        ("disk=.", 'the option "disk" is not known; use disks= and unit='),
        ("unit=64K", "no disks"),
    ],
)
def test_invalid_names_are_errors(tmp_path, monkeypatch, options, message):
    monkeypatch.chdir(tmp_path)
    assert message in open_error_text(f"stripe:a?{options}", "w", plait.ArgumentError)
    assert os.listdir(tmp_path) == []


def test_unwritable_disks_are_errors(tmp_path, disks):
    path = tmp_path / "a"
    text = open_error_text(stripe_url(path, [disks[0], tmp_path / "none"]), "w", code=errno.ENOENT)
    assert f"to the disk {tmp_path / 'none'}" in text
    (tmp_path / "file").write_bytes(b"")
    open_error_text(stripe_url(path, [disks[0], tmp_path / "file"]), "w", code=errno.ENOTDIR)
    assert "/proc/a.stripe1" in open_error_text(stripe_url(path, [disks[0], "/proc"]), "w")
    assert "reserve" in open_error_text(stripe_url(path, disks), "w", shape=(1 << 57,))
    assert "folder" in open_error_text(stripe_url(tmp_path / "no" / "a", disks), "w", code=errno.ENOENT)
    assert "directory" in open_error_text(stripe_url(tmp_path, disks), "w", code=errno.EISDIR)
    assert ".npy" in open_error_text(stripe_url(tmp_path / "a.npy", disks), "w", plait.ArgumentError)
    assert list_components(disks) == []
    assert sorted(os.listdir(tmp_path)) == ["disk0", "disk1", "disk2", "file"]


@pytest.mark.parametrize("mode", ["r", "r+"])
def test_incomplete_files_are_errors(tmp_path, disks, mode):
    path = tmp_path / "a"
    name = f"stripe:{path}"
    with plait.open(stripe_url(path, disks, 1000), "w", **ARRAY) as file:
        file.write(np.ones(SHAPE))
    description = path.read_text(encoding="utf-8")
    parts = [next(disk.iterdir()) for disk in disks]
    assert "stripes of 1000 bytes, but unit=3" in open_error_text(f"{name}?unit=3", mode, plait.ArgumentError)
    assert "but disks=" in open_error_text(f"{name}?disks={disks[0]}", mode, plait.ArgumentError)
    assert f"open it as stripe:{path}" in open_error_text(path, mode, plait.ArgumentError)

    for old, new, message in [
        ("stripes 1", "stripes 2", "version 2"),
        ("plait", "plaid", "not the description of a striped file"),
        ("unit 1000", "unit 0", "damaged"),
        ("unit 1000", "unit 1001", "component file 1 of 3"),
        ("end\n", "", "damaged"),
        ("component", "compartment", "damaged"),
    ]:
        path.write_text(description.replace(old, new), encoding="utf-8")
        assert message in open_error_text(name, mode)
    path.write_text(description, encoding="utf-8")
    os.truncate(parts[2], 10)
    assert f"{parts[2]} has 10 bytes" in open_error_text(name, mode)
    parts[1].unlink()
    assert f"component file 2 of 3, {parts[1]}: No such file" in open_error_text(name, mode, code=errno.ENOENT)
    open_error_text(f"stripe:{tmp_path / 'none'}", mode, code=errno.ENOENT)
    path.unlink()
    path.write_bytes(bytes(31 * 17 * 8))
    assert "without stripe:" in open_error_text(name, mode)
