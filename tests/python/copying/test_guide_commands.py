"""The commands in the guide for users of other tools: each makes the same file as the other tool."""

import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import plait
from plait.cli import main

pytestmark = pytest.mark.usefixtures("nothing_left")

GUIDE = Path(__file__).parents[3] / "docs/guides/from-other-tools.md"
SHAPE = (64, 32, 32)
FIELD = np.arange(64 * 32 * 32, dtype="f4").reshape(SHAPE)
TABLE = np.arange(60 * 40, dtype="i4").reshape(60, 40)


def read_commands():
    """Return the commands in the right columns of the tables of the guide."""
    section = GUIDE.read_text(encoding="utf-8").split("\n## NCO", 1)[1].split("\n## Many files", 1)[0]
    return [line.rsplit("|", 2)[1].strip().strip("`") for line in section.splitlines() if line.startswith("| `")]


@pytest.fixture
def sources(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    netcdf = pytest.importorskip("netCDF4")
    with netcdf.Dataset("in.nc", "w") as file:
        for name, size in zip(("time", "lat", "lon"), SHAPE, strict=True):
            file.createDimension(name, size)
            file.createVariable(name, "f8", (name,))[:] = np.arange(size)
        file.createVariable("t2m", "f4", ("time", "lat", "lon"), zlib=True, chunksizes=(1, 32, 32))[:] = FIELD
    h5py = pytest.importorskip("h5py")
    with h5py.File("a.h5", "w") as file:
        file.create_dataset("data/expression", data=TABLE, chunks=(20, 1))
    np.save("a.npy", TABLE)
    options = {"chunks": (1, 32, 32), "codec": "zstd:1", "dimension_names": ("time", "lat", "lon")}
    with plait.open("in.zarr", "w", shape=SHAPE, dtype="f4", **options) as file:
        file.write(FIELD)


def open_chunks_and_array(name, **options):
    with plait.open(name, **options) as file:
        return file.chunks, np.asarray(file.read())


def check(target, chunks, array, **options):
    """Check the array of a target, and its chunks if `chunks` is not None."""
    actual_chunks, actual = open_chunks_and_array(target, **options)
    assert chunks in (None, actual_chunks)
    np.testing.assert_array_equal(actual, array)


def check_field(target, chunks, array=FIELD):
    check(f"{target}::/t2m", chunks, array)
    check(f"{target}::/lat", None, np.arange(32.0))


def check_unlimited_time(target, is_unlimited):
    from netCDF4 import Dataset

    check_field(target, (1, 32, 32))
    with Dataset(target) as file:
        assert [dimension.isunlimited() for dimension in file.dimensions.values()] == [is_unlimited, False, False]


def check_codecs(target, codec):
    assert {codec in info.storage for info in plait.arrays_in(target)} == {True}


def check_names(target, names):
    assert [info.name for info in plait.arrays_in(target)] == names


def check_not_consolidated(target):
    check_field(target, (1, 32, 32))
    assert "consolidated" not in Path(target, "zarr.json").read_text(encoding="utf-8")


def check_table(target, codec):
    check(f"{target}::/data/expression", (20, 1), TABLE)
    check_codecs(target, codec)


CHECKS = {
    "in.nc out.nc --variable t2m --region time=0:10": lambda: (
        check("out.nc::t2m", (1, 32, 32), FIELD[:10]),
        check_names("out.nc", ["t2m"]),
    ),
    "in.nc out.nc --region time=::4": lambda: check_field("out.nc", (1, 32, 32), FIELD[::4]),
    "in.nc out.nc --codec zlib:1": lambda: (check_field("out.nc", (1, 32, 32)), check_codecs("out.nc", "deflate 1")),
    "in.nc out.nc --chunks time=48,lat=4,lon=4": lambda: check_field("out.nc", (48, 4, 4)),
    "in.nc out.nc --fixed": lambda: check_unlimited_time("out.nc", is_unlimited=False),
    "in.nc out.nc --unlimited time": lambda: check_unlimited_time("out.nc", is_unlimited=True),
    "in.nc out.nc --axes lat,lon,time": lambda: check_field("out.nc", (32, 32, 1), FIELD.transpose(1, 2, 0)),
    "in.nc out.nc --unpack": lambda: check_field("out.nc", (1, 32, 32)),
    "in.nc out.nc --chunks time=48,lat=4,lon=4 --codec zlib:1": lambda: (
        check_field("out.nc", (48, 4, 4)),
        check_codecs("out.nc", "deflate 1"),
    ),
    "in.nc out.nc --chunks lon=4,lat=4,time=48 --memory 100M": lambda: check_field("out.nc", (48, 4, 4)),
    "in.nc out.nc --chunks t2m:48,4,4": lambda: check_field("out.nc", (48, 4, 4)),
    "in.nc out.nc --codec none": lambda: check_field("out.nc", (1, 32, 32)),
    "in.nc out.nc --variable t2m": lambda: (
        check("out.nc::t2m", (1, 32, 32), FIELD),
        check_names("out.nc", ["t2m"]),
    ),
    "a.h5 b.h5 --chunks /data/expression:60x10 --codec /data/expression:gzip:1": lambda: (
        check("b.h5::/data/expression", (60, 10), TABLE),
        check_codecs("b.h5", "deflate 1"),
    ),
    "a.h5 b.h5 --codec gzip:1": lambda: check_table("b.h5", "deflate 1"),
    "a.h5 b.h5 --codec none": lambda: check_table("b.h5", "chunks 20x1"),
    "a.h5::/data/expression b.bin": lambda: check("b.bin", None, TABLE, shape=(60, 40), dtype="i4"),
    "in.zarr out.zarr --chunks time=2920,lat=25,lon=1 --memory 1G": lambda: check("out.zarr", (2920, 25, 1), FIELD),
    "in.nc out.zarr --chunks time=48": lambda: check_field("out.zarr", (48, 32, 32)),
    "in.nc out.zarr --chunks t2m:48,4,4": lambda: check_field("out.zarr", (48, 4, 4)),
    "in.nc out.zarr --no-consolidated": lambda: check_not_consolidated("out.zarr"),
    "in.zarr out.zarr --chunks auto": lambda: check("out.zarr", SHAPE, FIELD),
    "in.zarr out.zarr --chunks 4,4,4": lambda: check("out.zarr", (4, 4, 4), FIELD),
    "in.zarr out.zarr --shards 32,32,32 --chunks 16,16,16": lambda: check("out.zarr", (16, 16, 16), FIELD),
    "in.zarr out.zarr": lambda: check("out.zarr", (1, 32, 32), FIELD),
    "a.npy b.npy --axes 1,0": lambda: np.testing.assert_array_equal(np.load("b.npy"), TABLE.T),
    "a.npy b.npy --target-order F": lambda: np.testing.assert_array_equal(np.load("b.npy"), TABLE),
    'a.npy b.npy --target-dtype ">f4" --cast same_kind': lambda: check("b.npy", None, TABLE.astype(">f4")),
}


def test_all_commands_of_the_tables_are_checked():
    assert list(dict.fromkeys(command.removeprefix("plait copy ") for command in read_commands())) == list(CHECKS)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("command", CHECKS)
def test_a_command_has_the_documented_result(sources, command):
    run = CliRunner().invoke(main, ["copy", *shlex.split(command), "--verify"])
    assert run.exit_code == 0, run.output
    CHECKS[command]()
    assert not re.search("error", run.output, re.IGNORECASE)
