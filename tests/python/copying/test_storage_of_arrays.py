"""Copies whose arrays get different chunks, shards, codecs and unlimited dimensions, by names and patterns."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import plait
from plait.cli import main

SHAPE = (40, 12, 16)
VALUES = np.random.default_rng(3).integers(0, 9, SHAPE)
DIMENSIONS = {"time": None, "lat": 12, "lon": 16}
ARRAYS = ("time", "lat", "lon", "temp", "rain", "g/wind", "g/wind_flag")


@pytest.fixture(autouse=True)
def _source(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    netcdf = pytest.importorskip("netCDF4")
    with netcdf.Dataset("in.nc", "w") as file:
        for name, size in DIMENSIONS.items():
            file.createDimension(name, size)
            file.createVariable(name, "f8", (name,), chunksizes=(1,) if size is None else None)
            file[name][:] = np.arange(size or SHAPE[0])
        for name in ARRAYS[3:]:
            kind = "i1" if name.endswith("flag") else "f4"
            file.createVariable(name, kind, (*DIMENSIONS,), chunksizes=(1, 12, 16))[:] = VALUES


def run_copy(*arguments):
    """Run `plait copy`, and return its exit code and its output."""
    result = CliRunner().invoke(main, ["copy", *arguments])
    return result.exit_code, result.output


def check_values(url):
    for name in ARRAYS:
        with plait.open(f"{url}::{name}") as file:
            expected = VALUES if file.ndim == 3 else np.arange(file.shape[0])
            np.testing.assert_array_equal(file.read(), expected)


def chunks_in(url):
    return {info.name: info.chunks for info in plait.arrays_in(url)}


def test_the_last_pattern_that_matches_applies():
    chunks = {"*": (8, 4, 4), "wind*": {"time": 40, "lat": 3}, "g/wind_flag": (1, 1, 16), "rain": None}
    plait.copy("in.nc", "a.zarr", chunks=chunks)
    assert chunks_in("a.zarr") == {
        "time": (1024,),
        "lat": (12,),
        "lon": (16,),
        "temp": (8, 4, 4),
        "rain": (1, 12, 16),
        "g/wind": (40, 3, 16),
        "g/wind_flag": (1, 1, 16),
    }
    check_values("a.zarr")
    plait.copy("in.nc", "b.zarr", chunks={"/g/wind": (2, 2, 2), "*": (8, 4, 4)})
    assert chunks_in("b.zarr")["g/wind"] == (8, 4, 4)


@pytest.mark.parametrize("target", ["a.zarr", "a.nc"])
def test_codecs_of_arrays(target):
    codecs = {"*": "zstd:1", "*_flag": "zlib:1", "lat": "none", "lon": "deflate:9"}
    plait.copy("in.nc", target, codec=codecs)
    storage = {info.name: info.storage for info in plait.arrays_in(target)}
    deflate = "gzip" if target == "a.zarr" else "deflate 1"
    assert deflate in storage["g/wind_flag"]
    assert "zstd" in storage["temp"]
    assert "zstd" in storage["time"]
    assert deflate[:4] in storage["lon"]
    assert not re.search("zstd|gzip|deflate", storage["lat"])
    check_values(target)


def test_the_command_has_storage_options_of_arrays():
    arguments = ["--chunks", "auto:series:4K", "--chunks", "temp:time=8,lat=4", "--shards", "temp:16,12,16"]
    arguments += ["--codec", "zstd:1", "--codec", "*_flag:zlib:1", "--codec", "g/wind:none"]
    status, output = run_copy("in.nc", "a.zarr", *arguments)
    assert status == 0, output
    check_values("a.zarr")
    storage = {info.name: info.storage for info in plait.arrays_in("a.zarr")}
    assert storage["temp"].startswith("shards 16x12x16 of chunks 8x4x16") or "8x4x16" in storage["temp"], storage
    assert "gzip" in storage["g/wind_flag"]
    assert "zstd" in storage["rain"]
    assert "not packed" in storage["g/wind"]
    assert chunks_in("a.zarr")["rain"] == (40, 4, 6)
    status, output = run_copy("in.nc", "b.zarr", *arguments, "--dry-run")
    assert status == 0
    assert re.search(r"rain 40x12x16 float32 .* chunks of 40x4x6, once, zstd:1 ", output)
    assert re.search(r"g/wind_flag .*, gzip:1 ", output)
    assert re.search(r"g/wind 40x12x16 float32 .* once  +\d", output)


@pytest.mark.parametrize(
    ("option", "values", "expected"),
    [
        ("chunks", ["4,4,4"], [4, 4, 4]),
        ("chunks", ["4x4x4", "8,8,8"], [8, 8, 8]),
        ("chunks", ["temp:4,4,4"], {"temp": [4, 4, 4]}),
        ("chunks", ["temp:time=4", "lat=-1"], {"*": {"lat": -1}, "temp": {"time": 4}}),
        ("chunks", ["auto"], "auto"),
        ("chunks", ["auto:series:1m"], "auto:series:1m"),
        ("chunks", ["temp:auto:64MiB", "auto:maps:64 K"], {"*": "auto:maps:64 K", "temp": "auto:64MiB"}),
        ("chunks", ["a*:auto:64M", "b:auto:maps:1G"], {"a*": "auto:64M", "b": "auto:maps:1G"}),
        ("chunks", ["[a]uto:maps:auto"], {"[a]uto:maps": "auto"}),
        ("chunks", ["a:b:4,4"], {"a:b": [4, 4]}),
        ("chunks", ["a:1", "b:2", "a:3"], {"b": [2], "a": [3]}),
        ("shards", ["g/*:64x64"], {"g/*": [64, 64]}),
        ("codec", ["zlib:1"], "zlib:1"),
        ("codec", ["shuffle,gzip:4"], "shuffle,gzip:4"),
        ("codec", ["flag:zlib"], {"flag": "zlib"}),
        ("codec", ["*_flag:zlib:1", "zstd:-5"], {"*": "zstd:-5", "*_flag": "zlib:1"}),
        ("codec", ["a:b:shuffle,blosc-zstd:5"], {"a:b": "shuffle,blosc-zstd:5"}),
    ],
)
def test_the_grammar_of_the_options(monkeypatch, option, values, expected):
    from plait.cli.copying import running

    jobs = []

    def copy_here(job, comm, progress):
        jobs.append(job)
        return running.CopySummary(0, 0.0, 0.0, 0, 1, [], "f4", 1)

    monkeypatch.setattr(running, "copy_here", copy_here)
    arguments = [text for value in values for text in (f"--{option}", value)]
    assert run_copy("in.nc", "a.zarr", *arguments)[0] == 0
    assert jobs[0][option] == expected
    if isinstance(expected, dict):
        assert list(jobs[0][option]) == list(expected)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--chunks", "tmp:4,4,4"],
            "chunks were given for arrays 'tmp', but no array has such a name; the arrays are time",
        ),
        (["--codec", "x:zlib:1"], "a codec was given for arrays 'x', but no array has such a name"),
        (["--shards", "temp:auto"], "'temp:auto' are no sizes of chunks; write some such as 64,64,64"),
        (["--chunks", "temp:4,lat=4"], "names some dimensions and not others"),
        (["--chunks", "temp:"], "'temp:' are no sizes of chunks"),
        (["--chunks", ":4,4"], "':4,4' are no sizes of chunks"),
        (
            ["--chunks", "temp:level=4"],
            "chunks were given for the dimension 'level', but those of temp are 'time', 'lat'",
        ),
        (["--chunks", "temp:4,4"], "chunks has 2 sizes, but temp has 3 dimensions"),
        (["--codec", "temp:lzma"], 'codec "lzma" is not known'),
        (["--unlimited", "time,"], "'time,' are no names"),
        (["--unlimited", "time", "--fixed"], "--fixed leaves no dimension that can be extended"),
        (["--unlimited", "time"], "a.zarr has arrays that can be extended along every dimension"),
    ],
)
def test_invalid_options_are_errors(arguments, message):
    status, output = run_copy("in.nc", "a.zarr", *arguments)
    assert status != 0
    assert message in " ".join(output.split())
    with pytest.raises(plait.StoreError):
        plait.arrays_in("a.zarr")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"chunks": {"time": 4, "temp": (1, 2, 3)}}, "mixes sizes of dimensions and values for arrays"),
        ({"chunks": {("a",): (4,)}}, "has a key that is no name"),
        ({"codec": {"temp": 5}}, "codec=5 is not a codec"),
        ({"shards": "auto"}, "shards=a str are no sizes"),
        ({"unlimited": 1.5}, "is not a list of dimensions"),
        ({"unlimited": "level"}, "unlimited was given for the dimension 'level', but those of the arrays are 'time'"),
        ({"unlimited": (3,)}, "give names of these, or numbers from 0 to 2"),
        ({"consolidated": "no"}, "consolidated='no' is not known"),
    ],
)
def test_invalid_arguments_are_errors(options, message):
    with pytest.raises(plait.ArgumentError, match=message):
        plait.copy("in.nc", "a.nc", **options)


def test_coordinates_have_one_chunk_unless_they_are_named():
    plait.copy("in.nc", "a.zarr")
    assert chunks_in("a.zarr") == {
        **dict.fromkeys(ARRAYS[3:], (1, 12, 16)),
        "time": (1024,),
        "lat": (12,),
        "lon": (16,),
    }
    plait.copy("in.nc", "b.zarr", chunks={"*": {"time": 4, "lon": 4}, "lon": {"lon": 4}, "time": (20,)})
    assert {chunks_in("b.zarr")[name] for name in ("lat", "lon", "time")} == {(12,), (4,), (20,)}
    plait.copy("in.nc", "c.zarr", chunks="auto:4K")
    assert chunks_in("c.zarr")["time"] == (512,)  # all of 4 KiB


def test_dimensions_become_unlimited_or_fixed():
    netcdf = pytest.importorskip("netCDF4")

    def read_limits(name):
        """Return whether each dimension is unlimited, and the chunks of temp."""
        with netcdf.Dataset(name) as file:
            return [dimension.isunlimited() for dimension in file.dimensions.values()], file["temp"].chunking()

    plait.copy("in.nc", "fixed.nc", unlimited=())
    assert read_limits("fixed.nc") == ([False, False, False], [1, 12, 16])
    check_values("fixed.nc")
    assert run_copy("fixed.nc", "growing.nc", "--unlimited", "time,lat", "--codec", "zlib:1")[0] == 0
    assert read_limits("growing.nc")[0] == [True, True, False]
    check_values("growing.nc")
    with netcdf.Dataset("growing.nc", "a") as file:
        file["temp"][40:42] = 1
        assert file["g/wind"].shape == (42, 12, 16)
    assert run_copy("growing.nc", "again.nc", "--fixed")[0] == 0
    assert read_limits("again.nc")[0] == [False, False, False]
    plan = plait.copy("in.nc", "c.nc", unlimited="lon", codec={"temp": "zlib:2"}, dry_run=True).plan
    assert {array.name: (array.unlimited, array.codec) for array in plan} == {
        **dict.fromkeys(ARRAYS[3:], (("lon",), "")),
        "time": ((), ""),
        "lat": ((), ""),
        "lon": (("lon",), ""),
        "temp": (("lon",), "zlib:2"),
    }


def test_unlimited_dimensions_without_names_are_numbered():
    h5py = pytest.importorskip("h5py")
    with h5py.File("a.h5", "w") as file:
        file.create_dataset("a", data=np.ones((3, 4)), maxshape=(None, 4), chunks=(10, 4))
        file["b"] = np.ones(5)
    plait.copy("a.h5", "b.h5", unlimited=1)
    with h5py.File("b.h5") as file:
        assert (file["a"].maxshape, file["b"].maxshape, file["b"].chunks) == ((3, None), (5,), None)


def test_consolidated_metadata_is_optional():
    for options, expected in (([], True), (["--consolidated"], True), (["--no-consolidated"], False)):
        assert run_copy("in.nc", "a.zarr", *options)[0] == 0
        with open("a.zarr/zarr.json", encoding="utf-8") as file:
            assert ("consolidated_metadata" in json.load(file)) is expected
        check_values("a.zarr")
    plait.copy("in.nc", "r.zarr", consolidated=False, resume=True)
    with open("r.zarr/zarr.json", encoding="utf-8") as file:
        assert "consolidated_metadata" not in json.load(file)
    for target, source, message in (
        ("a.h5", "in.nc", "a.h5 has no metadata of Zarr"),
        ("b.zarr", "in.nc::temp", "b.zarr becomes an array without a group"),
        ("memory://storage/of/arrays.zarr", "in.nc", "is in an object store"),
    ):
        with pytest.raises(plait.ArgumentError, match=message):
            plait.copy(source, target, consolidated=True)


def test_a_copy_with_other_storage_options_is_not_resumed(monkeypatch):
    class StopError(Exception):
        pass

    def stop(done, total):
        raise StopError

    request = {"chunks": {"*": "auto:4K", "temp": (4, 4, 4)}, "codec": {"temp": "zstd:1"}}
    with pytest.raises(StopError):
        plait.copy("in.nc", "a.zarr", resume=True, progress=stop, **request)
    for change in ({"codec": {"temp": "zstd:2"}}, {"chunks": {"temp": (4, 4, 4)}}, {"consolidated": False}):
        with pytest.raises(plait.ArgumentError, match="leave resume out"):
            plait.copy("in.nc", "a.zarr", resume=True, **{**request, **change})
    result = plait.copy("in.nc", "a.zarr", resume=True, **request)
    assert result.resumed > 0
    check_values("a.zarr")


def test_shells_complete_automatic_sizes_and_codecs():
    from plait.cli.copying.storage_options import PatternCodec, PatternSizes

    def complete(kind, text):
        return [completion.value for completion in kind.shell_complete(None, None, text)]

    assert complete(PatternSizes(takes_auto=True), "auto:s") == ["auto:series"]
    assert complete(PatternSizes(takes_auto=True), "temp:auto:m") == ["temp:auto:maps"]
    assert complete(PatternSizes(), "a") == []
    assert complete(PatternCodec(), "zs") == ["zstd"]
    assert complete(PatternCodec(), "temp:bl") == ["temp:blosc", "temp:blosc-zstd"]
    assert complete(PatternCodec(), "zstd:") == []


def test_explicit_chunks_apply_to_coordinates():
    plait.copy("in.nc", "a.zarr", chunks=(1,))
    assert chunks_in("a.zarr")["time"] == (1,)
    check_values("a.zarr")


@pytest.mark.parametrize(
    ("chunks", "expected"), [(None, (1,)), ("auto", (20,)), ("auto:16", (2,)), ((5,), (5,))], ids=str
)
def test_coordinates_may_have_shards(chunks, expected):
    plait.copy("in.nc", "a.zarr", variable="time", shards=(20,), chunks=chunks)
    with plait.open("a.zarr") as file:
        np.testing.assert_array_equal(file.read(), np.arange(SHAPE[0]))
    metadata = json.loads(Path("a.zarr/zarr.json").read_text("utf-8"))
    assert metadata["chunk_grid"]["configuration"]["chunk_shape"] == [20]
    assert tuple(metadata["codecs"][0]["configuration"]["chunk_shape"]) == expected
