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


def make(path, kind):
    options = {"libver": "latest"} if kind == "latest" else {}
    with h5py.File(path, "w", **options) as file:
        for name in ("g/a", "g/b", "c"):
            file[name] = np.arange(1000.0)
            file[name].attrs["units"] = "m"
            file[name].attrs["gone"] = [1.5, 2.5]
            for i in range(30 if kind == "many" else 2):
                file[name].attrs[f"kept{i}"] = f"value {i}"


def attributes_in(path):
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
    make(original, kind)
    before = attributes_in(original)

    def change(at: int) -> int:
        return killer.run(at, CHANGE)

    assert change(1_000_000) == 0
    after = attributes_in(path)
    assert str(np.asarray(after["units"]).astype(str)) == "kelvin" * 40
    assert after["large"] == list(range(3000))
    assert "gone" not in after
    assert after["kept1"] == "value 1"
    seen = []
    complete = None
    at = 0
    step = 1
    while (code := change(at)) != 0:
        assert code == -signal.SIGKILL
        if path.read_bytes().startswith(original.read_bytes()) and list(tmp_path.glob(".a.*")):
            complete = at
        with plait.open(f"{path}::g/a") as file:
            np.testing.assert_array_equal(file.read(), np.arange(1000.0))
        actual = attributes_in(path)
        assert actual in (before, after), at
        seen.append(actual == after)
        assert not list(tmp_path.glob(".a.*"))
        at += step
        step = 1 if at < 8 else 31
    assert seen[0] is False
    assert seen[-1] is True
    assert seen == sorted(seen)
    assert len(seen) > 6
    # A journal is invalid after another program has changed or replaced the file.
    assert complete is not None
    change(complete)
    with h5py.File(path, "r+") as file:
        file["g/a"].attrs["units"] = "hPa"
        file["new"] = np.arange(5)
    changed = attributes_in(path)
    assert plait.open(f"{path}::new").read().tolist() == [0, 1, 2, 3, 4]
    assert attributes_in(path) == changed
    assert not list(tmp_path.glob(".a.*"))
    change(complete)
    shutil.copy(original, tmp_path / "copy")
    (tmp_path / "copy").replace(path)
    plait.open(f"{path}::g/a").close()
    assert attributes_in(path) == before
    assert not list(tmp_path.glob(".a.*"))
