"""Variables that mode "a" adds to existing files of netCDF's classic formats."""

import signal

import numpy as np
import pytest
from killing import Killer
from limits import limit_file_size

import plait

netcdf4 = pytest.importorskip("netCDF4")

KINDS = ["NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_DATA"]
FREE_BYTES = 800  # between the header and the first variable


def write_file(path, kind="NETCDF3_CLASSIC", *, free=FREE_BYTES, variables=True, records=0):
    """Write a file with free bytes after its header, which netCDF's library leaves when an attribute is removed."""
    with netcdf4.Dataset(path, "w", format=kind) as file:
        file.title = "t"
        if free:
            file.free = "z" * free
        if not variables:
            file.other = "o"
            return
        if records:
            file.createDimension("time", None)
        file.createDimension("x", 4)
        file.createDimension("y", 3)
        file.createVariable("a", "f4", ("y", "x"))[:] = np.arange(12).reshape(3, 4)
        file.createVariable("b", "i2", ("x",)).units = "K"
        file["b"][:] = [1, 2, 3, 4]
        if records:
            file.createVariable("r", "f8", ("time", "x"))[:] = np.arange(4.0 * records).reshape(records, 4)
            file.createVariable("s", "i2", ("time",))[:] = np.arange(records)
    if free:
        with netcdf4.Dataset(path, "a") as file:
            del file.free


def check_old_content(path, records=0):
    with netcdf4.Dataset(path) as file:
        file.set_auto_mask(False)
        assert file.title == "t"
        np.testing.assert_array_equal(file["a"][:], np.arange(12).reshape(3, 4))
        np.testing.assert_array_equal(file["b"][:], [1, 2, 3, 4])
        assert file["b"].units == "K"
        if records:
            np.testing.assert_array_equal(file["r"][:], np.arange(4.0 * records).reshape(records, 4))
            np.testing.assert_array_equal(file["s"][:], np.arange(records))


ATTRIBUTES = {"units": "mm", "two": np.array([1.5, 2.5]), "one": 7, "short": np.int16(-3)}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("names", [("y", "x"), ("y", "z"), ("u", "v"), ("x",), ("n",), ()])
@pytest.mark.parametrize("dtype", [">f8", "i1", ">i2"])
def test_variables_are_added(tmp_path, kind, names, dtype):
    path = tmp_path / "a.nc"
    write_file(path, kind)
    lengths = {"x": 4, "y": 3, "z": 5, "u": 2, "v": 7, "n": 3}
    shape = tuple(lengths[name] for name in names)
    array = np.random.default_rng(0).integers(0, 99, shape).astype(dtype)
    new = {"shape": shape, "dtype": dtype, "dimension_names": names, "attributes": ATTRIBUTES}
    with plait.open(f"{path}::new", "a", **new) as file:
        file.write(array)
        np.testing.assert_array_equal(file.read(), array)
        check_old_content(path)
        with netcdf4.Dataset(path) as other:
            assert "new" not in other.variables  # the variable appears when the file is closed
    check_old_content(path)
    with netcdf4.Dataset(path, "a") as file:
        variable = file["new"]
        assert variable.dimensions == names
        np.testing.assert_array_equal(variable[...], array)
        assert (variable.units, variable.one, variable.short) == ("mm", 7, -3)
        np.testing.assert_array_equal(variable.two, [1.5, 2.5])
        assert file.data_model == kind
        # The library can change the file further.
        file.createDimension("more", 2)
        file.createVariable("later", "f4", ("more", "x"))[:] = 5
        file.note = "x" * 1000
    check_old_content(path)
    with plait.open(f"{path}::new") as file:
        np.testing.assert_array_equal(file.read(), array)
    assert not list(tmp_path.glob(".a*"))


def test_several_variables_are_added(tmp_path):
    path = tmp_path / "a.nc"
    write_file(path)
    for number in range(5):
        new = {"shape": (3, number + 1), "dtype": ">f4", "dimension_names": ("y", f"z{number}")}
        layout = plait.Layout(new["shape"], "(cyclic, *)", grid=(2,))
        with plait.open(f"{path}::v{number}", "a", **new) as file:
            file.write([np.full(layout.local_shape(rank), number, ">f4") for rank in range(2)], layout)
    with netcdf4.Dataset(path) as file:
        for number in range(5):
            assert file[f"v{number}"].shape == (3, number + 1)
            assert (file[f"v{number}"][:] == number).all()
    check_old_content(path)


@pytest.mark.parametrize("options", [{}, {"fill_value": -5}])
def test_unwritten_elements_have_the_fill_value(tmp_path, options):
    write_file(tmp_path / "a.nc")
    new = {"shape": (3, 4), "dtype": ">i4", "dimension_names": ("y", "x")}
    with plait.open(f"{tmp_path}/a.nc::new", "a", **new, **options) as file:
        file.write(np.array([[3, 4]], ">i4"), region=np.s_[1:2, 1:3])
    expected = np.full((3, 4), options.get("fill_value", netcdf4.default_fillvals["i4"]))
    expected[1, 1:3] = 3, 4
    with netcdf4.Dataset(tmp_path / "a.nc") as file:
        file.set_auto_mask(False)
        np.testing.assert_array_equal(file["new"][:], expected)
        assert getattr(file["new"], "_FillValue", None) == options.get("fill_value")


