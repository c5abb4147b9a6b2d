"""Zarr chunks changed in place: crashes of the host, changes by several programs, and leftovers of killed programs."""

import fcntl
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from compiling import compile_program
from zarr_locations import Location, entries, zarr_store

import plait

zarr = pytest.importorskip("zarr")

SHAPE = (8, 8)
STORAGE_OPTIONS = [{"codec": "zstd:1"}, {"codec": "none"}, {"codec": "zstd:1", "shards": (4, 8)}]


def make_zeros(path: Location, **options: object) -> None:
    with plait.open(path, "w", shape=SHAPE, dtype="i4", chunks=(2, 4), **options) as file:
        file.write(np.zeros(SHAPE, "i4"))


def read_by_zarr(path: Location) -> np.ndarray:
    return zarr.open_array(zarr_store(path), mode="r")[...]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("options", STORAGE_OPTIONS)
@pytest.mark.parametrize("rows", [8, 280])  # few files are synced one by one, many by one call
def test_files_are_synced_before_they_are_renamed(tmp_path, options, rows):
    array = np.arange(rows * 8, dtype="i4").reshape(rows, 8)
    with plait.open(tmp_path / "a.zarr", "w", shape=array.shape, dtype="i4", chunks=(2, 4), **options) as file:
        file.write(array * 0)
    library = compile_program(tmp_path, Path(__file__).parent / "sync_order.c", "-shared", "-fPIC", "-ldl")
    program = (
        "import numpy as np, plait\n"
        "with plait.open('a.zarr', 'r+') as file:\n"
        f"    file.write(np.arange({rows} * 8, dtype='i4').reshape({rows}, 8))"
    )
    log = tmp_path / "log"
    environment = {**os.environ, "LD_PRELOAD": str(library), "SYNC_ORDER": str(log)}
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, env=environment, check=True)
    synced, is_all_synced, renamed = set(), False, set()
    for line in log.read_text().splitlines():
        call, path = line.split(" ", 1)
        if call == "sync":
            synced.add(path)
        elif call == "syncfs":
            is_all_synced = True
        elif call == "rename":
            assert path in synced or (is_all_synced and rows > 8), path
        else:  # the new name
            assert path not in renamed
            renamed.add(path)
    assert len(renamed) == rows // (4 if "shards" in options else 1)
    # The names are durable, too, before close() returns.
    assert {str(Path(path).parent) for path in renamed} <= synced or is_all_synced
    np.testing.assert_array_equal(read_by_zarr(tmp_path / "a.zarr"), array)


@pytest.mark.parametrize("options", STORAGE_OPTIONS)
def test_no_temporary_files_remain(location, options):
    path = location / "a.zarr"
    make_zeros(path, **options)
    with plait.open(path, "r+") as file:
        for value in range(1, 4):
            file.write(np.full((3, 8), value, "i4"), region=np.s_[value : value + 3])
            assert entries(path) == ["c", "zarr.json"]
            assert (read_by_zarr(path)[value : value + 3] == value).all()


def test_the_next_change_removes_leftovers_of_killed_programs(tmp_path):
    path = tmp_path / "a.zarr"
    make_zeros(path, codec="zstd:1")
    with subprocess.Popen([sys.executable, "-c", "pass"]) as dead:
        pass
    host = socket.gethostname()
    changes = path / ".plait-changes"
    names = [f".chunks.plait-{host}-{process}-0" for process in (dead.pid, os.getppid())] + [
        ".chunks.plait-elsewhere-1-0"
    ]
    for name in names:
        (changes / name).mkdir(parents=True)
        (changes / name / "0").write_bytes(b"half")
    with plait.open(path) as file:
        assert (file.read() == 0).all()
    assert sorted(os.listdir(changes)) == sorted(names)
    with plait.open(path, "r+") as file:
        file.write(np.ones(SHAPE, "i4"))
    assert sorted(os.listdir(changes)) == sorted(names[1:])
    assert (read_by_zarr(path) == 1).all()


WEEK = 7 * 24 * 3600  # seconds


@pytest.mark.parametrize(
    ("folder_age", "file_age", "locked", "remains"),
    [
        (0, 0, False, True),
        (WEEK - 3600, WEEK - 3600, False, True),
        (WEEK + 3600, WEEK - 3600, False, True),
        (WEEK - 3600, WEEK + 3600, False, True),
        (-WEEK, -WEEK, False, True),
        (WEEK + 3600, WEEK + 3600, True, True),
        (WEEK + 3600, WEEK + 3600, False, False),
    ],
)
def test_folders_of_other_hosts_are_removed_after_a_week(tmp_path, folder_age, file_age, locked, remains):
    path = tmp_path / "a.zarr"
    make_zeros(path, codec="zstd:1")
    folder = path / ".plait-changes" / ".chunks.plait-else-where-1-0"
    folder.mkdir(parents=True)
    (folder / "0").write_bytes(b"half")
    now = folder.stat().st_mtime
    os.utime(folder / "0", (now - file_age, now - file_age))
    os.utime(folder, (now - folder_age, now - folder_age))
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        if locked:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        with plait.open(path, "r+") as file:
            file.write(np.ones(SHAPE, "i4"))
    finally:
        os.close(descriptor)
    assert folder.exists() == remains
    assert folder.parent.exists() == remains
    assert (read_by_zarr(path) == 1).all()


