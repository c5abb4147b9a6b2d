"""Copies from HDF5 to HDF5 of arrays that Plait cannot read, which HDF5's library copies (H5Ocopy).

These have references, sequences, records of both, or null dataspaces.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from launching import needs_mpi, run

import plait
from plait._copying.targets import TargetFactory

h5py = pytest.importorskip("h5py", reason="h5py is not installed")

RECORD = np.dtype([("n", "i4"), ("to", h5py.ref_dtype), ("name", h5py.string_dtype())])


@pytest.fixture
def source(tmp_path, monkeypatch):
    """Create a file with references of all kinds, sequences, and a null dataspace."""
    monkeypatch.chdir(tmp_path)
    with h5py.File("a.h5", "w") as file:
        file["g/x"] = np.arange(24.0).reshape(4, 6)
        file.create_dataset("packed", data=np.arange(1000), chunks=(100,), compression="gzip")
        file["names"] = np.array(["a", "bc"], h5py.string_dtype())
        file["refs"] = np.array([file["g/x"].ref, file["g"].ref, h5py.Reference()], h5py.ref_dtype)
        regions = file.create_dataset("regions", (2,), h5py.regionref_dtype)
        regions[0] = file["g/x"].regionref[1:3, 2:5]
        records = file.create_dataset("records", (2,), RECORD)
        records[0] = (7, file["refs"].ref, "seven")
        records[1] = (8, file["packed"].ref, "")
        sequences = file.create_dataset("g/sequences", (3,), h5py.vlen_dtype("i4"), chunks=(2,), compression="gzip")
        sequences[0], sequences[2] = [1, 2, 3], [4]
        sequences.attrs["units"] = "m"
        sequences.attrs["to"] = file["packed"].ref
        sequences.attrs["lengths"] = np.array([3, 0, 1])
        to = file.create_dataset("to", (2,), h5py.vlen_dtype(h5py.ref_dtype))
        to[0] = np.array([file["g/x"].ref, file["names"].ref], h5py.ref_dtype)
        file["nothing"] = h5py.Empty("f4")
        file["nothing"].attrs["long_name"] = "no elements"
        file["nothing"].attrs["empty"] = h5py.Empty("i8")
    return "a.h5"


def check_links(name):
    """Check that all references point to objects of the same file."""
    with h5py.File(name) as file:
        x, refs = file["g/x"], file["refs"]
        assert [file[refs[0]].name, file[refs[1]].name] == ["/g/x", "/g"]
        assert not refs[2]
        np.testing.assert_array_equal(file[refs[0]][()], np.arange(24.0).reshape(4, 6))
        region = file["regions"][0]
        assert file[region].name == "/g/x"
        np.testing.assert_array_equal(x[region].ravel(), x[1:3, 2:5].ravel())
        assert not file["regions"][1]
        first, second = file["records"]
        assert (first["n"], first["name"], second["n"]) == (7, b"seven", 8)
        assert [file[first["to"]].name, file[second["to"]].name] == ["/refs", "/packed"]
        np.testing.assert_array_equal(file[second["to"]][()], np.arange(1000))
        sequences = file["g/sequences"]
        assert [list(part) for part in sequences] == [[1, 2, 3], [], [4]]
        assert (sequences.compression, sequences.chunks, sequences.attrs["units"]) == ("gzip", (2,), "m")
        assert file[sequences.attrs["to"]].name == "/packed"
        np.testing.assert_array_equal(sequences.attrs["lengths"], [3, 0, 1])
        assert [file[ref].name for ref in file["to"][0]] == ["/g/x", "/names"]
        assert len(file["to"][1]) == 0
        assert file["nothing"].shape is None
        assert file["nothing"].dtype == "f4"
        assert file["nothing"].attrs["long_name"] == "no elements"
        assert isinstance(file["nothing"].attrs["empty"], h5py.Empty)
        assert [text.decode() for text in file["names"]] == ["a", "bc"]


def test_references_in_copied_files_point_to_the_copied_objects(source):
    result = plait.copy(source, "b.h5")
    assert result.skipped == ()
    check_links("b.h5")
    plait.copy("b.h5", "c.hdf5", codec="gzip:1")
    check_links("c.hdf5")
    assert {info.name: info.copy_reason for info in plait.arrays_in("c.hdf5") if info.copy_reason} == {
        info.name: info.copy_reason for info in plait.arrays_in(source) if info.copy_reason
    }


@needs_mpi
@pytest.mark.parametrize("ranks", ["2", "3"])
def test_several_ranks_copy_references(source, ranks):
    result = run("copy", source, "b.h5", "--ranks", ranks, "--verify")
    assert result.exit_code == 0, result.output
    check_links("b.h5")


def test_files_with_no_other_arrays_are_copied(source):
    result = plait.copy(source, "s.h5", variable="nothing")
    assert result.shape == ()
    with h5py.File("s.h5") as file:
        assert list(file) == ["nothing"]
    with h5py.File("t.h5", "w") as file:
        file.create_dataset("table", data=np.array([(1, "one"), (2, "two")], [("n", "i4"), ("t", h5py.string_dtype())]))
    plait.copy("t.h5", "u.h5")
    with h5py.File("u.h5") as file:
        assert [(int(record["n"]), record["t"]) for record in file["table"]] == [(1, b"one"), (2, b"two")]


def test_references_to_objects_that_are_not_copied_are_errors(source):
    with pytest.raises(plait.ArgumentError, match=r"a.h5::refs refers to .*::g/x, which is not copied to b.h5"):
        plait.copy(source, "b.h5", variable=["refs", "names"])
    assert [path.name for path in Path().iterdir()] == ["a.h5"]
    plait.copy(source, "b.h5", variable=["refs", "g/x"])
    with h5py.File("b.h5") as file:
        assert file[file["refs"][0]].name == "/g/x"


def test_arrays_with_references_to_missing_arrays_are_skipped(source):
    names = ["records", "refs", "names", "packed", "g/sequences"]
    with pytest.warns(UserWarning, match=r"refs: it refers to an array that is not copied"):
        result = plait.copy(source, "b.h5", variable=names, skip_unsupported=True)
    assert {array.name for array in result.skipped} == {"refs", "records"}  # records refer to refs, and refs to g/x
    with h5py.File("b.h5") as file:
        assert sorted(file) == ["g", "names", "packed"]
        assert list(file["g"]) == ["sequences"]
    assert plait.copy(source, "c.h5", skip_unsupported=True).skipped == ()
    check_links("c.h5")
    with pytest.raises(plait.ArgumentError, match="refs refers to"):
        plait.copy(source, "d.h5", variable="refs", skip_unsupported=True)
    assert not Path("d.h5").exists()


@needs_mpi
def test_ranks_agree_on_skipped_arrays(source):
    options = ["--variable", "refs", "--variable", "names", "--skip-unsupported", "--ranks", "2"]
    result = run("copy", source, "b.h5", *options)
    assert result.exit_code == 0, result.output
    assert "refs: it refers to an array that is not copied" in " ".join(result.output.split())
    with h5py.File("b.h5") as file:
        assert list(file) == ["names"]


def test_attributes_with_references_to_missing_arrays_are_skipped(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with h5py.File("a.h5", "w") as file:
        x = file.create_dataset("x", data=np.arange(3.0))
        x.make_scale("x")
        sequences = file.create_dataset("g/sequences", (3,), h5py.vlen_dtype("i4"))
        sequences.dims[0].attach_scale(x)
        sequences.attrs["to"] = x.ref
        sequences.attrs["part"] = x.regionref[1:2]
        sequences.attrs.create("null", h5py.Reference(), dtype=h5py.ref_dtype)
        sequences.attrs["group"] = file["g"].ref
        file["g"].attrs["title"] = "group"
        file["other"] = np.arange(2)
    plait.copy("a.h5", "b.h5")
    with h5py.File("b.h5") as file:
        attributes = file["g/sequences"].attrs
        assert [file[attributes[name]].name for name in ("to", "part", "group")] == ["/x", "/x", "/g"]
        assert not attributes["null"]
        assert "DIMENSION_LIST" in attributes
    with pytest.warns(UserWarning, match="attributes are not copied: .*the target lacks objects") as warned:
        plait.copy("a.h5", "c.h5", variable="g/sequences")
    assert all(f"{name} of g/sequences" in str(warned[0].message) for name in ("to", "part", "DIMENSION_LIST"))
    with h5py.File("c.h5") as file:
        assert {*file["g/sequences"].attrs} == {"null", "group"}
        assert file["g"].attrs["title"] == "group"


def test_a_source_replaced_during_the_copy_is_an_error(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("a.h5", "new.h5"):
        with h5py.File(name, "w") as file:
            file["nothing"] = h5py.Empty("f4")
    open_target = TargetFactory.open

    def replace_source(*arguments):
        Path("new.h5").replace("a.h5")
        return open_target(*arguments)

    monkeypatch.setattr(TargetFactory, "open", replace_source)
    with pytest.raises(plait.StoreError, match=r"a\.h5 has been changed or replaced during the copy"):
        plait.copy("a.h5", "b.h5")
    assert not Path("b.h5").exists()


def test_named_types_are_copied_if_references_point_to_them(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with h5py.File("a.h5", "w") as file:
        file["type"] = np.dtype("i4")
        file.create_dataset("x", (3,), file["type"])
        file["refs"] = np.array([file["type"].ref], h5py.ref_dtype)
    plait.copy("a.h5", "b.h5")
    with h5py.File("b.h5") as file:
        assert isinstance(file[file["refs"][0]], h5py.Datatype)


def test_deleted_objects_become_null_references(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with h5py.File("a.h5", "w") as file:
        file["x"] = np.arange(3)
        file["y"] = np.arange(3)
        file["refs"] = np.array([file["x"].ref, file["y"].ref], h5py.ref_dtype)
        del file["x"]
    plait.copy("a.h5", "b.h5")
    with h5py.File("b.h5") as file:
        assert not file["refs"][0]
        assert file[file["refs"][1]].name == "/y"


def test_copies_that_convert_references_are_errors(source):
    with pytest.raises(plait.ArgumentError, match="references"):
        plait.copy(source, "b.h5", variable="refs", target_dtype="f4")
    assert not Path("b.h5").exists()


@pytest.mark.parametrize("target", ["b.nc", "b.zarr", "b.npz"])
def test_other_formats_skip_unsupported_arrays(source, target):
    with pytest.raises(plait.ArgumentError, match="references to other objects"):
        plait.copy(source, target)
    with pytest.warns(UserWarning, match="arrays are not copied"):
        result = plait.copy(source, target, skip_unsupported=True, codec="none" if target == "b.zarr" else None)
    assert {"refs", "nothing", "g/sequences"} <= {array.name for array in result.skipped}


def test_listings_and_plans_mark_arrays_copied_by_the_library(source):
    listing = run("info", source)
    assert "copied by HDF5's library only: its elements are references to other objects" in listing.stdout
    assert "empty" in next(line for line in listing.stdout.splitlines() if "nothing" in line)
    arrays = {array["name"]: array for array in json.loads(run("info", source, "--json").stdout)["arrays"]}
    assert arrays["g/sequences"]["copied_by_library"] == "its elements are sequences of any length"
    assert (arrays["nothing"]["empty"], arrays["names"]["empty"], arrays["names"]["copied_by_library"]) == (
        True,
        False,
        None,
    )
    plan = {array.name: array for array in plait.copy(source, "b.h5", dry_run=True).plan}
    assert plan["refs"].is_library_copy
    assert plan["refs"].library == "its elements are references to other objects"
    assert not plan["g/x"].is_library_copy
    planned = run("copy", source, "b.h5", "--dry-run").stdout
    assert "refs is copied by the library of its format, as it is and by one rank: its elements are ref" in planned
    assert not Path("b.h5").exists()
    with pytest.raises(plait.ArgumentError, match="or copy it to another HDF5 file"):
        plait.open(f"{source}::refs")


def test_a_damaged_source_is_an_error_and_leaves_no_target(source):
    data = bytearray(Path(source).read_bytes())
    with h5py.File(source) as file:
        sequences = file["g/sequences"]
        chunk = sequences.id.get_chunk_info(0)
    data[chunk.byte_offset : chunk.byte_offset + chunk.size] = bytes(chunk.size)
    Path("damaged.h5").write_bytes(data)
    with pytest.raises(plait.StoreError, match=r"g/sequences cannot be copied to b.h5 by HDF5"):
        plait.copy("damaged.h5", "b.h5")
    assert sorted(path.name for path in Path().iterdir()) == ["a.h5", "damaged.h5"]
