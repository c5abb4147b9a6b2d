"""Nonblocking reads and writes of files (iread, iwrite), and their requests."""

import gc
import time

import numpy as np
import pytest
from limits import limit_file_size

import plait


def cyclic_rows():
    return plait.Layout((64, 32), "(cyclic, *) onto (4)")


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "a.bin"
    path.write_bytes(bytes(64 * 32 * 8))
    with plait.open(path, "r+", shape=(64, 32), dtype="f8") as opened:
        yield opened


def test_a_nonblocking_read_has_the_result_of_read(file):
    file.write(np.arange(2048.0).reshape(64, 32))
    request = file.iread(cyclic_rows())
    assert isinstance(request, plait.Request)
    parts = request.wait()
    assert request.test() is True
    assert request.wait() is parts
    for actual_part, expected_part in zip(parts, file.read(cyclic_rows()), strict=True):
        np.testing.assert_array_equal(actual_part, expected_part)
    out = np.zeros((3, 32))
    assert file.iread(out=out, region=np.s_[1:4]).wait() is out
    np.testing.assert_array_equal(out, np.arange(2048.0).reshape(64, 32)[1:4])


def test_nonblocking_accesses_run_in_order(file):
    requests = []
    for i in range(20):
        requests.append(file.iwrite(np.full((64, 32), float(i))))
        requests.append(file.iread())
    # A blocking call is executed after all of them.
    assert (file.read() == 19).all()
    assert all(request.test() for request in requests)
    for i in range(20):
        assert requests[2 * i].wait() is None
        assert (requests[2 * i + 1].wait() == i).all()


def test_requests_may_be_waited_for_in_any_order(file):
    requests = [file.iwrite(np.full((1, 32), float(i)), region=np.s_[i : i + 1]) for i in range(64)]
    for request in reversed(requests):
        request.wait()
    np.testing.assert_array_equal(file.read()[:, 5], np.arange(64.0))


def test_request_test_becomes_true(file):
    request = file.iread()
    deadline = time.monotonic() + 20
    while not request.test():
        assert time.monotonic() < deadline
        time.sleep(0.001)
    assert request.wait().shape == (64, 32)


def test_requests_keep_their_arrays_alive(file):
    requests = [file.iwrite(np.full((64, 32), 7.0)) for _ in range(10)]
    reads = [file.iread() for _ in range(10)]
    gc.collect()
    assert all((read.wait() == 7).all() for read in reads)
    assert all(request.test() for request in requests)


def test_close_waits_for_nonblocking_accesses(tmp_path):
    path = tmp_path / "new.npy"
    with plait.open(path, "w", shape=(512, 512), dtype="f8") as new:
        requests = [new.iwrite(np.full((256, 512), float(i)), region=np.s_[i * 256 : i * 256 + 256]) for i in range(2)]
    assert all(request.test() for request in requests)
    assert np.load(path)[::256, 0].tolist() == [0, 1]


def test_a_failed_access_is_raised_by_each_wait(tmp_path):
    path = tmp_path / "a.bin"
    path.write_bytes(bytes(64 * 32 * 8))
    with plait.open(path, shape=(64, 32), dtype="f8") as file:
        request = file.iwrite(np.zeros((64, 32)))
        for _ in range(2):
            with pytest.raises(plait.ArgumentError, match="open for reading"):
                request.wait()
        assert request.test() is True
        assert (file.read() == 0).all()


def test_wrong_arguments_are_raised_at_once(file):
    with pytest.raises(plait.ArgumentError, match="shape"):
        file.iread(out=np.zeros(3))
    with pytest.raises(plait.ArgumentError, match="dtype"):
        file.iwrite(np.zeros((64, 32), "i8"))
    with pytest.raises(plait.ArgumentError, match="index 64"):
        file.iread(region=64)


def test_a_truncated_file_is_an_error_of_the_request(tmp_path):
    path = tmp_path / "a.bin"
    path.write_bytes(bytes(64 * 32 * 8))
    with plait.open(path, shape=(64, 32), dtype="f8") as file:
        path.write_bytes(bytes(1000))
        request = file.iread(cyclic_rows())
        with pytest.raises(plait.StoreError, match="truncated"):
            request.wait()


def test_the_file_may_be_collected_before_its_request(tmp_path):
    path = tmp_path / "a.bin"
    path.write_bytes(np.arange(2048.0).tobytes())
    request = plait.open(path, shape=(64, 32), dtype="f8").iread()
    gc.collect()
    np.testing.assert_array_equal(request.wait().ravel(), np.arange(2048.0))


@pytest.mark.parametrize("mode", ["r+", "w"])
def test_close_raises_the_error_of_an_unwaited_write(tmp_path, mode):
    path = tmp_path / "a.bin"
    path.write_bytes(bytes(4096))
    file = plait.open(path, mode, shape=(512,), dtype="f8")
    with limit_file_size(1024):
        request = file.iwrite(np.ones(512))
        with pytest.raises(plait.StoreError, match="at offset 1024"):
            file.close()
    with pytest.raises(plait.StoreError, match="at offset 1024"):
        request.wait()
    file.close()  # the error is reported once
    assert file.closed
    assert (np.fromfile(path)[:128] == (1 if mode == "r+" else 0)).all()
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("mode", ["r+", "w"])
def test_the_end_of_the_with_block_raises_the_error_of_an_unwaited_write(tmp_path, mode):
    path = tmp_path / "a.bin"
    path.write_bytes(bytes(4096))
    file = plait.open(path, mode, shape=(512,), dtype="f8")
    with pytest.raises(plait.StoreError, match="at offset 1024"), limit_file_size(1024), file:
        file.iwrite(np.ones(512))
    assert file.closed
    assert list(tmp_path.iterdir()) == [path]


def test_close_does_not_raise_a_reported_error_again(tmp_path):
    path = tmp_path / "a.bin"
    path.write_bytes(bytes(4096))
    with plait.open(path, "r+", shape=(512,), dtype="f8") as file:
        with limit_file_size(1024):
            request = file.iwrite(np.ones(512))
            with pytest.raises(plait.StoreError):
                request.wait()
        for _ in range(3):
            file.iwrite(np.full(512, 2.0))
    assert (np.fromfile(path) == 2).all()