CHANGE_FOREVER = """
import numpy as np, os, plait, signal, sys
with plait.open(sys.argv[1], "r+") as file:
    file.write(np.ones((8, 8), "i4"))
    print("written", flush=True)
    for value in range(2, 10**6):
        file.write(np.full((8, 8), value, "i4"))
"""


@pytest.mark.sampled(1)
@pytest.mark.parametrize("options", [STORAGE_OPTIONS[0], STORAGE_OPTIONS[2]])
def test_the_next_change_removes_folders_of_killed_programs(tmp_path, options):
    path = tmp_path / "a.zarr"
    make_zeros(path, **options)
    for _ in range(3):
        with subprocess.Popen([sys.executable, "-c", CHANGE_FOREVER, path], stdout=subprocess.PIPE) as program:
            assert program.stdout is not None
            assert program.stdout.readline() == b"written\n"
            program.send_signal(signal.SIGKILL)
        actual = read_by_zarr(path)
        for row, column in np.ndindex(4, 2):
            part = actual[2 * row : 2 * row + 2, 4 * column : 4 * column + 4]
            assert len(np.unique(part)) == 1
    with plait.open(path, "r+") as file:
        file.write(np.zeros(SHAPE, "i4"))
    assert sorted(os.listdir(path)) == ["c", "zarr.json"]


@pytest.mark.parametrize("options", STORAGE_OPTIONS)
def test_programs_that_change_whole_chunks_do_not_disturb_each_other(location, options):
    path = location / "a.zarr"
    make_zeros(path, **options)
    with plait.open(path, "r+") as first, plait.open(path, "r+") as other:
        for value in range(1, 5):
            first.write(np.full((4, 8), value, "i4"), region=np.s_[:4])
            other.write(np.full((4, 8), -value, "i4"), region=np.s_[4:])
    assert (read_by_zarr(path) == np.repeat([4, -4], 4)[:, None]).all()


CHANGE_COLUMNS = """
import numpy as np, plait, sys
path, begin, columns, count = sys.argv[1], *map(int, sys.argv[2:])
with plait.open(path, "r+") as file:
    for value in range(1, 1 + count):
        while True:
            try:
                file.write(np.full((8, columns), value, "i4"), region=np.s_[:, begin : begin + columns])
                break
            except plait.StoreError as error:
                assert "another program has changed it" in str(error), error
"""


@pytest.mark.sampled(1)
@pytest.mark.parametrize("options", [STORAGE_OPTIONS[0], STORAGE_OPTIONS[2]])
@pytest.mark.parametrize("columns", [2, 4])  # a part of each chunk, or of each shard
def test_concurrent_changes_are_not_lost(tmp_path, options, columns):
    path = tmp_path / "a.zarr"
    make_zeros(path, **options)
    programs = [
        subprocess.Popen([sys.executable, "-c", CHANGE_COLUMNS, path, *map(str, (begin, columns, 12))])
        for begin in range(0, 2 * columns, columns)
    ]
    assert [program.wait() for program in programs] == [0, 0]
    assert (read_by_zarr(path)[:, : 2 * columns] == 12).all()
    assert (read_by_zarr(path)[:, 2 * columns :] == 0).all()
    assert sorted(os.listdir(path)) == ["c", "zarr.json"]


CHANGE_ROW = """
import numpy as np, plait, sys
with plait.open(sys.argv[1], "r+") as file:
    row = int(sys.argv[3])
    file.write(np.full((1, 8), int(sys.argv[2]), "i4"), region=np.s_[row : row + 1])
"""


