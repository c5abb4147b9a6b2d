"""Errors of files that are missing, damaged, forbidden or too large; a failed call leaves no new files."""

import errno
import os
import pickle
import re
import shutil
import subprocess
import sys
from contextlib import contextmanager

import numpy as np
import pytest
from brute_force import make_distinct_array
from limits import limit_file_size

import plait
import plait.distant
import plait.shared

pytestmark = pytest.mark.usefixtures("nothing_left")

RAW = {"shape": (4, 5), "dtype": "f8"}


def store_error_text(call, code=None):
    """Return the text of the StoreError that a call raises."""
    with pytest.raises(plait.StoreError) as caught:
        call()
    assert isinstance(caught.value, OSError)
    assert isinstance(caught.value, plait.Error)
    assert not isinstance(caught.value, ValueError)
    if code is not None:
        assert caught.value.errno == code
    return str(caught.value)


def test_errors_have_python_base_classes():
    assert issubclass(plait.ArgumentError, plait.Error)
    assert issubclass(plait.ArgumentError, ValueError)
    assert issubclass(plait.StoreError, plait.Error)
    assert issubclass(plait.StoreError, OSError)
    assert not issubclass(plait.ArgumentError, OSError)


@pytest.mark.parametrize("mode", ["r", "r+"])
@pytest.mark.parametrize("name", ["a.npy", "a.bin"])
def test_a_missing_file_is_an_error(tmp_path, mode, name):
    text = store_error_text(lambda: plait.open(tmp_path / name, mode, **RAW), errno.ENOENT)
    assert str(tmp_path / name) in text
    assert "check the name" in text
    assert not (tmp_path / name).exists()


@pytest.mark.parametrize("mode", ["r", "r+", "w"])
def test_a_missing_folder_is_an_error(tmp_path, mode):
    text = store_error_text(lambda: plait.open(tmp_path / "no" / "a.bin", mode, **RAW), errno.ENOENT)
    assert f"the folder {tmp_path / 'no'} does not exist" in text


@pytest.mark.parametrize("mode", ["r", "r+", "w"])
@pytest.mark.parametrize("name", ["folder", "folder.npy", "folder/"])
def test_a_folder_is_an_error(tmp_path, mode, name):
    (tmp_path / name).mkdir()
    assert "irectory" in store_error_text(lambda: plait.open(str(tmp_path) + "/" + name, mode, **RAW), errno.EISDIR)


@pytest.mark.parametrize("mode", ["r", "r+", "w"])
def test_a_file_in_place_of_a_folder_is_an_error(tmp_path, mode):
    (tmp_path / "file").write_bytes(b"x")
    store_error_text(lambda: plait.open(tmp_path / "file" / "a.bin", mode, **RAW), errno.ENOTDIR)


@pytest.mark.parametrize("mode", ["r", "r+"])
def test_a_pipe_is_rejected_without_waiting(tmp_path, mode):
    os.mkfifo(tmp_path / "pipe")
    assert "not a regular file" in store_error_text(lambda: plait.open(tmp_path / "pipe", mode, **RAW))