def test_a_variable_is_added_to_a_file_without_variables(tmp_path):
    path = tmp_path / "a.nc"
    write_file(path, variables=False, free=0)
    for name in ("p", "q"):
        new = {"shape": 3, "dtype": ">i2", "dimension_names": ["n"]}
        if name == "q":  # p is stored directly after the header
            with pytest.raises(
                plait.ArgumentError, match="its description needs 36 bytes in the header, but there are 0"
            ):
                plait.open(f"{path}::{name}", "a", **new)
            continue
        with plait.open(f"{path}::{name}", "a", **new) as file:
            file.write(np.array([1, 2, 3], ">i2"))
    with netcdf4.Dataset(path) as file:
        np.testing.assert_array_equal(file["p"][:], [1, 2, 3])
        assert file.other == "o"


@pytest.mark.parametrize("kind", KINDS)
def test_files_with_records_cannot_get_variables(tmp_path, kind):
    path = tmp_path / "a.nc"
    write_file(path, kind, records=3)
    before = path.read_bytes()
    new = {"shape": 4, "dtype": ">f4", "dimension_names": ["x"]}
    with pytest.raises(plait.ArgumentError, match="the file has records, which follow each other to its end; copy"):
        plait.open(f"{path}::new", "a", **new)
    new = {"shape": 3, "dtype": ">f4", "dimension_names": ["time"]}
    with pytest.raises(plait.ArgumentError, match=r"is the unlimited one of the file, .* moves all records; copy"):
        plait.open(f"{path}::new", "a", **new)
    assert path.read_bytes() == before
    check_old_content(path, 3)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("new", {"attributes": {"long": "x" * 900}}, r"needs \d+ bytes in the header, but there are \d+ before"),
        ("new", {"shape": (3, 5)}, 'it has 5 elements along dimension "x", which has 4 in the file'),
        ("new", {"dimension_names": None}, "it has 2 dimensions and 0 names of dimensions"),
        ("new", {"dtype": "f4"}, "big-endian elements, but the dtype is <f4; give >f4"),
        ("new", {"dtype": ">i8"}, "files of CDF-1 have no elements of dtype >i8"),
        (
            "new",
            {"chunks": (2, 2)},
            "chunks, shards, a codec|keeps its arrays in one piece|stores its array in one piece",
        ),
        ("g/new", {}, "is no name of a variable of classic netCDF"),
        ("new", {"attributes": {"large": 1 << 40}}, "has an integer of more than 32 bits"),
        ("new", {"attributes": {"texts": ["a", "b"]}}, "is a list of texts"),
        ("new", {"shape": None}, 'contains no array "new"'),
        ("/a", {}, 'contains no array "/a"; it contains: a, b'),
        ("", {}, 'contains no array ""; it contains: a, b'),
    ],
)
def test_errors_change_nothing(tmp_path, name, options, message):
    path = tmp_path / "a.nc"
    write_file(path)
    before = path.read_bytes()
    new = {"shape": (3, 4), "dtype": ">f4", "dimension_names": ("y", "x")}
    with pytest.raises(plait.Error, match=message):
        plait.open(f"{path}::{name}", "a", **{**new, **options})
    assert path.read_bytes() == before


def test_a_full_disk_changes_nothing(tmp_path):
    path = tmp_path / "a.nc"
    write_file(path)
    before = path.read_bytes()
    new = {"shape": 100_000, "dtype": ">f4", "dimension_names": ["n"]}
    with limit_file_size(1 << 16), pytest.raises(plait.StoreError, match="File too large"):
        plait.open(f"{path}::new", "a", **new)
    assert path.read_bytes() == before


def test_a_second_writer_is_an_error(tmp_path):
    path = tmp_path / "a.nc"
    write_file(path)
    new = {"shape": 4, "dtype": ">f4", "dimension_names": ["x"]}
    with plait.open(f"{path}::new", "a", **new) as file:
        with pytest.raises(plait.StoreError, match="its file is being extended"):
            plait.open(f"{path}::other", "a", **new)
        file.write(np.ones(4, ">f4"))
    check_old_content(path)


ADD = """
import sys
import numpy as np
import plait
file = plait.open(sys.argv[1] + "::new", "a", shape=(3, 4), dtype=">f4", dimension_names=sys.argv[3].split(","))
file.write(np.full((3, 4), 99, ">f4"))
open(sys.argv[2], "w").close()
file.close()
"""


@pytest.mark.parametrize("names", ["y,x", "y,new"])
def test_a_kill_leaves_no_variable_or_the_complete_variable(tmp_path, names):
    original, path = tmp_path / "original.nc", tmp_path / "a.nc"
    killer = Killer(tmp_path, original, path)
    write_file(original)

    states = []  # after each kill, whether the variable is there
    kill_at = 0
    while (code := killer.run(kill_at, ADD, names)) != 0:
        if not (names == "y,x" and kill_at % 2 == 1):  # a kill cannot interrupt an atomic write
            assert code == -signal.SIGKILL
            is_added = "new" in [info.name for info in plait.arrays_in(path)]
            check_old_content(path)
            with netcdf4.Dataset(path) as file:
                assert ("new" in file.variables) == is_added
                if is_added:
                    np.testing.assert_array_equal(file["new"][:], np.full((3, 4), 99))
            assert not list(tmp_path.glob(".a.*"))
            states.append(is_added)
        kill_at += 1
    assert states == sorted(states)
    assert set(states) == {False, True}
