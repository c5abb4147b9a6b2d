"""HDF5's library: which library is loaded, when, and how it handles damaged files."""

import ctypes
import os
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from damaged import read_damaged_files
from hdf5_files import CHUNK, make_array, write_dataset

import plait

h5py = pytest.importorskip("h5py")

IN_CLOSE_NOWRITE, IN_OPEN = 0x10, 0x20
INOTIFY_EVENT = struct.Struct("iIII")


def run_python(code: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a program with additional environment variables, and return the completed process."""
    environment = {**os.environ, **variables}
    return subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=300)


def test_the_library_is_loaded_when_it_is_needed(tmp_path):
    path = write_dataset(tmp_path / "a.h5", make_array("f4"))
    code = f"""
import sys, plait
assert "h5py" not in sys.modules
loaded = lambda: "libhdf5" in open("/proc/self/maps").read()
assert not loaded()
print(plait.open({str(path)!r}).read().sum())
assert loaded() and "h5py" not in sys.modules
"""
    result = run_python(code)
    assert result.returncode == 0, result.stderr
    assert float(result.stdout) == make_array("f4").sum()


def test_an_older_library_reads_and_writes_files(tmp_path):
    """Use the library of the system, for example Debian's for h5dump, for all features that differ between versions."""
    older = sorted(Path("/usr/lib").glob("*/libhdf5*.so.103"))
    if not older:
        pytest.skip("no HDF5 1.10 or 1.12 in /usr/lib")
    array = make_array("f4")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset("g/a", data=array, chunks=CHUNK, compression="gzip", shuffle=True)
        file["g/b"] = h5py.SoftLink("/g/a")
        file["out"] = h5py.ExternalLink("other.h5", "/a")
    write_dataset(tmp_path / "user.h5", array, chunks=CHUNK, userblock_size=512)
    code = f"""
import plait
folder = {str(tmp_path)!r}
assert [info.storage for info in plait.arrays_in(folder + "/a.h5")] == ["chunks 4x3x10, shuffle, deflate 4"]
array = plait.open(folder + "/a.h5::g/b").read()
for name in ("a.h5::out", "user.h5"):
    try: plait.open(folder + "/" + name)
    except plait.ArgumentError as error: print(error)
with plait.open(folder + "/b.h5::x/y", "w", shape=array.shape, dtype="f4", chunks=(4, 3, 10), codec="gzip") as file:
    file.write(array)
with plait.open(folder + "/c.h5", "w", arrays={{"x/y": (array.shape, "f4"), "z": (3, "c8")}}) as file:
    file.write(array, variable="x/y")
assert "libhdf5" in open("/proc/self/maps").read() and "h5py.libs" not in open("/proc/self/maps").read()
"""
    result = run_python(code, PLAIT_HDF5=str(older[0]))
    assert result.returncode == 0, result.stderr
    assert "is a link into another file, other.h5" in result.stdout
    assert "does not say where chunks of such files lie" in result.stdout
    for name in ("b.h5", "c.h5"):
        with h5py.File(tmp_path / name) as file:
            np.testing.assert_array_equal(file["x/y"][...], array)


def test_a_dataset_that_an_older_library_cannot_read_hides_no_others(tmp_path):
    older = sorted(Path("/usr/lib").glob("*/libhdf5*.so.103"))
    if not older:
        pytest.skip("no HDF5 1.10 or 1.12 in /usr/lib")
    array = make_array("i4")
    with h5py.File(tmp_path / "a.h5", "w", libver="latest") as file:
        file.create_dataset("g/new", (5, 7), "i4", chunks=(2, 3), compression="gzip")
        file.create_dataset("g/old", data=array)
    code = f"""
import plait
path = {str(tmp_path / "a.h5")!r}
for info in plait.arrays_in(path): print(info.name, info.error)
print(plait.open(path + "::g/old").read().sum())
try: plait.open(path + "::g/new")
except plait.Error as error: print(error)
"""
    result = run_python(code, PLAIT_HDF5=str(older[0]))
    assert result.returncode == 0, result.stderr
    listed_new, listed_old, total, error = result.stdout.splitlines()
    assert listed_new.startswith("g/new it cannot be opened (")
    assert (listed_old, int(total)) == ("g/old ", array.sum())
    assert "a.h5::g/new" in error


def test_a_library_that_cannot_be_used_is_an_error(tmp_path):
    path = write_dataset(tmp_path / "a.h5", make_array("f4"))
    code = f"import plait\ntry: plait.open({str(path)!r})\nexcept plait.StoreError as error: print(error)"
    (tmp_path / "libhdf5.so").write_bytes(b"")
    for library, reason in ((str(tmp_path / "libhdf5.so"), "cannot be used: "), ("libz.so.1", "it has no H5open")):
        text = run_python(code, PLAIT_HDF5=library).stdout
        assert f"the HDF5 library {library} cannot be used" in text
        assert reason in text


@pytest.mark.sampled(1)
@pytest.mark.parametrize("libver", ["earliest", "latest"])
def test_damaged_files_are_errors_or_readable(tmp_path, libver):
    """Plait reports an error that names the changed file, or each of its arrays can be read or has an error."""
    path = tmp_path / "a.h5"
    with h5py.File(path, "w", libver=libver) as file:
        file.create_dataset("g/a", data=make_array("f8"), chunks=CHUNK, compression="gzip", shuffle=True)
        file.create_dataset("b", data=np.arange(50))
        file.create_dataset("c", data=np.arange(50), chunks=(9,), fletcher32=True, maxshape=(None,))
    intact = path.read_bytes()
    for infos in read_damaged_files(path, intact, len(intact), 1):
        for info in infos:
            if info.error or np.prod(info.shape, dtype="f8") > 1e6:
                continue
            message = str(path)
            try:
                plait.open(f"{path}::{info.name}").read()
            except plait.Error as error:
                message = str(error)
            assert str(path) in message


def count_opens(path: Path, call: Callable[[], object]) -> int:
    """Return how often `call` opens a file anew; the kernel merges opens without a close between them."""
    libc = ctypes.CDLL(None, use_errno=True)
    watcher = libc.inotify_init1(os.O_NONBLOCK)
    assert libc.inotify_add_watch(watcher, os.fsencode(path), IN_CLOSE_NOWRITE | IN_OPEN) >= 0
    call()
    events = os.read(watcher, 1 << 16)
    os.close(watcher)
    return sum(mask & IN_OPEN != 0 for _, mask, _, _ in INOTIFY_EVENT.iter_unpack(events))


def test_a_file_without_an_array_name_is_opened_as_often_as_with_one(tmp_path):
    path = tmp_path / "a.h5"
    with plait.open(path, "w", shape=(4, 6), dtype="f8") as file:
        file.write(np.zeros((4, 6)))

    def read(name: str) -> None:
        with plait.open(name) as file:
            assert file.read().shape == (4, 6)

    named = count_opens(path, lambda: read(f"{path}::data"))
    assert named >= 1
    assert count_opens(path, lambda: read(str(path))) == named