def test_links_in_a_circle_are_errors(tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    for mode in ("r", "r+", "w"):
        store_error_text(lambda mode=mode: plait.open(tmp_path / "a", mode, **RAW), errno.ELOOP)
    assert (tmp_path / "a").is_symlink()


@pytest.mark.skipif(os.geteuid() == 0, reason="permissions do not restrict the superuser")
def test_missing_permissions_are_errors(tmp_path):
    path = tmp_path / "a.bin"
    path.write_bytes(bytes(160))
    path.chmod(0o400)
    assert "writing it is not permitted" in store_error_text(lambda: plait.open(path, "r+", **RAW), errno.EACCES)
    store_error_text(lambda: plait.open(path, "w", **RAW), errno.EACCES)
    path.chmod(0)
    assert "reading it is not permitted" in store_error_text(lambda: plait.open(path, **RAW), errno.EACCES)
    path.chmod(0o600)
    tmp_path.chmod(0o500)
    try:
        store_error_text(lambda: plait.open(tmp_path / "new.bin", "w", **RAW), errno.EACCES)
    finally:
        tmp_path.chmod(0o700)
    assert path.read_bytes() == bytes(160)


@contextmanager
def immutable(path):
    """Make a file or folder immutable, even for the superuser."""
    chattr = shutil.which("chattr")
    if not chattr or subprocess.run([chattr, "+i", path], capture_output=True, check=False).returncode:
        pytest.skip("this file system or user cannot mark files immutable")
    try:
        yield
    finally:
        subprocess.run([chattr, "-i", path], check=True)


def test_an_immutable_file_can_only_be_read(tmp_path):
    path = tmp_path / "a.bin"
    path.write_bytes(bytes(160))
    with immutable(path):
        assert "writing it is not permitted" in store_error_text(lambda: plait.open(path, "r+", **RAW), errno.EPERM)
        store_error_text(lambda: plait.open(path, "w", **RAW), errno.EPERM)
        with plait.open(path, **RAW) as file:
            assert (file.read() == 0).all()
    assert path.read_bytes() == bytes(160)


def test_an_immutable_folder_is_an_error(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    with immutable(folder):
        text = store_error_text(lambda: plait.open(folder / "a.bin", "w", **RAW), errno.EPERM)
    assert str(folder / "a.bin") in text or "writing it is not permitted" in text


@pytest.mark.parametrize("length", [0, 1, 79, 159])
@pytest.mark.parametrize("mode", ["r", "r+"])
def test_a_raw_file_that_is_too_short_is_an_error(tmp_path, length, mode):
    (tmp_path / "a.bin").write_bytes(bytes(length))
    text = store_error_text(lambda: plait.open(tmp_path / "a.bin", mode, **RAW))
    assert f"has {length} bytes" in text
    assert "needs 160" in text


def test_a_raw_file_that_is_too_long_needs_an_offset(tmp_path):
    path = tmp_path / "a.bin"
    path.write_bytes(bytes(161))
    with pytest.raises(plait.ArgumentError, match="has 161 bytes"):
        plait.open(path, **RAW)
    with plait.open(path, offset=1, **RAW) as file:
        assert (file.read() == 0).all()
    for offset in (-1, 2, 1 << 62):
        with pytest.raises(plait.Error):
            plait.open(path, offset=offset, **RAW)


def test_every_truncation_of_a_npy_file_is_an_error(tmp_path):
    path = tmp_path / "a.npy"
    np.save(path, make_distinct_array((4, 5)))
    intact = path.read_bytes()
    for length in range(len(intact)):
        path.write_bytes(intact[:length])
        text = store_error_text(lambda: plait.open(path))
        assert str(path) in text
    path.write_bytes(intact + b"more")  # bytes after the array are ignored, as by np.load
    with plait.open(path) as file:
        np.testing.assert_array_equal(file.read(), make_distinct_array((4, 5)))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "signature"),
        (b"PK\x03\x04" + bytes(100), "as a zip file: at byte 104 it ends without a directory of its arrays"),
        (b"\x93NUMPY\x09\x00" + bytes(100), "version 9"),
        (b"\x93NUMPY\x01\x00\x10\x00{'descr': '<f8'}", "lacks"),
        (b"\x93NUMPY\x01\x00\x05\x00hello", "header"),
        (b"\x93NUMPY\x02\x00\xff\xff\xff\xff{}" + bytes(100), "at most 67108864 are read"),
        (b"\x93NUMPY\x01\x00\x40\x00{'descr': '<f8', 'fortran_order': False, 'shape': (-4,)}".ljust(74), "shape"),
    ],
    ids=range(7),
)
def test_a_damaged_npy_header_is_an_error(tmp_path, content, message):
    path = tmp_path / "a.npy"
    path.write_bytes(content)
    text = store_error_text(lambda: plait.open(path))
    assert str(path) in text
    assert message in text


