"""An unreadable object of an HDF5 file does not hide the others."""

from pathlib import Path

import numpy as np
import pytest
from launching import run

import plait

h5py = pytest.importorskip("h5py", reason="h5py is not installed")


@pytest.fixture(params=["earliest", "latest"])
def damage_object(request, tmp_path, monkeypatch):
    """Return a function that damages the header of an object in a file and returns the name of the file."""
    monkeypatch.chdir(tmp_path)
    with h5py.File("a.h5", "w", libver=request.param) as file:
        for name in ("first", "g/inner", "g/other", "last"):
            file[name] = np.arange(4.0)
            file[name].attrs["units"] = "K"
        file.attrs["title"] = "all"
        addresses = {name: h5py.h5o.get_info(file[name].id).addr for name in ("first", "g", "g/inner", "last")}

    def damage(name, offset=0):
        content = bytearray(Path("a.h5").read_bytes())
        content[addresses[name] + offset : addresses[name] + offset + 4] = b"\xff\x5a\xa5\xff"
        Path("a.h5").write_bytes(content)
        return "a.h5"

    return damage


@pytest.mark.parametrize("name", ["first", "g/inner", "last"])
def test_an_unreadable_dataset_hides_no_others(damage_object, name):
    path = damage_object(name)
    infos = {info.name: info for info in plait.arrays_in(path)}
    assert set(infos) == {"first", "g/inner", "g/other", "last"}
    assert {info.name for info in infos.values() if info.error} == {name}
    assert "cannot be opened" in infos[name].error
    assert [group.name for group in plait.groups_in(path)] == ["", "g"]
    for other in set(infos) - {name}:
        np.testing.assert_array_equal(plait.open(f"{path}::{other}").read(), np.arange(4.0))
        assert infos[other].attributes["units"] == "K"
    with pytest.raises(plait.Error, match=name):
        plait.open(f"{path}::{name}")


def test_an_unreadable_group_hides_no_other_objects(damage_object):
    path = damage_object("g")
    infos = {info.name: info for info in plait.arrays_in(path)}
    assert {info.name for info in infos.values() if not info.error} == {"first", "last"}
    assert [info.name for info in infos.values() if info.error] == ["g"]


def test_commands_list_the_readable_arrays(damage_object):
    path = damage_object("first")
    listing = run("info", path)
    assert listing.exit_code == 0, listing.output
    assert "cannot be opened" in listing.stdout
    for name in ("g/inner", "g/other", "last"):
        assert name in listing.stdout
    failed = run("copy", path, "b.h5")
    assert failed.exit_code != 0
    assert "1 of 4 arrays of a.h5 cannot be copied to b.h5: (1) first: it cannot be opened" in failed.stderr
    assert not Path("b.h5").exists()
    result = run("copy", path, "b.h5", "--skip-unsupported")
    assert result.exit_code == 0, result.output
    assert sorted(info.name for info in plait.arrays_in("b.h5")) == ["g/inner", "g/other", "last"]


@pytest.mark.parametrize("offset", range(0, 160, 7))
def test_damage_anywhere_in_a_header_hides_no_others(damage_object, offset):
    path = damage_object("g/inner", offset)
    assert {"first", "last"} <= {info.name for info in plait.arrays_in(path) if not info.error}


def test_null_dataspaces_are_listed_with_an_error(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["a"] = np.arange(3)
        file["nothing"] = h5py.Empty("f4")
    infos = {info.name: info for info in plait.arrays_in(tmp_path / "a.h5")}
    assert [infos[name].has_elements for name in ("a", "nothing")] == [True, False]
    assert "null dataspace" in infos["nothing"].error
