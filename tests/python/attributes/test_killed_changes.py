"""A kill at any call that changes an HDF5 file leaves all old or all new attributes."""

import shutil
import signal

import numpy as np
import pytest
from killing import Killer

import plait

h5py = pytest.importorskip("h5py")

CHANGE = """
import sys
import plait
file = plait.open(sys.argv[1] + "::g/a", "r+")
file.attrs["units"] = "kelvin" * 40
file.attrs["large"] = list(range(3000))
del file.attrs["gone"]
for i in range(20):
    file.attrs[f"more{i}"] = i
open(sys.argv[2], "w").close()
file.close()
"""


def write_file(path, kind):
    options = {"libver": "latest"} if kind == "latest" else {}
    with h5py.File(path, "w", **options) as file:
        for name in ("g/a", "g/b", "c"):
            file[name] = np.arange(1000.0)
            file[name].attrs["units"] = "m"
            file[name].attrs["gone"] = [1.5, 2.5]
            for i in range(30 if kind == "many" else 2):
                file[name].attrs[f"unchanged{i}"] = f"value {i}"


def read_attributes(path):
    """Return the attributes of g/a, and check that nothing else has changed."""
    with h5py.File(path) as file:
        for name in ("g/a", "g/b", "c"):
            assert file[name][...].tolist() == np.arange(1000.0).tolist()
        assert file["g/b"].attrs["units"] == file["c"].attrs["units"] == "m"
        return {name: np.asarray(value).tolist() for name, value in file["g/a"].attrs.items()}


@pytest.mark.parametrize("kind", ["few", "many", "latest"])
@pytest.mark.parametrize("suffix", ["h5", "nc"])
def test_a_kill_leaves_the_old_or_the_new_attributes(tmp_path, kind, suffix):
    original, path = tmp_path / f"original.{suffix}", tmp_path / f"a.{suffix}"
    killer = Killer(tmp_path, original, path)
    write_file(original, kind)
    before = read_attributes(original)

    def change(kill_at: int) -> int:
        return killer.run(kill_at, CHANGE)

    assert change(1_000_000) == 0  # there are fewer calls
    after = read_attributes(path)
    assert str(np.asarray(after["units"]).astype(str)) == "kelvin" * 40
    assert after["large"] == list(range(3000))
    assert "gone" not in after
    assert after["unchanged1"] == "value 1"
    is_changed = []  # after each kill
    kill_at_complete_journal = None
    kill_at = 0
    while (code := change(kill_at)) != 0:
        assert code == -signal.SIGKILL
        if path.read_bytes().startswith(original.read_bytes()) and list(tmp_path.glob(".a.*")):
            kill_at_complete_journal = kill_at
        with plait.open(f"{path}::g/a") as file:
            np.testing.assert_array_equal(file.read(), np.arange(1000.0))
        actual = read_attributes(path)
        assert actual in (before, after), kill_at
        is_changed.append(actual == after)
        assert not list(tmp_path.glob(".a.*"))
        kill_at += 1 if kill_at < 8 else 31  # not every call, to save time
    assert is_changed[0] is False
    assert is_changed[-1] is True
    assert is_changed == sorted(is_changed)
    assert len(is_changed) > 6
    # A journal is invalid after another program has changed or replaced the file.
    assert kill_at_complete_journal is not None
    change(kill_at_complete_journal)
    with h5py.File(path, "r+") as file:
        file["g/a"].attrs["units"] = "hPa"
        file["new"] = np.arange(5)
    changed = read_attributes(path)
    assert plait.open(f"{path}::new").read().tolist() == [0, 1, 2, 3, 4]
    assert read_attributes(path) == changed
    assert not list(tmp_path.glob(".a.*"))
    change(kill_at_complete_journal)
    shutil.copy(original, tmp_path / "copy")
    (tmp_path / "copy").replace(path)
    plait.open(f"{path}::g/a").close()
    assert read_attributes(path) == before
    assert not list(tmp_path.glob(".a.*"))