def test_a_header_that_describes_more_than_the_file_holds_is_an_error(tmp_path):
    path = tmp_path / "a.npy"
    for shape in ((1 << 40,), (1 << 40, 1 << 40), (1 << 62,)):
        head = repr({"descr": "<f8", "fortran_order": False, "shape": shape}).encode().ljust(118)
        path.write_bytes(b"\x93NUMPY\x01\x00" + bytes([len(head), 0]) + head)
        with pytest.raises(plait.Error, match=r"truncated|bytes of the|elements of the"):
            plait.open(path)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"shape": (4, 5)}, "shape and dtype must be given"),
        ({"dtype": "f8"}, "shape and dtype must be given"),
        ({}, "shape and dtype must be given"),
        ({**RAW, "dtype": "nonsense"}, "nonsense"),
        ({**RAW, "shape": (4, -5)}, "negative"),
        ({**RAW, "shape": "4x5"}, "shape|integer"),
        ({**RAW, "shape": (4, 2.5)}, "whole numbers"),
        ({**RAW, "shape": (1 << 40, 1 << 40)}, "elements of the array"),
        ({**RAW, "shape": (1,) * 33}, "33 dimensions"),
        ({**RAW, "order": "K"}, "order='K'"),
        ({**RAW, "mode": "x"}, "mode='x'"),
        ({**RAW, "mode": "rb"}, "mode='rb'"),
        ({**RAW, "strategy": "fast"}, "fast.* is not known"),
        ({**RAW, "memory": -1}, "memory=-1"),
        ({**RAW, "comm": "world"}, "an mpi4py communicator"),
    ],
    ids=lambda value: str(value)[:60],
)
def test_invalid_arguments_are_errors(tmp_path, options, message):
    path = tmp_path / "a.bin"
    path.write_bytes(bytes(160))
    with pytest.raises(plait.ArgumentError, match=message):
        plait.open(path, **options)
    assert path.read_bytes() == bytes(160)


def test_names_that_are_empty_or_no_text_are_errors(tmp_path):
    for url in (None, 7, ["a"], ""):
        with pytest.raises(plait.ArgumentError, match="the name of the file is"):
            plait.open(url, **RAW)


