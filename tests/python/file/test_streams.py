"""Streams in one process: all modes of streams, their arguments, and streams of closed files."""

import gc
import os
import subprocess
import sys
import threading
from contextlib import suppress

import numpy as np
import pytest
from limits import limit_file_size

import plait

ARRAY = np.arange(600.0).reshape(20, 30)


@pytest.fixture
def path(tmp_path):
    name = tmp_path / "a.npy"
    np.save(name, ARRAY)
    return name


@pytest.fixture(params=range(5))
def mode(request):
    return request.param


def test_reading_follows_the_order_of_the_file(path, mode):
    with plait.open(path) as file, file.stream(mode) as stream:
        assert isinstance(stream, plait.Stream)
        assert stream.mode == mode
        assert stream.tell() == 0
        first = stream.read(7)
        assert first.dtype == np.float64
        assert first.shape == (7,)
        np.testing.assert_array_equal(first, ARRAY.ravel()[:7])
        np.testing.assert_array_equal(stream.read(590), ARRAY.ravel()[7:597])
        assert stream.tell() == 597
        np.testing.assert_array_equal(stream.read(10), [597, 598, 599])
        assert stream.read(10).shape == (0,)
        assert stream.read(2**62).shape == (0,)
        stream.seek(100)
        np.testing.assert_array_equal(stream.read(np.int16(2)), [100, 101])
        assert stream.read(0).shape == (0,)


def test_an_array_in_fortran_order_is_read_in_stored_order(tmp_path, mode):
    np.save(tmp_path / "f.npy", np.asfortranarray(ARRAY))
    with plait.open(tmp_path / "f.npy") as file:
        np.testing.assert_array_equal(file.stream(mode).read(600), ARRAY.ravel("F"))


def test_elements_are_read_into_an_array(path, mode):
    with plait.open(path) as file:
        stream = file.stream(mode)
        out = np.full((4, 5), -1.0)
        actual = stream.read(6, out)
        assert np.shares_memory(actual, out)
        np.testing.assert_array_equal(out.ravel(), [*range(6), *[-1.0] * 14])
        assert stream.read(20, out=out).size == 20
        np.testing.assert_array_equal(out.ravel(), np.arange(6, 26))


def test_a_new_file_is_written(tmp_path, mode):
    path = tmp_path / "new.npy"
    with plait.open(path, "w", shape=(20, 30), dtype="f8") as file:
        stream = file.stream(mode)
        stream.write(ARRAY[:3])
        stream.write(np.asfortranarray(ARRAY[3:10]))  # written in C order
        stream.write(ARRAY[10:, :].ravel()[::1])
        stream.write([])
        assert stream.tell() == 600
        with pytest.raises(plait.ArgumentError, match=r"the array ends at 600; nothing was written"):
            stream.write([1.0])
        with pytest.raises(plait.ArgumentError, match="streams cannot read"):
            stream.read(1)
        assert not path.exists()
    np.testing.assert_array_equal(np.load(path), ARRAY)


def test_a_file_is_read_and_changed_in_place(path, mode):
    with plait.open(path, "r+") as file:
        stream = file.stream(mode)
        stream.read(10)
        stream.write(np.full(5, -1.0))
        np.testing.assert_array_equal(stream.read(2), [15, 16])
        with pytest.raises(plait.ArgumentError, match="nothing was written"):
            stream.write(np.zeros(584))
        assert stream.tell() == 17
    np.testing.assert_array_equal(np.load(path).ravel()[8:17], [8, 9, -1, -1, -1, -1, -1, 15, 16])


def test_nonblocking_requests_run_in_order(path, mode):
    with plait.open(path, "r+") as file:
        stream = file.stream(mode)
        requests = [stream.iread(100) for _ in range(7)]
        for i in reversed(range(7)):
            np.testing.assert_array_equal(requests[i].wait(), ARRAY.ravel()[100 * i : 100 * i + 100])
        stream.seek(0)
        write = stream.iwrite(np.zeros(50))
        assert isinstance(write, plait.Request)
        stream.seek(0)
        assert (stream.read(50) == 0).all()
        assert write.test()
        assert write.wait() is None
        out = np.empty(80)
        assert np.shares_memory(stream.iread(60, out).wait(), out)


def test_streams_of_one_file_have_separate_positions(path):
    with plait.open(path) as file:
        streams = [file.stream(mode) for mode in (0, 0, 1, 1, 2, 3, 4)]
        for i, stream in enumerate(streams):
            stream.seek(i)
        assert [stream.read(1)[0] for stream in streams] == list(range(7))