@pytest.mark.sampled(1)
@pytest.mark.parametrize("options", STORAGE_OPTIONS)
@pytest.mark.parametrize("row", [1, 2])  # in the same chunks, in the same shard
def test_concurrent_changes_of_one_chunk_are_an_error(tmp_path, options, row):
    """The second program gets an error, and the elements of the first program stay."""
    path = tmp_path / "a.zarr"
    make_zeros(path, **options)
    library = compile_program(tmp_path, Path(__file__).parent / "sync_order.c", "-shared", "-fPIC", "-ldl")
    (tmp_path / "row.py").write_text(CHANGE_ROW)
    # The first program runs while the second is about to sync its changed chunk.
    first = f"{sys.executable} row.py a.zarr 1 {row}"
    environment = {**os.environ, "LD_PRELOAD": str(library), "FIRST_SYNC": first}
    result = subprocess.run(
        [sys.executable, "row.py", "a.zarr", "2", "0"], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    is_conflict = options["codec"] != "none" and row < (4 if "shards" in options else 2)
    assert (result.returncode != 0) == is_conflict, result.stderr
    if is_conflict:
        assert "c/0/0: another program has changed it while a part of a chunk in it was changed here" in result.stderr
    expected = np.zeros(SHAPE, "i4")
    expected[0], expected[row] = 0 if is_conflict else 2, 1
    np.testing.assert_array_equal(read_by_zarr(path), expected)


@pytest.mark.parametrize("options", STORAGE_OPTIONS)
@pytest.mark.parametrize("is_removed", [True, False])
def test_an_array_replaced_during_a_change_is_an_error(tmp_path, options, is_removed):
    path = tmp_path / "a.zarr"
    make_zeros(path, **options)
    file = plait.open(path, "r+")
    file.write(np.ones(SHAPE, "i4"))
    if is_removed:
        os.rename(path, tmp_path / "former.zarr")
    else:
        make_zeros(path, **options)
    message = (
        "no longer there|has been removed|No such file"
        if is_removed
        else "it has been replaced by another program since"
    )
    for region in (np.s_[:8], np.s_[:1]):
        values = np.full((len(range(8)[region]), 8), 2, "i4")
        with pytest.raises(plait.StoreError, match=message):
            file.write(values, region=region)
    with pytest.raises(plait.StoreError, match=message):
        file.close()
    if is_removed:
        assert not path.exists()
    else:
        assert (read_by_zarr(path) == 0).all()
        assert sorted(os.listdir(path)) == ["c", "zarr.json"]


@pytest.mark.parametrize("written", [False, True])
def test_attributes_are_not_written_to_a_replacement_array(tmp_path, written):
    path = tmp_path / "a.zarr"
    make_zeros(path, codec="zstd:1")
    file = plait.open(path, "r+")
    if written:
        file.write(np.ones(SHAPE, "i4"))
    file.attrs["units"] = "K"
    make_zeros(path, codec="zstd:1")
    with pytest.raises(plait.StoreError, match=r"has been replaced by another program since .* write again$"):
        file.close()
    assert "units" not in zarr.open_array(path, mode="r").attrs
    assert (read_by_zarr(path) == 0).all()


@pytest.mark.parametrize("options", STORAGE_OPTIONS)
def test_elements_and_attributes_are_changed_concurrently(location, options):
    """Changed attributes replace the metadata file; this must not be mistaken for a replaced array."""
    path = location / "a.zarr"
    make_zeros(path, **options)
    with plait.open(path, "r+") as first, plait.open(path, "r+") as other:
        first.write(np.ones((4, 8), "i4"), region=np.s_[:4])
        other.attrs["units"] = "K"
        other.close()
        first.write(np.ones((4, 8), "i4"), region=np.s_[4:])
        first.attrs["name"] = "t"
    assert (read_by_zarr(path) == 1).all()
    assert dict(zarr.open_array(zarr_store(path), mode="r").attrs) == {"units": "K", "name": "t"}


ADD_ATTRIBUTES = """
import plait, sys
for number in range(12):
    with plait.open(sys.argv[1], "r+") as file:
        file.attrs[f"{sys.argv[2]}-{number}"] = number
"""


def test_concurrent_changes_of_attributes_are_not_lost(tmp_path):
    path = tmp_path / "a.zarr"
    make_zeros(path, codec="zstd:1")
    programs = [subprocess.Popen([sys.executable, "-c", ADD_ATTRIBUTES, path, str(program)]) for program in range(3)]
    assert [program.wait() for program in programs] == [0, 0, 0]
    attributes = dict(zarr.open_array(path, mode="r").attrs)
    assert attributes == {f"{program}-{number}": number for program in range(3) for number in range(12)}


@pytest.mark.parametrize(
    "options", [{"codec": "zstd:1"}, {"codec": "none"}, {"codec": "gzip:1", "shards": (1024, 512)}]
)
@pytest.mark.parametrize("memory", [1 << 20, 32 << 20])
def test_parts_of_large_chunks_are_changed(tmp_path, options, memory):
    """Each write covers only parts of most of the 1 MiB chunks, which exceed the buffers for incomplete chunks."""
    array = np.arange(1500 * 2500, dtype="i4").reshape(1500, 2500)
    with plait.open(tmp_path / "a.zarr", "w", shape=array.shape, dtype="i4", chunks=(512, 512), **options) as file:
        file.write(array)
    array = array.copy()
    with plait.open(tmp_path / "a.zarr", "r+", memory=memory) as file:
        for region in np.s_[100:1490, 3:2499], np.s_[::3, ::2], np.s_[511:1025, :]:
            array[region] += 7
            file.write(array[region], region=region)
    np.testing.assert_array_equal(read_by_zarr(tmp_path / "a.zarr"), array)
    assert entries(tmp_path) == ["a.zarr"]
