"""The cache of objects on a local disk (PLAIT_CACHE): fetched bytes are validated by ETags and not fetched again."""

import io
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import plait

ARRAY = np.random.default_rng(5).random((700, 900))
READ = """
import sys
import numpy as np
import plait
with plait.open(sys.argv[1]) as file:
    np.save(sys.argv[2], file.read())
"""


@pytest.fixture
def cache(monkeypatch, tmp_path):
    """Switch the cache on, and return the folder of its entries."""
    monkeypatch.setenv("PLAIT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "plait-cache-v1"


def npy_bytes(array=ARRAY):
    """Return the content of a .npy file."""
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def list_entries(folder):
    return [path for path in folder.glob("??/*") if path.is_file()]


def cached_bytes(folder):
    return sum(path.stat().st_size for path in list_entries(folder))


def start_reader(url, out):
    """Start a process, which has nothing in memory, that reads an array and saves it in the file `out`."""
    return subprocess.Popen([sys.executable, "-c", READ, url, str(out)])


def read_elsewhere(url, tmp_path):
    """Return an array that another process has read."""
    process = start_reader(url, tmp_path / "out.npy")
    assert process.wait(120) == 0
    return np.load(tmp_path / "out.npy")


def take_gets(server):
    """Return (range, whether it has If-None-Match) of each GET since the last call."""
    return [
        (request["range"], "if-none-match" in request["headers"])
        for request in server.take_log()
        if request["method"] == "GET"
    ]


@pytest.mark.parametrize("scheme", ["http", "s3"])
def test_one_object_is_fetched_once(server, tmp_path, cache, scheme):
    url = server.publish("a.npy", npy_bytes())
    url = url if scheme == "http" else "s3://public/a.npy"
    np.testing.assert_array_equal(read_elsewhere(url, tmp_path), ARRAY)
    assert len(take_gets(server)) > 1
    assert ARRAY.nbytes < cached_bytes(cache) < 1.1 * ARRAY.nbytes
    for _ in range(2):
        np.testing.assert_array_equal(read_elsewhere(url, tmp_path), ARRAY)
        assert take_gets(server) == [("bytes=0-65535", True)], "only the ETag is compared"
    with plait.open(url) as file:
        np.testing.assert_array_equal(file.read(region=np.s_[3:500:7, 5:77]), ARRAY[3:500:7, 5:77])
    assert take_gets(server) == [("bytes=0-65535", True)]
    assert oct(cache.stat().st_mode & 0o777) == oct(0o700)


def test_a_small_object_is_cached(server, tmp_path, cache):
    url = server.publish("small.npy", npy_bytes(ARRAY[:1, :20]))
    np.testing.assert_array_equal(read_elsewhere(url, tmp_path), ARRAY[:1, :20])
    server.take_log()
    np.testing.assert_array_equal(read_elsewhere(url, tmp_path), ARRAY[:1, :20])
    assert all(is_conditional for _, is_conditional in take_gets(server))
    assert list_entries(cache)


@pytest.mark.parametrize("options", [{}, {"shards": (200, 300)}, {"codec": "zstd"}])
def test_chunks_are_validated_and_not_fetched_again(server, tmp_path, cache, options):
    url = "s3://b/chunks.zarr"
    with plait.open(url, "w", shape=ARRAY.shape, dtype="f8", chunks=(100, 150), **options) as file:
        file.write(ARRAY)
    np.testing.assert_array_equal(read_elsewhere(url, tmp_path), ARRAY)
    first_count = len(take_gets(server))
    before = cached_bytes(cache)
    assert before > 0.8 * ARRAY.nbytes
    np.testing.assert_array_equal(read_elsewhere(url, tmp_path), ARRAY)
    later_gets = take_gets(server)
    assert len(later_gets) <= first_count
    assert all(is_conditional for _, is_conditional in later_gets)
    assert cached_bytes(cache) == before, "nothing was fetched again"
    with plait.open(url, "r+") as file:
        file.write(-ARRAY[:10], region=np.s_[:10])
    changed = np.concatenate([-ARRAY[:10], ARRAY[10:]])
    np.testing.assert_array_equal(read_elsewhere(url, tmp_path), changed)
    np.testing.assert_array_equal(read_elsewhere(url, tmp_path), changed)


@pytest.mark.parametrize("options", [{}, {"shards": (200, 300)}])
def test_an_open_array_is_not_stale(server, cache, options):
    """Another writer replaces chunks that the cache has."""
    url = "s3://b/open.zarr"
    with plait.open(url, "w", shape=ARRAY.shape, dtype="f8", chunks=(100, 150), **options) as file:
        file.write(ARRAY)
    with plait.open(url) as file:
        for factor in (1, -1, 2):
            with plait.open(url, "r+") as other:
                other.write(factor * ARRAY)
            for _ in range(2):
                np.testing.assert_array_equal(file.read(), factor * ARRAY)
                np.testing.assert_array_equal(file.read(region=np.s_[:7, :9]), factor * ARRAY[:7, :9])


def test_zip_files_are_cached(server, tmp_path, cache):
    zarr = pytest.importorskip("zarr")
    store = zarr.storage.ZipStore(tmp_path / "made.zip", mode="w")
    zarr.create_array(store, shape=ARRAY.shape, chunks=(100, 100), dtype="f8")[...] = ARRAY
    store.close()
    url = server.publish("z.zarr.zip", (tmp_path / "made.zip").read_bytes())
    np.testing.assert_array_equal(read_elsewhere(url, tmp_path), ARRAY)
    server.take_log()
    np.testing.assert_array_equal(read_elsewhere(url, tmp_path), ARRAY)
    later_gets = take_gets(server)
    assert all(is_conditional for _, is_conditional in later_gets)
    assert len(later_gets) <= 2


def test_a_replaced_object_is_read_anew(server, tmp_path, cache):
    url = server.publish("r.npy", npy_bytes())
    np.testing.assert_array_equal(read_elsewhere(url, tmp_path), ARRAY)
    server.publish("r.npy", npy_bytes(-ARRAY))
    np.testing.assert_array_equal(read_elsewhere(url, tmp_path), -ARRAY)
    with plait.open(url) as file:
        server.publish("r.npy", npy_bytes(2 * ARRAY))
        # The cache has all of the content that was opened, so that a read returns that, never a mixture.
        np.testing.assert_array_equal(file.read(), -ARRAY)
    np.testing.assert_array_equal(read_elsewhere(url, tmp_path), 2 * ARRAY)
    assert cache.is_dir()


@pytest.mark.parametrize("damage", ["flip", "cut", "empty", "zeros"])
def test_damaged_entries_are_fetched_again(server, tmp_path, cache, damage):
    url = server.publish("d.npy", npy_bytes())
    read_elsewhere(url, tmp_path)
    for path in list_entries(cache):
        content = bytearray(path.read_bytes())
        content[-1] ^= 1
        if damage == "cut":
            del content[-10:]
        elif damage == "empty":
            content.clear()
        elif damage == "zeros":
            content = bytearray(len(content))
        path.write_bytes(content)
    server.take_log()
    np.testing.assert_array_equal(read_elsewhere(url, tmp_path), ARRAY)
    assert len(take_gets(server)) > 1
    np.testing.assert_array_equal(read_elsewhere(url, tmp_path), ARRAY)
    assert take_gets(server) == [("bytes=0-65535", True)]


def test_the_size_of_the_cache_is_bounded(server, tmp_path, cache, monkeypatch):
    monkeypatch.setenv("PLAIT_CACHE_SIZE", "2M")
    url = server.publish("b.npy", npy_bytes())
    for _ in range(3):
        np.testing.assert_array_equal(read_elsewhere(url, tmp_path), ARRAY)
        assert 1 << 20 < cached_bytes(cache) <= 2 << 20
    small = server.publish("small.npy", npy_bytes(ARRAY[:30]))
    for _ in range(2):
        np.testing.assert_array_equal(read_elsewhere(small, tmp_path), ARRAY[:30])
        np.testing.assert_array_equal(read_elsewhere(url, tmp_path), ARRAY)
        assert cached_bytes(cache) <= 2 << 20


def test_entries_that_were_used_last_remain(server, tmp_path, cache, monkeypatch):
    monkeypatch.setenv("PLAIT_CACHE_SIZE", "2M")
    part = npy_bytes(ARRAY[:100])  # 720 kB
    used, unused = (server.publish(f"{name}.npy", part) for name in ("used", "unused"))
    read_elsewhere(used, tmp_path)
    read_elsewhere(unused, tmp_path)
    for path in list_entries(cache):  # an hour passes
        past = time.time() - 3600
        os.utime(path, (past, past))
    read_elsewhere(used, tmp_path)
    server.take_log()
    read_elsewhere(server.publish("new.npy", part), tmp_path)
    server.take_log()
    read_elsewhere(used, tmp_path)
    assert take_gets(server) == [("bytes=0-65535", True)]
    read_elsewhere(unused, tmp_path)
    assert len(take_gets(server)) > 1


def test_several_processes_share_the_cache(server, tmp_path, cache, monkeypatch):
    monkeypatch.setenv("PLAIT_CACHE_SIZE", "4M")
    urls = [server.publish(f"p{i}.npy", npy_bytes((i + 1) * ARRAY)) for i in range(2)]
    for _ in range(2):
        processes = [start_reader(urls[i % 2], tmp_path / f"{i}.npy") for i in range(4)]
        for i, process in enumerate(processes):
            assert process.wait(120) == 0
            np.testing.assert_array_equal(np.load(tmp_path / f"{i}.npy"), (i % 2 + 1) * ARRAY)
    assert list((cache / "unfinished").iterdir()) == []
    # Each process may add a sixteenth before it counts the files of the others.
    assert cached_bytes(cache) <= (4 << 20) * (1 + 4 / 16)


def test_killed_processes_do_not_damage_the_cache(server, tmp_path, cache):
    url = server.publish("k.npy", npy_bytes(np.tile(ARRAY, (4, 1))))
    for number in (1, 3, 20, 60):  # entries of blocks; the object has two other entries
        process = start_reader(url, tmp_path / "killed.npy")
        while len(list_entries(cache)) < 2 + number and process.poll() is None:
            time.sleep(0.001)
        process.send_signal(signal.SIGKILL)
        process.wait()
    (cache / "unfinished").mkdir(parents=True, exist_ok=True)
    leftover = cache / "unfinished" / ("0123" * 12)
    leftover.write_bytes(b"half")
    os.utime(leftover, (time.time() - 7200, time.time() - 7200))
    np.testing.assert_array_equal(read_elsewhere(url, tmp_path), np.tile(ARRAY, (4, 1)))
    server.take_log()
    np.testing.assert_array_equal(read_elsewhere(url, tmp_path), np.tile(ARRAY, (4, 1)))
    assert take_gets(server) == [("bytes=0-65535", True)]
    read_elsewhere(server.publish("other.npy", npy_bytes()), tmp_path)
    assert not leftover.exists()


def test_a_file_that_cannot_be_written_is_no_error(server, tmp_path, cache):
    """The limit of file sizes has the effect of a full disk: writes fail."""
    url = server.publish("f.npy", npy_bytes())
    program = "import resource, signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n" + (
        "import sys\nimport numpy as np\nimport plait\n"
        "with plait.open(sys.argv[1]) as file:\n"
        "    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))\n"
        "    assert (file.read() == np.load(sys.argv[2])).all()\n"
    )
    np.save(tmp_path / "expected.npy", ARRAY)
    subprocess.run([sys.executable, "-c", program, url, str(tmp_path / "expected.npy")], check=True)
    assert cached_bytes(cache) < 100_000
    assert list((cache / "unfinished").iterdir()) == []
    np.testing.assert_array_equal(read_elsewhere(url, tmp_path), ARRAY)


def test_objects_without_strong_etags_are_not_cached(server, tmp_path, cache):
    url = server.publish("w.npy", npy_bytes())
    for fault in ("no_etag", "weak_etag"):
        server.set_faults(**{fault: True})
        np.testing.assert_array_equal(read_elsewhere(url, tmp_path), ARRAY)
        assert list_entries(cache) == []


def test_the_name_may_have_the_options_of_the_cache(server, tmp_path):
    server.publish("o.npy", npy_bytes())
    url = f"s3://public/o.npy?cache={tmp_path}/own&cache_size=64M"
    np.testing.assert_array_equal(read_elsewhere(url, tmp_path), ARRAY)
    assert cached_bytes(tmp_path / "own" / "plait-cache-v1") > ARRAY.nbytes
    server.take_log()
    np.testing.assert_array_equal(read_elsewhere(url, tmp_path), ARRAY)
    assert take_gets(server) == [("bytes=0-65535", True)]
    with plait.open(f"s3://b/o.zarr?cache={tmp_path}/own", "w", shape=ARRAY.shape, dtype="f8") as file:
        file.write(ARRAY)
    np.testing.assert_array_equal(plait.open(f"s3://b/o.zarr?cache={tmp_path}/own").read(), ARRAY)


def test_other_files_are_not_touched(server, tmp_path, cache, monkeypatch):
    """The folder that PLAIT_CACHE names, and even the cache's own folder in it, may have files of the user."""
    monkeypatch.setenv("PLAIT_CACHE_SIZE", "1M")
    others = [tmp_path / "cache" / "ab" / ("ab" * 24), cache / "ab" / "data", cache / "zz" / ("ab" * 24)]
    others += [cache / "cd" / ("ab" * 24), cache / "unfinished" / "data"]
    cache.mkdir(mode=0o700, parents=True)
    for other in others:
        other.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        other.write_bytes(bytes(600_000))
        os.utime(other, (1, 1))
    linked = tmp_path / "linked" / ("ef" * 24)
    linked.parent.mkdir()
    linked.write_bytes(bytes(600_000))
    (cache / "ef").symlink_to(linked.parent)
    for name in "mn":
        np.testing.assert_array_equal(read_elsewhere(server.publish(f"{name}.npy", npy_bytes()), tmp_path), ARRAY)
    assert all(other.stat().st_size == 600_000 for other in [*others, linked])


def test_a_folder_that_others_can_change_is_an_error(server, tmp_path, cache):
    url = server.publish("o.npy", npy_bytes())
    cache.mkdir(mode=0o700, parents=True)
    for mode in (0o770, 0o702):
        cache.chmod(mode)
        with pytest.raises(plait.StoreError, match=r"cannot use the cache .*can be changed by other users"):
            plait.open(url)
    cache.rmdir()
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    cache.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(plait.StoreError, match=r"cannot use the cache .*is a link"):
        plait.open(url)
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_entries_that_are_no_files_are_not_read(server, tmp_path, cache):
    url = server.publish("p.npy", npy_bytes())
    read_elsewhere(url, tmp_path)
    for i, path in enumerate(list_entries(cache)):
        target = tmp_path / path.name
        path.rename(target)
        os.mkfifo(path) if i % 2 else path.symlink_to(target)
    server.take_log()
    np.testing.assert_array_equal(read_elsewhere(url, tmp_path), ARRAY)
    assert len(take_gets(server)) > 1


def test_invalid_options_are_errors(server, tmp_path, monkeypatch):
    server.publish("e.npy", npy_bytes())
    (tmp_path / "file").write_text("x")
    for options, error in {
        "cache_size=1M": "cache_size= is stated without cache=",
        "cache=": "cache= is empty",
        f"cache={tmp_path}/c&cache_size=1K": "a cache of 1K is too small; expected at least 1M",
        f"cache={tmp_path}/c&cache_size=much": "cache_size",
    }.items():
        with pytest.raises(plait.ArgumentError, match=error):
            plait.open(f"s3://public/e.npy?{options}")
    with pytest.raises(plait.StoreError, match=r"cannot use the cache .*give a folder that this user can write"):
        plait.open(f"s3://public/e.npy?cache={tmp_path}/file/c")
    monkeypatch.setenv("PLAIT_CACHE", str(tmp_path / "c"))
    monkeypatch.setenv("PLAIT_CACHE_SIZE", "5")
    with pytest.raises(plait.ArgumentError, match="PLAIT_CACHE_SIZE: a cache of 5 is too small"):
        plait.open("s3://public/e.npy")