def test_calls_on_closed_streams_are_errors(path, mode):
    file = plait.open(path)
    with file.stream(mode) as stream:
        assert not stream.closed
        assert repr(stream) == f"<plait.Stream mode={mode} of {str(path)!r}>"
    assert stream.closed
    assert repr(stream).startswith("<closed plait.Stream")
    stream.close()
    for call in (lambda: stream.read(1), stream.tell, lambda: stream.seek(0), lambda: stream.iread(1).wait()):
        with pytest.raises(plait.ArgumentError, match=f"stream 1 \\(mode {mode}\\) of .* is closed; open another one"):
            call()
    unclosed = file.stream(mode)
    request = unclosed.iread(600)
    file.close()
    assert request.test()
    np.testing.assert_array_equal(request.wait(), ARRAY.ravel())
    assert unclosed.closed
    for call in (lambda: unclosed.read(1), unclosed.tell, lambda: unclosed.seek(0), lambda: file.stream(mode)):
        with pytest.raises(plait.ArgumentError, match="is closed; open it again"):
            call()
    unclosed.close()


@pytest.mark.sampled(1)
def test_a_stream_keeps_its_file_open(path, mode):
    stream = plait.open(path).stream(mode)
    gc.collect()
    assert stream.read(3)[2] == 2


def test_an_exception_in_the_with_block_discards_a_new_file(tmp_path, mode):
    file = plait.open(tmp_path / "new.npy", "w", shape=(600,), dtype="f8")
    stream = file.stream(mode)

    def write_and_fail():
        with file:
            stream.write(ARRAY)
            raise KeyError

    with pytest.raises(KeyError):
        write_and_fail()
    assert not list(tmp_path.iterdir())
    assert stream.closed
    with pytest.raises(plait.Error):
        stream.write([1.0])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda s: s.read(-1), "-1 elements cannot be read; give a number of 0 or more"),
        (lambda s: s.read(2.0), "count=2.0 is not a whole number"),
        (lambda s: s.read(True), "count=True is not a whole number"),
        (lambda s: s.read(2**63), "is out of range"),
        (lambda s: s.read(-(2**70)), "is out of range"),
        (lambda s: s.read(5, np.zeros(4)), "out has 4 elements, but count is 5"),
        (lambda s: s.read(2, np.zeros(4, "f4")), "out has dtype float32, but the file holds float64"),
        (lambda s: s.read(2, np.zeros(8)[::2]), "not contiguous"),
        (lambda s: s.read(2, [0.0, 0.0]), "out is a list"),
        (lambda s: s.iread(2, np.frombuffer(bytes(64))), "read-only"),
        (lambda s: s.iread(-3).wait(), "-3 elements cannot be read"),
        (lambda s: s.write(np.zeros(3, "i4")), "array has dtype int32, but the file holds float64"),
        (lambda s: s.iwrite("words"), "array is a str; pass a NumPy array of float64"),
        (lambda s: s.seek(-1), "element -1 is not in the array; give 0 to 600"),
        (lambda s: s.seek(601), "element 601 is not in the array"),
        (lambda s: s.seek("a"), "element='a' is not a whole number"),
    ],
)
def test_arguments_are_checked(path, mode, call, message):
    with plait.open(path, "r+") as file:
        stream = file.stream(mode)
        with pytest.raises(plait.ArgumentError) as caught:
            call(stream)
        assert message in str(caught.value)
        assert stream.tell() == 0
    np.testing.assert_array_equal(np.load(path), ARRAY)


@pytest.mark.parametrize("invalid_mode", [-1, 5, 2**40, True, "1", 1.0, None])
def test_invalid_modes_are_errors(path, invalid_mode):
    with plait.open(path) as file, pytest.raises(plait.ArgumentError, match="mode"):
        file.stream(invalid_mode)


def test_writing_to_a_file_that_is_open_for_reading_is_an_error(path, mode):
    with plait.open(path) as file, pytest.raises(plait.ArgumentError, match=r'open it with mode "r\+" or "w"'):
        file.stream(mode).write([1.0])