def test_store_errors_are_subclasses_of_python_errors(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        plait.open(tmp_path / "no.npy")
    assert isinstance(caught.value, plait.StoreError)
    assert (caught.value.errno, caught.value.filename) == (errno.ENOENT, str(tmp_path / "no.npy"))
    unpickled = pickle.loads(pickle.dumps(caught.value))
    assert type(unpickled) is type(caught.value)
    assert (str(unpickled), unpickled.errno, unpickled.filename) == (
        str(caught.value),
        errno.ENOENT,
        str(tmp_path / "no.npy"),
    )
    with pytest.raises(IsADirectoryError):
        plait.open(tmp_path, shape=(3,), dtype="f8")
    with pytest.raises(FileNotFoundError):
        plait.shared.open(tmp_path / "no")
    with pytest.raises(FileNotFoundError):
        plait.distant.open(tmp_path / "no")
    (tmp_path / "file").write_bytes(b"x")
    with pytest.raises(NotADirectoryError):
        plait.open(tmp_path / "file" / "a.bin", shape=(3,), dtype="f8")


@pytest.mark.parametrize(
    "call",
    [
        lambda file: file.read(),
        lambda file: file.write(np.zeros((4, 5))),
        lambda file: file.iread().wait(),
        lambda file: file.iwrite(np.zeros((4, 5))).wait(),
        lambda file: file.explain(),
        lambda file: file.read(region=99),
    ],
    ids=range(6),
)
@pytest.mark.parametrize("mode", ["r", "r+", "w"])
def test_calls_on_a_closed_file_are_errors(tmp_path, call, mode):
    path = tmp_path / "a.bin"
    path.write_bytes(bytes(160))
    file = plait.open(path, mode, **RAW)
    file.close()
    file.close()
    assert file.closed
    with pytest.raises(plait.ArgumentError, match=r"closed|open"):
        call(file)
    assert path.read_bytes() == bytes(160)


def test_writing_to_a_file_that_is_open_for_reading_is_an_error(tmp_path):
    path = tmp_path / "a.bin"
    path.write_bytes(bytes(160))
    with plait.open(path, **RAW) as file:
        with pytest.raises(plait.ArgumentError, match=re.escape('open it with mode "r+" or "w"')):
            file.write(np.ones((4, 5)))
        assert (file.read() == 0).all()
    assert path.read_bytes() == bytes(160)


def test_incompatible_arrays_are_not_written(tmp_path):
    path = tmp_path / "a.bin"
    path.write_bytes(bytes(160))
    layout = plait.Layout((4, 5), "(block, *) onto (2)")
    with plait.open(path, "r+", **RAW) as file:
        for array, options, message in [
            (np.ones((5, 4)), None, "shape 5x4"),
            (np.ones((4, 5), "f4"), None, "float32"),
            (np.ones((4, 5), "i8"), None, "int64"),
            ([np.ones((2, 5))], layout, "1 local arrays"),
            ([np.ones((2, 5)), np.ones((2, 4))], layout, "rank 1"),
            (np.ones((4, 5)), layout, "one array"),
            (None, None, "missing"),
            ([[1.0] * 5] * 3, None, "shape 3x5"),
            ([[1.0] * 5, [1.0] * 4], None, "cannot be converted"),
            ([[1j] * 5] * 4, None, "without changing its kind"),
        ]:
            with pytest.raises(plait.ArgumentError, match=message):
                file.write(array, options)
    assert path.read_bytes() == bytes(160)


@pytest.mark.parametrize("strategy", ["direct", "two-phase"])
def test_a_file_truncated_while_it_is_open_is_an_error(tmp_path, strategy):
    path = tmp_path / "a.bin"
    path.write_bytes(bytes(8000))
    with plait.open(path, shape=(100, 10), dtype="f8", strategy=strategy) as file:
        os.truncate(path, 4000)
        text = store_error_text(lambda: file.read())
        assert f"cannot read {path} at offset 4000" in text
        assert "truncated" in text
        assert (file.read(region=np.s_[:50]) == 0).all()


# Full disks, and the limit on file sizes.


@contextmanager
def small_disk(folder):
    """Mount a file system of 1 MiB."""
    folder.mkdir()
    mount = shutil.which("mount")
    command = [mount, "-t", "tmpfs", "-o", "size=1m", "plait-test", folder]
    if not mount or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("mounting a small file system is not permitted here")
    try:
        yield
    finally:
        subprocess.run(["umount", folder], check=True)


def test_a_new_file_that_does_not_fit_the_disk_is_an_error(tmp_path):
    folder = tmp_path / "disk"
    with small_disk(folder):
        (folder / "a.bin").write_bytes(b"old")
        text = store_error_text(lambda: plait.open(folder / "a.bin", "w", shape=(1 << 20,), dtype="f8"), errno.ENOSPC)
        assert "8 MiB" in text
        assert [path.name for path in folder.iterdir()] == ["a.bin"]
        assert (folder / "a.bin").read_bytes() == b"old"


@pytest.mark.parametrize("strategy", ["direct", "two-phase"])
def test_a_write_in_place_that_does_not_fit_the_disk_is_an_error(tmp_path, strategy):
    folder = tmp_path / "disk"
    with small_disk(folder):
        path = folder / "a.bin"
        with path.open("wb") as out:
            out.truncate(8 << 20)  # holes, which need space when they are written
        with plait.open(path, "r+", shape=(1 << 20,), dtype="f8", strategy=strategy) as file:
            text = store_error_text(lambda: file.write(np.ones(1 << 20)), errno.ENOSPC)
            assert f"cannot write {path} at offset" in text
            # The file stays usable; each element has its old or its new value.
            assert np.isin(file.read(), (0, 1)).all()


def test_files_beyond_the_size_limit_of_the_process_are_errors(tmp_path):
    path = tmp_path / "a.bin"
    path.write_bytes(b"old")
    with limit_file_size(1 << 20):
        store_error_text(lambda: plait.open(path, "w", shape=(1 << 20,), dtype="f8"), errno.EFBIG)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_failed_write_discards_the_new_file(tmp_path):
    # The limit is lowered after the space was reserved.
    path = tmp_path / "a.bin"
    path.write_bytes(b"old")
    file = plait.open(path, "w", shape=(1 << 18,), dtype="f8")
    with limit_file_size(1 << 20):
        text = store_error_text(lambda: file.write(np.ones(1 << 18)), errno.EFBIG)
    assert (1 << 20) <= int(re.search(r"at offset (\d+)", text)[1]) < 1 << 21
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(plait.ArgumentError, match="an earlier collective call failed"):
        file.write(np.ones(1 << 18))
    file.close()
    assert path.read_bytes() == b"old"


def test_an_uncaught_error_ends_a_process_with_its_message(tmp_path):
    code = f"import plait; plait.open({str(tmp_path / 'no.bin')!r}, shape=(1,), dtype='f8')"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert result.stderr.splitlines()[-1].startswith("plait.StoreError: cannot open")
