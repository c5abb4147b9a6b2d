"""Fetched bytes of objects in a cache on a local disk."""

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
    monkeypatch.setenv("PLAIT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "plait-cache-v1"


def npy(array=ARRAY):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def entries(folder):
    return [path for path in folder.glob("??/*") if path.is_file()]


def size(folder):
    return sum(path.stat().st_size for path in entries(folder))


def read(url, **options):
    """Read an array in another process, which has nothing in memory."""
    out = options.pop("out")
    return subprocess.Popen([sys.executable, "-c", READ, url, str(out)], **options)


def read_again(url, tmp_path):
    process = read(url, out=tmp_path / "out.npy")
    assert process.wait(120) == 0
    return np.load(tmp_path / "out.npy")


def gets(server):
    """Return the ranges that the server has sent bytes of, by the conditions of the requests."""
    return [
        (request["range"], "if-none-match" in request["headers"])
        for request in server.take_log()
        if request["method"] == "GET"
    ]


@pytest.mark.parametrize("scheme", ["http", "s3"])
def test_one_object_is_fetched_once(server, tmp_path, cache, scheme):
    url = server.publish("a.npy", npy())
    url = url if scheme == "http" else "s3://public/a.npy"
    np.testing.assert_array_equal(read_again(url, tmp_path), ARRAY)
    assert len(gets(server)) > 1
    assert ARRAY.nbytes < size(cache) < 1.1 * ARRAY.nbytes
    for _ in range(2):
        np.testing.assert_array_equal(read_again(url, tmp_path), ARRAY)
        assert gets(server) == [("bytes=0-65535", True)], "only the ETag is compared"
    with plait.open(url) as file:
        np.testing.assert_array_equal(file.read(region=np.s_[3:500:7, 5:77]), ARRAY[3:500:7, 5:77])
    assert gets(server) == [("bytes=0-65535", True)]
    assert oct(cache.stat().st_mode & 0o777) == oct(0o700)


def test_a_small_object(server, tmp_path, cache):
    url = server.publish("small.npy", npy(ARRAY[:1, :20]))
    np.testing.assert_array_equal(read_again(url, tmp_path), ARRAY[:1, :20])
    server.take_log()
    np.testing.assert_array_equal(read_again(url, tmp_path), ARRAY[:1, :20])
    assert all(conditional for _, conditional in gets(server))
    assert entries(cache)


@pytest.mark.parametrize("options", [{}, {"shards": (200, 300)}, {"codec": "zstd"}])
def test_chunks_are_validated_and_not_fetched_again(server, tmp_path, cache, options):
    url = "s3://b/chunks.zarr"
    with plait.open(url, "w", shape=ARRAY.shape, dtype="f8", chunks=(100, 150), **options) as file:
        file.write(ARRAY)
    np.testing.assert_array_equal(read_again(url, tmp_path), ARRAY)
    first = len(gets(server))
    before = size(cache)
    assert before > 0.8 * ARRAY.nbytes
    np.testing.assert_array_equal(read_again(url, tmp_path), ARRAY)
    again = gets(server)
    assert len(again) <= first
    assert all(conditional for _, conditional in again)
    assert size(cache) == before, "nothing was fetched again"
    with plait.open(url, "r+") as file:
        file.write(-ARRAY[:10], region=np.s_[:10])
    changed = np.concatenate([-ARRAY[:10], ARRAY[10:]])
    np.testing.assert_array_equal(read_again(url, tmp_path), changed)
    np.testing.assert_array_equal(read_again(url, tmp_path), changed)


@pytest.mark.parametrize("options", [{}, {"shards": (200, 300)}])
def test_an_open_array_is_not_stale(server, cache, options):
    """The cache has all chunks of what another program then replaces."""
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


def test_zip_files(server, tmp_path, cache):
    zarr = pytest.importorskip("zarr")
    store = zarr.storage.ZipStore(tmp_path / "made.zip", mode="w")
    zarr.create_array(store, shape=ARRAY.shape, chunks=(100, 100), dtype="f8")[...] = ARRAY
    store.close()
    url = server.publish("z.zarr.zip", (tmp_path / "made.zip").read_bytes())
    np.testing.assert_array_equal(read_again(url, tmp_path), ARRAY)
    server.take_log()
    np.testing.assert_array_equal(read_again(url, tmp_path), ARRAY)
    again = gets(server)
    assert all(conditional for _, conditional in again)
    assert len(again) <= 2


def test_a_replaced_object_is_read_anew(server, tmp_path, cache):
    url = server.publish("r.npy", npy())
    np.testing.assert_array_equal(read_again(url, tmp_path), ARRAY)
    server.publish("r.npy", npy(-ARRAY))
    np.testing.assert_array_equal(read_again(url, tmp_path), -ARRAY)
    with plait.open(url) as file:
        server.publish("r.npy", npy(2 * ARRAY))
        # The cache has all of the content that was opened, so that a read returns that, never a mixture.
        np.testing.assert_array_equal(file.read(), -ARRAY)
    np.testing.assert_array_equal(read_again(url, tmp_path), 2 * ARRAY)
    assert cache.is_dir()


@pytest.mark.parametrize("damage", ["flip", "cut", "empty", "zeros"])
def test_damaged_entries_are_fetched_again(server, tmp_path, cache, damage):
    url = server.publish("d.npy", npy())
    read_again(url, tmp_path)
    for path in entries(cache):
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
    np.testing.assert_array_equal(read_again(url, tmp_path), ARRAY)
    assert len(gets(server)) > 1
    np.testing.assert_array_equal(read_again(url, tmp_path), ARRAY)
    assert gets(server) == [("bytes=0-65535", True)]


def test_the_size_is_bounded(server, tmp_path, cache, monkeypatch):
    monkeypatch.setenv("PLAIT_CACHE_SIZE", "2M")
    url = server.publish("b.npy", npy())
    for _ in range(3):
        np.testing.assert_array_equal(read_again(url, tmp_path), ARRAY)
        assert 1 << 20 < size(cache) <= 2 << 20
    small = server.publish("small.npy", npy(ARRAY[:30]))
    for _ in range(2):
        np.testing.assert_array_equal(read_again(small, tmp_path), ARRAY[:30])
        np.testing.assert_array_equal(read_again(url, tmp_path), ARRAY)
        assert size(cache) <= 2 << 20


def test_what_was_used_last_remains(server, tmp_path, cache, monkeypatch):
    monkeypatch.setenv("PLAIT_CACHE_SIZE", "2M")
    part = npy(ARRAY[:100])  # 720 kB
    used, unused = (server.publish(f"{name}.npy", part) for name in ("used", "unused"))
    read_again(used, tmp_path)
    read_again(unused, tmp_path)
    for path in entries(cache):  # an hour passes
        past = time.time() - 3600
        os.utime(path, (past, past))
    read_again(used, tmp_path)
    server.take_log()
    read_again(server.publish("new.npy", part), tmp_path)
    server.take_log()
    read_again(used, tmp_path)
    assert gets(server) == [("bytes=0-65535", True)]
    read_again(unused, tmp_path)
    assert len(gets(server)) > 1


def test_processes_at_once(server, tmp_path, cache, monkeypatch):
    monkeypatch.setenv("PLAIT_CACHE_SIZE", "4M")
    urls = [server.publish(f"p{i}.npy", npy((i + 1) * ARRAY)) for i in range(2)]
    for _ in range(2):
        processes = [read(urls[i % 2], out=tmp_path / f"{i}.npy") for i in range(4)]
        for i, process in enumerate(processes):
            assert process.wait(120) == 0
            np.testing.assert_array_equal(np.load(tmp_path / f"{i}.npy"), (i % 2 + 1) * ARRAY)
    assert list((cache / "unfinished").iterdir()) == []
    # Each process may add a sixteenth before it counts the files of the others.
    assert size(cache) <= (4 << 20) * (1 + 4 / 16)


def test_killed_processes(server, tmp_path, cache):
    url = server.publish("k.npy", npy(np.tile(ARRAY, (4, 1))))
    for number in (1, 3, 20, 60):  # entries of its blocks; it has two others
        process = read(url, out=tmp_path / "killed.npy")
        while len(entries(cache)) < 2 + number and process.poll() is None:
            time.sleep(0.001)
        process.send_signal(signal.SIGKILL)
        process.wait()
    (cache / "unfinished").mkdir(parents=True, exist_ok=True)
    left = cache / "unfinished" / ("0123" * 12)
    left.write_bytes(b"half")
    os.utime(left, (time.time() - 7200, time.time() - 7200))
    np.testing.assert_array_equal(read_again(url, tmp_path), np.tile(ARRAY, (4, 1)))
    server.take_log()
    np.testing.assert_array_equal(read_again(url, tmp_path), np.tile(ARRAY, (4, 1)))
    assert gets(server) == [("bytes=0-65535", True)]
    read_again(server.publish("other.npy", npy()), tmp_path)
    assert not left.exists()


def test_a_file_that_cannot_be_written_is_no_error(server, tmp_path, cache):
    """The limit of file sizes has the effect of a full disk: writes fail."""
    url = server.publish("f.npy", npy())
    program = "import resource, signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n" + (
        "import sys\nimport numpy as np\nimport plait\n"
        "with plait.open(sys.argv[1]) as file:\n"
        "    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))\n"
        "    assert (file.read() == np.load(sys.argv[2])).all()\n"
    )
    np.save(tmp_path / "expected.npy", ARRAY)
    subprocess.run([sys.executable, "-c", program, url, str(tmp_path / "expected.npy")], check=True)
    assert size(cache) < 100_000
    assert list((cache / "unfinished").iterdir()) == []
    np.testing.assert_array_equal(read_again(url, tmp_path), ARRAY)


def test_objects_without_strong_etags_are_not_cached(server, tmp_path, cache):
    url = server.publish("w.npy", npy())
    for fault in ("no_etag", "weak_etag"):
        server.set_faults(**{fault: True})
        np.testing.assert_array_equal(read_again(url, tmp_path), ARRAY)
        assert entries(cache) == []


def test_options_of_the_name(server, tmp_path):
    server.publish("o.npy", npy())
    url = f"s3://public/o.npy?cache={tmp_path}/own&cache_size=64M"
    np.testing.assert_array_equal(read_again(url, tmp_path), ARRAY)
    assert size(tmp_path / "own" / "plait-cache-v1") > ARRAY.nbytes
    server.take_log()
    np.testing.assert_array_equal(read_again(url, tmp_path), ARRAY)
    assert gets(server) == [("bytes=0-65535", True)]
    with plait.open(f"s3://b/o.zarr?cache={tmp_path}/own", "w", shape=ARRAY.shape, dtype="f8") as file:
        file.write(ARRAY)
    np.testing.assert_array_equal(plait.open(f"s3://b/o.zarr?cache={tmp_path}/own").read(), ARRAY)


def test_other_files_are_not_touched(server, tmp_path, cache, monkeypatch):
    """The stated folder, and even that of the cache, may have files of the user."""
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
        np.testing.assert_array_equal(read_again(server.publish(f"{name}.npy", npy()), tmp_path), ARRAY)
    assert all(other.stat().st_size == 600_000 for other in [*others, linked])


def test_a_folder_that_others_can_change_is_an_error(server, tmp_path, cache):
    url = server.publish("o.npy", npy())
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
    url = server.publish("p.npy", npy())
    read_again(url, tmp_path)
    for i, path in enumerate(entries(cache)):
        moved = tmp_path / path.name
        path.rename(moved)
        os.mkfifo(path) if i % 2 else path.symlink_to(moved)
    server.take_log()
    np.testing.assert_array_equal(read_again(url, tmp_path), ARRAY)
    assert len(gets(server)) > 1


def test_bad_options(server, tmp_path, monkeypatch):
    server.publish("e.npy", npy())
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
