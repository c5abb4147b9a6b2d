"""Replaced files: properties that the new file takes over, and names that are long, not UTF-8, or in use."""

import errno
import os
import struct
import subprocess
import sys
import tempfile

import numpy as np
import pytest

import plait

IS_SUPERUSER = os.geteuid() == 0
NOBODY = 65534

# An access control list as the extended attribute stores it:
# user::rw-, user:4321:r--, group::r--, mask::r--, other::---
ACCESS_LIST = struct.pack(
    "<I" + "HHI" * 5, 2, 1, 6, 0xFFFFFFFF, 2, 4, 4321, 4, 4, 0xFFFFFFFF, 16, 4, 0xFFFFFFFF, 32, 0, 0xFFFFFFFF
)


def write(url, size=3):
    with plait.open(url, "w", shape=(size,), dtype="i4") as file:
        file.write(np.full(size, size, dtype="i4"))


def list_folder(folder):
    return sorted(os.fsdecode(entry.name) for entry in folder.iterdir())


def set_attribute(path, name, value):
    try:
        os.setxattr(path, name, value)
    except OSError as error:
        pytest.skip(f"no extended attributes here: {error}")


@pytest.mark.parametrize("mode", [0o640, 0o200, 0o4750, 0o444])
def test_permissions_and_owner_are_preserved(tmp_path, mode):
    if mode == 0o444 and not IS_SUPERUSER:
        pytest.skip("such a file can be replaced by the superuser alone")
    path = tmp_path / "a.npy"
    write(path)
    if IS_SUPERUSER:
        os.chown(path, 12345, 12346)
    path.chmod(mode)
    before = path.stat()
    write(path, 5)
    after = path.stat()
    assert (after.st_mode, after.st_uid, after.st_gid) == (before.st_mode, before.st_uid, before.st_gid)
    assert after.st_ino != before.st_ino


def test_extended_attributes_and_access_lists_are_preserved(tmp_path):
    path = tmp_path / "a.npy"
    write(path)
    set_attribute(path, "user.note", b"bytes \0 of a user")
    set_attribute(path, "user.empty", b"")
    set_attribute(path, "system.posix_acl_access", ACCESS_LIST)
    write(path, 5)
    assert os.getxattr(path, "user.note") == b"bytes \0 of a user"
    assert os.getxattr(path, "user.empty") == b""
    assert os.getxattr(path, "system.posix_acl_access") == ACCESS_LIST


def test_a_default_access_list_is_not_applied_to_a_replaced_file(tmp_path):
    path = tmp_path / "a.npy"
    write(path)
    path.chmod(0o640)
    set_attribute(tmp_path, "system.posix_acl_default", ACCESS_LIST)
    write(path, 5)
    assert "system.posix_acl_access" not in os.listxattr(path)
    assert path.stat().st_mode & 0o777 == 0o640


def test_components_have_the_attributes_of_their_file(tmp_path):
    url = f"stripe:{tmp_path}/a?disks={tmp_path},{tmp_path}"
    write(url)
    path = tmp_path / "a"
    path.chmod(0o620)
    write(url, 5)
    assert {entry.stat().st_mode & 0o777 for entry in tmp_path.iterdir()} == {0o620}
    assert len(list_folder(tmp_path)) == 3


# The superuser starts the interpreter, which other users may not be allowed to execute.
AS_NOBODY = """
import os, sys
from plait import open

os.setgroups([])
os.setgid(65534)
os.setuid(65534)
open(sys.argv[1], "w", shape=(5,), dtype="i4").close()
"""


@pytest.fixture
def open_folder():
    """Return a folder that all users may change; skip the test for other users than the superuser."""
    if not IS_SUPERUSER:
        pytest.skip("only the superuser makes files of others")
    with tempfile.TemporaryDirectory(prefix="plait-test-") as name:
        os.chmod(name, 0o777)
        yield name


def test_properties_without_permission_are_skipped(open_folder):
    path = f"{open_folder}/a.npy"
    write(path)
    os.chown(path, NOBODY, 12346)
    os.chmod(path, 0o674)
    subprocess.run([sys.executable, "-c", AS_NOBODY, path], check=True)
    after = os.stat(path)
    assert (after.st_uid, after.st_gid) == (NOBODY, NOBODY)
    assert after.st_mode & 0o777 == 0o644  # another group gets only the permissions of everybody


def test_the_owner_replaces_an_unreadable_file(open_folder):
    path = f"{open_folder}/a.npy"
    write(path)
    os.chown(path, NOBODY, NOBODY)
    os.chmod(path, 0o200)
    subprocess.run([sys.executable, "-c", AS_NOBODY, path], check=True)
    assert os.stat(path).st_mode & 0o777 == 0o200
    assert np.load(path).shape == (5,)


def test_other_hard_links_refer_to_the_old_file(tmp_path):
    path = tmp_path / "a.npy"
    write(path)
    (tmp_path / "second.npy").hardlink_to(path)
    write(path, 5)
    assert np.load(tmp_path / "second.npy").shape == (3,)
    assert np.load(path).shape == (5,)