@pytest.mark.parametrize("is_nonblocking", [False, True])
@pytest.mark.parametrize("is_reported", [False, True])
def test_a_new_file_with_a_failed_write_does_not_appear(tmp_path, mode, is_nonblocking, is_reported):
    file = plait.open(tmp_path / "a.bin", "w", shape=(512,), dtype="f8")
    stream = file.stream(mode)
    with limit_file_size(1024):
        request = stream.iwrite(np.ones(300)) if is_nonblocking else None
        if is_reported:
            with pytest.raises(plait.StoreError, match="at offset 1024"):
                request.wait() if request else stream.write(np.ones(300))
        elif not is_nonblocking:
            with pytest.raises(plait.StoreError):
                stream.write(np.ones(300))
        is_independent = mode < 2  # calls of other modes are collective
        if is_independent or (is_nonblocking and not is_reported):
            with pytest.raises(plait.StoreError, match="at offset 1024"):
                file.close()
    file.close()
    assert not list(tmp_path.iterdir())


def test_close_raises_the_error_of_a_failed_write_in_place(tmp_path, mode):
    path = tmp_path / "a.bin"
    path.write_bytes(bytes(4096))
    file = plait.open(path, "r+", shape=(512,), dtype="f8")
    stream = file.stream(mode)
    with limit_file_size(1024):
        stream.iwrite(np.ones(300))
        stream.close()
        with pytest.raises(plait.StoreError, match="at offset 1024"):
            file.close()
    file.close()
    assert file.closed
    assert (np.fromfile(path)[:128] == 1).all()


def test_elements_may_have_any_size(tmp_path, mode):
    record = np.dtype([("a", "i4"), ("b", "f8"), ("c", "S3")])
    array = np.zeros(50, record)
    array["a"] = np.arange(50)
    np.save(tmp_path / "a.npy", array)
    with plait.open(tmp_path / "a.npy") as file:
        stream = file.stream(mode)
        stream.seek(48)
        actual = stream.read(5)
    assert actual.dtype == record
    assert list(actual["a"]) == [48, 49]


def find_open_files():
    """Return the paths of all files that this process has open."""
    names = []
    for number in os.listdir("/proc/self/fd"):
        with suppress(FileNotFoundError):  # the descriptor of the listing itself is already closed
            names.append(os.readlink(f"/proc/self/fd/{number}"))
    return names


@pytest.mark.parametrize("is_discarded", [False, True])
def test_an_open_stream_does_not_keep_a_closed_file_open(tmp_path, mode, is_discarded):
    path = tmp_path / "a.bin"
    stream = None
    with suppress(KeyError), plait.open(path, "w", shape=(600,), dtype="f8") as file:
        stream = file.stream(mode)
        stream.write(np.ones(600))
        if is_discarded:
            raise KeyError
    assert not [name for name in find_open_files() if str(tmp_path) in name]
    assert stream.closed
    with pytest.raises(plait.ArgumentError, match="an earlier collective call failed" if is_discarded else "is closed"):
        stream.write(np.ones(1))


def test_several_threads_may_have_requests(path):
    failures = []

    def read_repeatedly():
        try:
            with plait.open(path) as file, file.stream(0) as stream:
                for _ in range(300):
                    stream.seek(0)
                    requests = [stream.iread(16) for _ in range(4)]
                    for number, request in enumerate(requests):
                        np.testing.assert_array_equal(request.wait(), ARRAY.ravel()[16 * number : 16 * number + 16])
        except Exception as failure:
            failures.append(failure)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)  # seconds: threads switch often
    try:
        threads = [threading.Thread(target=read_repeatedly) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert not failures


WITHOUT_THREADS = """
import resource, sys
import numpy as np
import plait

file = plait.open(sys.argv[1], "w", shape=(64,), dtype="f8")
stream = file.stream(0)
stream.write(np.ones(8))
old = resource.getrlimit(resource.RLIMIT_AS)
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 65536, old[1]))  # too little for the stack of a thread
try:
    stream.iwrite(np.ones(8))
except Exception:
    resource.setrlimit(resource.RLIMIT_AS, old)
    print("no thread at", stream.tell())
stream.seek(16)
stream.write(np.ones(48))
try:
    file.close()
except plait.StoreError:
    print("lost")
"""


def test_a_write_without_a_thread_discards_a_new_file(tmp_path):
    path = tmp_path / "a.bin"
    job = subprocess.run(
        [sys.executable, "-c", WITHOUT_THREADS, str(path)], capture_output=True, text=True, timeout=300, check=False
    )
    assert job.stdout.split("\n") == ["no thread at 16", "lost", ""], job.stderr
    assert not path.exists()
