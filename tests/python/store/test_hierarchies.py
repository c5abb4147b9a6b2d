"""Lists of the arrays of Zarr hierarchies in object stores, in few requests."""

import json
import urllib.parse
import warnings

import numpy as np
import pytest

import plait
from plait import _core

zarr = pytest.importorskip("zarr")


@pytest.fixture
def bucket(request):
    return f"s3://bucket-{abs(hash(request.node.name)) % 10**9}"


def write_hierarchy(folder, version, consolidated):
    """Write a hierarchy with 33 arrays, one of them in a group of a group, and return their names."""
    root = zarr.open_group(folder, mode="w", zarr_format=version, attributes={"title": "run"})
    names = [f"v{i:02}" for i in range(30)] + ["g/a", "g/h/b", "g/ü %"]
    for i, name in enumerate(names):
        array = root.create_array(name, shape=(3, i + 1), chunks=(2, 2), dtype="i4", attributes={"number": i})
        array[:] = i
    if consolidated:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            zarr.consolidate_metadata(folder, zarr_format=version)
    return names


def read_files(folder):
    """Return the content of all files by their relative paths."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def put_objects(folder, url):
    """Copy the files of a folder to objects."""
    objects = _core.open_objects(url)
    for name, content in read_files(folder).items():
        objects.put(name, content)


def list_arrays(url):
    """Return the shape and the attribute "number" of each array by its name."""
    return {info.name: (info.shape, info.attributes["number"]) for info in plait.arrays_in(url)}


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("consolidated", [True, False])
def test_a_list_takes_one_request_for_each_group(server, bucket, tmp_path, version, consolidated):
    names = write_hierarchy(tmp_path / "a.zarr", version, consolidated)
    url = f"{bucket}/a.zarr"
    put_objects(tmp_path / "a.zarr", url)
    expected = {name: ((3, i + 1), i) for i, name in enumerate(names)}
    assert list_arrays(tmp_path / "a.zarr") == expected
    server.set_faults(delay=0.02)
    server.take_log()
    assert list_arrays(url) == expected
    log = server.take_log()
    lists = [entry for entry in log if "list-type" in entry["query"]]
    assert len(lists) == len(["", "g/", "g/h/"])
    assert len({entry["peer"] for entry in log}) > 8, "the requests use many connections"
    assert {group.name for group in plait.groups_in(url)} == {"", "g", "g/h"}
    assert set(list_arrays(f"{url}::g")) == {"g/a", "g/h/b", "g/ü %"}
    np.testing.assert_array_equal(plait.open(f"{url}::g/h/b").read(), np.full((3, 32), 31))


@pytest.mark.parametrize("version", [2, 3])
def test_consolidated_metadata_replace_lists_of_http(server, tmp_path, version):
    names = write_hierarchy(tmp_path / "a.zarr", version, True)
    for name, content in read_files(tmp_path / "a.zarr").items():
        server.publish(f"{version}/a.zarr/{urllib.parse.quote(name)}", content)
    url = f"{server.endpoint}/public/{version}/a.zarr"
    assert list_arrays(url) == {name: ((3, i + 1), i) for i, name in enumerate(names)}
    assert set(list_arrays(f"{url}::g")) == {"g/a", "g/h/b", "g/ü %"}
    np.testing.assert_array_equal(plait.open(f"{url}::g/ü %").read(), np.full((3, 33), 32))


@pytest.mark.parametrize("version", [2, 3])
def test_outdated_consolidated_metadata_hide_nothing(server, bucket, tmp_path, version):
    write_hierarchy(tmp_path / "a.zarr", version, True)
    zarr.create_array(
        tmp_path / "a.zarr" / "new", shape=(4,), dtype="f8", zarr_format=version, attributes={"number": 7}
    )
    put_objects(tmp_path / "a.zarr", f"{bucket}/a.zarr")
    assert list_arrays(f"{bucket}/a.zarr")["new"] == ((4,), 7)


def test_members_of_the_other_version_are_listed(server, bucket, tmp_path):
    for outer, inner in ((2, 3), (3, 2)):
        zarr.open_group(tmp_path / f"{outer}.zarr", mode="w", zarr_format=outer)
        zarr.create_array(
            tmp_path / f"{outer}.zarr" / "a", shape=(4,), dtype="f8", zarr_format=inner, attributes={"number": 7}
        )
        put_objects(tmp_path / f"{outer}.zarr", f"{bucket}/{outer}.zarr")
        assert list_arrays(f"{bucket}/{outer}.zarr") == {"a": ((4,), 7)}


def test_damaged_members_do_not_hide_the_others(server, bucket, tmp_path):
    write_hierarchy(tmp_path / "a.zarr", 3, False)
    put_objects(tmp_path / "a.zarr", f"{bucket}/a.zarr")
    objects = _core.open_objects(f"{bucket}/a.zarr")
    objects.put("v07/zarr.json", b"{")
    objects.put("v08/zarr.json", b" " * (17 << 20))
    errors = {info.name: info.error for info in plait.arrays_in(f"{bucket}/a.zarr")}
    assert len(errors) == 33
    assert "is not JSON" in errors["v07"]
    assert "17825792 bytes" in errors["v08"]
    assert sum(not reason for reason in errors.values()) == 31


@pytest.mark.parametrize("metadata", [{}, {"metadata": {}}, {"metadata": 5}, None, "no"])
def test_damaged_consolidated_metadata_are_ignored(server, tmp_path, metadata):
    write_hierarchy(tmp_path / "a.zarr", 3, False)
    contents = read_files(tmp_path / "a.zarr")
    document = json.loads(contents["zarr.json"])
    contents["zarr.json"] = json.dumps({**document, "consolidated_metadata": metadata}).encode()
    for name, content in contents.items():
        server.publish(f"damaged/a.zarr/{urllib.parse.quote(name)}", content)
    with pytest.raises(plait.StoreError, match="HTTP servers do not list their objects"):
        plait.arrays_in(f"{server.endpoint}/public/damaged/a.zarr")


def test_new_arrays_remove_consolidated_metadata(server, bucket, tmp_path):
    write_hierarchy(tmp_path / "a.zarr", 3, True)
    url = f"{bucket}/a.zarr"
    put_objects(tmp_path / "a.zarr", url)
    with plait.open(f"{url}::g/new", "w", shape=(5,), dtype="i4", attributes={"number": 99}) as file:
        file.write(np.arange(5, dtype="i4"))
    assert list_arrays(url)["g/new"] == ((5,), 99)


def test_replaced_arrays_are_removed_with_many_requests_in_flight(server, bucket):
    url = f"{bucket}/a.zarr"
    with plait.open(url, "w", shape=(100, 4), dtype="i4", chunks=(1, 4)) as file:
        file.write(np.ones((100, 4), "i4"))
    server.set_faults(delay=0.02)
    server.take_log()
    with plait.open(url, "w", shape=(3, 4), dtype="i4") as file:
        file.write(np.zeros((3, 4), "i4"))
    removed = [entry for entry in server.take_log() if entry["method"] == "DELETE"]
    assert removed[0]["path"].endswith("a.zarr/zarr.json"), "without metadata no program finds a part of the array"
    assert len({entry["path"] for entry in removed}) == 101
    assert len({entry["peer"] for entry in removed}) > 8
    np.testing.assert_array_equal(plait.open(url).read(), np.zeros((3, 4)))
    assert len(_core.open_objects(url).names()) == 2


@pytest.mark.parametrize("version", [2, 3])
def test_consolidated_metadata_replace_lists_on_request(server, bucket, tmp_path, version):
    """Consolidated metadata replaces all lists, even if it is outdated."""
    names = write_hierarchy(tmp_path / "a.zarr", version, True)
    url = f"{bucket}/a.zarr"
    put_objects(tmp_path / "a.zarr", url)
    expected = {name: ((3, i + 1), i) for i, name in enumerate(names)}
    server.take_log()
    assert list_arrays(f"{url}?consolidated=true") == expected
    log = server.take_log()
    assert not [entry for entry in log if "list-type" in entry["query"]]
    assert len(log) < 15
    assert set(list_arrays(f"{url}?consolidated=true::g")) == {"g/a", "g/h/b", "g/ü %"}
    np.testing.assert_array_equal(plait.open(f"{url}?consolidated=true::g/h/b").read(), np.full((3, 32), 31))
    objects = _core.open_objects(url)
    for name in objects.names():
        if name.startswith("v00/"):
            objects.remove(name)
    assert set(list_arrays(f"{url}?consolidated=true")) == set(names)
    assert set(list_arrays(f"{url}?consolidated=false")) == set(list_arrays(url)) == set(names) - {"v00"}


def test_a_source_with_options_is_protected(server, bucket, tmp_path):
    """An option of a name does not hide that two names are one array, or parts of one hierarchy."""
    names = write_hierarchy(tmp_path / "a.zarr", 3, True)
    url = f"{bucket}/a.zarr"
    put_objects(tmp_path / "a.zarr", url)
    for option in ("consolidated=true", f"endpoint={server.endpoint}", "region=eu-test-1", "conditions=off"):
        option_first = f"{bucket}?{option.replace('/', '%2F')}/a.zarr"
        pairs = [(f"{url}?{option}", target) for target in (url, f"{url}/", option_first)] + [(url, option_first)]
        pairs += [(f"{url}?{option}::v00", f"{url}::v00"), (f"{option_first}::v00", f"{url}/v00/b.zarr")]
        for source, target in pairs:
            with pytest.raises(plait.ArgumentError, match=r"source itself|parts of one hierarchy"):
                plait.copy(source, target)
    assert set(list_arrays(url)) == set(names)


def test_options_of_the_target_apply_to_all_its_arrays(server, bucket, tmp_path, monkeypatch):
    """Arrays are added at the server that the options of the target state, and removed there if the copy fails."""
    names = write_hierarchy(tmp_path / "a.zarr", 3, False)
    monkeypatch.delenv("AWS_ENDPOINT_URL")
    target = f"{bucket}?endpoint={urllib.parse.quote(server.endpoint, safe='')}/b.zarr"
    with pytest.raises(ValueError, match="stopped here"):
        plait.copy(tmp_path / "a.zarr", target, progress=_fail)
    assert _core.open_objects(target).names() == []
    plait.copy(tmp_path / "a.zarr", target)
    assert set(list_arrays(target)) == set(names)


def _fail(*_arguments):
    raise ValueError("stopped here")


def test_the_server_is_part_of_the_identity_of_an_object(server, bucket):
    """Buckets of one name on two servers have nothing in common."""
    location, other_location = (
        _core.locate_new(f"{bucket}/a.zarr{option}") for option in ("", "?endpoint=http://127.0.0.1:1")
    )
    assert location.id != other_location.id
    assert location.id == _core.locate_new(f"{bucket}/a.zarr?endpoint={server.endpoint}/&region=x").id


def test_the_argument_of_xarray_precedes_the_option_of_the_name(server, bucket, tmp_path, monkeypatch):
    """The options may be at several positions of the name."""
    xarray = pytest.importorskip("xarray")
    write_hierarchy(tmp_path / "a.zarr", 3, True)
    put_objects(tmp_path / "a.zarr", f"{bucket}/a.zarr")
    names = (
        f"{bucket}/a.zarr",
        f"{bucket}?region=eu-test-1/a.zarr",
        f"{bucket}/a.zarr?region=eu-test-1",
        f"{bucket}/a.zarr?consolidated=false",
        f"{bucket}?consolidated=false/a.zarr",
        f"zarr:{bucket}/a.zarr",
    )
    for name in names:
        server.take_log()
        with xarray.open_dataset(name, engine="plait", consolidated=True) as dataset:
            assert len(dataset) == 30
        assert not [entry for entry in server.take_log() if "list-type" in entry["query"]]
    with xarray.open_dataset(f"{bucket}/a.zarr?consolidated=true", engine="plait", consolidated=False):
        assert [entry for entry in server.take_log() if "list-type" in entry["query"]]
    monkeypatch.setenv("NO_PROXY", "::1")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    with pytest.raises(plait.Error, match=r"\[::1\]:1"):
        xarray.open_dataset(f"{bucket}/a.zarr?endpoint=http://[::1]:1", engine="plait", consolidated=True)


def test_missing_consolidated_metadata_are_an_error(server, bucket, tmp_path):
    """Names that request consolidated metadata are errors if there is none."""
    for version in (2, 3):
        write_hierarchy(tmp_path / f"{version}.zarr", version, False)
        put_objects(tmp_path / f"{version}.zarr", f"{bucket}/{version}.zarr")
        for name in ("", "::g", "::v00", "/v00", "/g"):
            file, _, array = name.partition("::")
            url = f"{bucket}/{version}.zarr{file}?consolidated=true" + (f"::{array}" if array else "")
            for function in (plait.arrays_in, plait.open):
                with pytest.raises(plait.StoreError, match="it has none; write them"):
                    function(url)
    with pytest.raises(plait.StoreError, match="there is no Zarr array or group"):
        plait.arrays_in(f"{bucket}/absent.zarr?consolidated=true")
    write_hierarchy(tmp_path / "a.zarr", 3, False)
    put_objects(tmp_path / "a.zarr", f"{bucket}/a.zarr")
    with pytest.raises(plait.ArgumentError, match='option consolidated is "yes"; expected true or false'):
        list_arrays(f"{bucket}/a.zarr?consolidated=yes")
    with pytest.raises(plait.ArgumentError, match='option consolidated is "1"; expected true or false'):
        plait.open(f"{bucket}/a.zarr?consolidated=1::g/a")


def test_xarray_lists_nothing_with_consolidated_metadata(server, bucket, tmp_path):
    xarray = pytest.importorskip("xarray")
    write_hierarchy(tmp_path / "a.zarr", 3, True)
    url = f"{bucket}/a.zarr"
    put_objects(tmp_path / "a.zarr", url)
    list_counts = []
    for consolidated in (None, True):
        server.take_log()
        with xarray.open_dataset(url, engine="plait", consolidated=consolidated) as dataset:
            assert len(dataset.variables) == 30
            np.testing.assert_array_equal(dataset["v03"].values, np.full((3, 4), 3))
        tree = xarray.open_datatree(url, engine="plait", consolidated=consolidated)
        assert set(tree.groups) == {"/", "/g", "/g/h"}
        list_counts.append(len([entry for entry in server.take_log() if "list-type" in entry["query"]]))
    assert list_counts[0] > 0
    assert list_counts[1] == 0
    with xarray.open_dataset(tmp_path / "a.zarr", engine="plait", consolidated=True) as dataset:
        assert len(dataset.variables) == 30


@pytest.mark.parametrize("version", [2, 3])
def test_arrays_are_opened_by_consolidated_metadata(server, bucket, tmp_path, version):
    """Opening all arrays takes no request for each; their elements are read from their chunks."""
    names = write_hierarchy(tmp_path / "a.zarr", version, True)
    url = f"{bucket}/a.zarr"
    put_objects(tmp_path / "a.zarr", url)
    server.take_log()
    files = [plait.open(f"{url}?consolidated=true::{name}") for name in names]
    assert len(server.take_log()) < 8
    for i, (name, file) in enumerate(zip(names, files, strict=True)):
        assert (file.shape, file.attrs["number"]) == ((3, i + 1), i)
        np.testing.assert_array_equal(file.read(), np.full((3, i + 1), i), err_msg=name)
        file.close()
    assert all("/c/" in entry["path"] or entry["path"].rpartition("/")[2][0].isdigit() for entry in server.take_log())
    with pytest.raises(plait.StoreError, match="have no array or group of this name"):
        plait.open(f"{url}?consolidated=true::v99")
    with pytest.raises(plait.ArgumentError, match="is a group, which holds 3 arrays"):
        plait.open(f"{url}?consolidated=true::g")


def test_writers_remove_consolidated_metadata(server, bucket, tmp_path):
    """They change the metadata of the array itself, so the consolidated copies of it would be outdated."""
    write_hierarchy(tmp_path / "a.zarr", 3, True)
    url = f"{bucket}/a.zarr"
    put_objects(tmp_path / "a.zarr", url)
    consolidated = f"{url}?consolidated=true"
    assert plait.open(f"{consolidated}::v03").attrs["number"] == 3
    with plait.open(f"{consolidated}::v03", "r+") as file:
        file.attrs["number"] = 7
        file[0, 0] = 70
    assert plait.open(f"{url}::v03").attrs["number"] == 7
    for function in (plait.arrays_in, lambda name: plait.open(f"{name}::v03")):
        with pytest.raises(plait.StoreError, match="it has none"):
            function(consolidated)
    with plait.open(f"{consolidated}::new", "w", shape=(2,), dtype="i4", attributes={"number": 1}) as file:
        file.write(np.ones(2, "i4"))
    assert list_arrays(url)["new"] == ((2,), 1)


def test_changed_consolidated_metadata_are_read_again(server, bucket, tmp_path):
    """Listing arrays always compares the ETag of the metadata; opening an array does so only after some seconds."""
    write_hierarchy(tmp_path / "a.zarr", 3, True)
    url = f"{bucket}/a.zarr"
    put_objects(tmp_path / "a.zarr", url)
    assert "v01" in list_arrays(f"{url}?consolidated=true")
    document = json.loads((tmp_path / "a.zarr/zarr.json").read_bytes())
    del document["consolidated_metadata"]["metadata"]["v01"]
    document["consolidated_metadata"]["metadata"]["v02"]["attributes"]["number"] = 5
    objects = _core.open_objects(url)
    objects.put("zarr.json", json.dumps(document).encode())
    server.take_log()
    arrays = list_arrays(f"{url}?consolidated=true")
    assert "v01" not in arrays
    assert arrays["v02"] == ((3, 3), 5)
    assert plait.open(f"{url}?consolidated=true::v02").attrs["number"] == 5
    server.take_log()
    list_arrays(f"{url}?consolidated=true")
    reads = [entry for entry in server.take_log() if entry["method"] == "GET"]
    assert ["if-none-match" in entry["headers"] for entry in reads] == [True]