def test_names_may_have_the_maximum_length(tmp_path):
    longest = os.pathconf(tmp_path, "PC_NAME_MAX")
    paths = [tmp_path / ("é" * ((longest - 5) // 2) + end + ".npy") for end in ("a", "b")]
    assert len(os.fsencode(paths[0].name)) >= longest - 1
    with plait.open(paths[0], "w", shape=(3,), dtype="i4"), plait.open(paths[1], "w", shape=(5,), dtype="i4"):
        assert len(list_folder(tmp_path)) == 2
    for _ in range(2):
        assert [plait.open(path).shape for path in paths] == [(3,), (5,)]
        write(paths[0], 3)
    assert len(list_folder(tmp_path)) == 2
    with pytest.raises(plait.StoreError, match="too long") as raised:
        plait.open(tmp_path / ("x" * (longest + 1)), "w", shape=1, dtype="i4")
    assert raised.value.errno == errno.ENAMETOOLONG


def test_leftovers_with_long_names_are_removed(tmp_path):
    path = tmp_path / ("x" * 250 + ".npy")
    code = "import os, sys, plait; f = plait.open(sys.argv[1], 'w', shape=(3,), dtype='i4'); os.kill(os.getpid(), 9)"
    subprocess.run([sys.executable, "-c", code, path])
    assert len(list_folder(tmp_path)) == 1
    write(path)
    assert list_folder(tmp_path) == [path.name]


def test_names_need_not_be_utf_8(tmp_path):
    path = os.fsencode(tmp_path) + b"/gr\xfc\xdfe.npy"
    write(path)
    with plait.open(path) as file:
        assert os.fsencode(file.url) == path
        assert file.read().tolist() == [3, 3, 3]
        assert "gr\\udcfc\\udcdfe" in repr(file)
    plait.copy(path, path + b".npy")
    with plait.open(os.fsdecode(path + b".npy"), "r+") as file:
        assert file.shape == (3,)
    with pytest.raises(plait.StoreError) as missing:
        plait.open(path + b"-none.npy")
    assert os.fsencode(str(missing.value)).count(b"gr\xfc\xdfe.npy-none.npy") == 1
    with pytest.raises(plait.ArgumentError, match="holds an array"):
        plait.open(path, shape=(4,))
    stripes = b"stripe:" + path + b"-stripes?disks=" + os.fsencode(tmp_path)
    write(os.fsdecode(stripes))
    assert plait.open(b"stripe:" + path + b"-stripes", shape=(3,), dtype="i4").read().tolist() == [3, 3, 3]


@pytest.mark.parametrize("kind", ["a.npy", "a", "stripes"])
def test_a_file_that_appears_meanwhile_is_not_replaced(tmp_path, kind):
    path = tmp_path / kind
    is_striped = kind == "stripes"
    url = f"stripe:{path}?disks={tmp_path}" if is_striped else path
    # The file that appears is striped, too: its component must not be removed.
    file = plait.open(url, "w", shape=(5,), dtype="i4")
    file.write(np.full(5, 5, dtype="i4"))
    write(url, 3)
    with pytest.raises(plait.StoreError, match="has appeared") as raised:
        file.close()
    assert raised.value.errno == errno.EEXIST
    options = {} if kind == "a.npy" else {"dtype": "i4", "shape": (3,)}
    prefix = "stripe:" if is_striped else ""
    assert plait.open(f"{prefix}{path}", **options).read().tolist() == [3] * 3
    saved = f"{path}.kept-1"
    assert saved in str(raised.value)
    if kind == "a.npy":
        assert np.load(saved).tolist() == [5] * 5
    else:
        assert plait.open(f"{prefix}{saved}", shape=(5,), dtype="i4").read().tolist() == [5] * 5
    assert len(list_folder(tmp_path)) == (4 if is_striped else 2)


@pytest.mark.parametrize("kind", ["a.npy", "stripes"])
def test_a_file_that_cannot_be_replaced_is_saved_next_to_it(tmp_path, kind):
    path = tmp_path / kind
    is_striped = kind == "stripes"
    url = f"stripe:{path}?disks={tmp_path}" if is_striped else path
    write(url, 3)
    file = plait.open(url, "w", shape=(5,), dtype="i4")
    file.write(np.full(5, 5, dtype="i4"))
    path.unlink()
    path.mkdir()
    with pytest.raises(plait.StoreError, match=r"cannot be replaced .*the new data is in") as raised:
        file.close()
    assert raised.value.errno == errno.EISDIR
    saved = f"{path}.kept-1"
    array = plait.open(f"stripe:{saved}", shape=(5,), dtype="i4").read() if is_striped else np.load(saved)
    assert array.tolist() == [5] * 5


def run_as_nobody(path):
    return subprocess.run([sys.executable, "-c", AS_NOBODY, path], capture_output=True, text=True)


def test_another_users_file_in_a_sticky_folder_is_rejected_in_open(open_folder):
    path = f"{open_folder}/a.npy"
    write(path)
    os.chmod(path, 0o666)
    os.chmod(open_folder, 0o1777)
    message = run_as_nobody(path).stderr
    assert "sticky" in message
    assert ", in open\n" in message  # and not in close
    assert os.listdir(open_folder) == ["a.npy"]
    os.chown(path, NOBODY, NOBODY)
    assert run_as_nobody(path).returncode == 0


def test_folders_need_not_be_readable(open_folder):
    os.chmod(open_folder, 0o733)
    for _ in range(2):
        result = run_as_nobody(f"{open_folder}/a.npy")
        assert result.returncode == 0, result.stderr
    assert os.listdir(open_folder) == ["a.npy"]
