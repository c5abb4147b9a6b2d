"""Reuse of the memory of dropped results: when memory is reused, and that memory in use is never overwritten."""

import os
import subprocess
import sys
import threading

import numpy as np
import pytest
from forking import run_in_child

import plait
from plait import _core
from plait._arguments.recycled import new_array

SHAPE = (600, 500)  # of doubles: 2.4 MB
VALUES = np.arange(300000.0).reshape(SHAPE)


@pytest.fixture(autouse=True)
def _recycling():
    before = plait.set_recycled_memory("64M")
    plait.set_recycled_memory(0)
    plait.set_recycled_memory("64 MiB")
    yield
    plait.set_recycled_memory(0)
    plait.set_recycled_memory(before)


@pytest.fixture
def name(tmp_path):
    np.save(tmp_path / "field.npy", VALUES)
    return tmp_path / "field.npy"


def find_address(array):
    return array.__array_interface__["data"][0]


def test_a_result_uses_the_memory_of_a_dropped_one(name):
    with plait.open(name) as file:
        first = file.read()
        first_address = find_address(first)
        del first
        second = file.read()
        assert find_address(second) == first_address
        third = file.read()  # the second array is still referenced
        assert find_address(third) != first_address
    assert np.array_equal(second, VALUES)
    assert np.array_equal(third, VALUES)


def test_memory_waits_until_the_last_view_is_gone(name):
    with plait.open(name) as file:
        whole = file.read()
        first_address = find_address(whole)
        part = whole[5:9, ::2].T
        del whole
        other = file.read()
        assert find_address(other) != first_address
        assert np.array_equal(part, VALUES[5:9, ::2].T)
        expected = part.copy()
        other[...] = -1
        assert np.array_equal(part, expected)
        del part
        assert find_address(file.read()) == first_address


@pytest.mark.sampled(4)
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["f8", "i2", "c16", "V7", np.dtype([("a", "i4"), ("b", "f8")])])
def test_results_are_ordinary_arrays(order, dtype):
    layout = plait.Layout((700, 800), "(*, *)", order=order)
    element_type = np.dtype(dtype)
    content = np.arange(700 * 800 * element_type.itemsize, dtype=np.uint64).astype(np.uint8)
    source = np.ndarray((700, 800), element_type, content, order=order)
    for _ in range(2):
        result = plait.redistribute(source, layout, layout)
        assert result.dtype == source.dtype
        assert result.strides == source.strides
        assert result.flags.writeable
        assert result.flags.aligned
        assert result.tobytes("A") == source.tobytes("A")
        result[...] = np.zeros((), element_type)
        del result


def test_redistributions_indexing_and_streams_recycle_memory(name):
    rows, columns = (plait.Layout(SHAPE, [*dist], grid=(1,)) for dist in (("block", "*"), ("*", "cyclic")))
    with plait.open(name) as file:
        first_address = find_address(file.read())
        result = plait.redistribute(VALUES, rows, columns)
        assert find_address(result) == first_address
        assert np.array_equal(result, VALUES)
        del result
        assert find_address(file[:, :]) == first_address
        with file.stream(mode=0) as stream:
            actual = stream.read(300000)
            assert find_address(actual) == first_address
        assert np.array_equal(actual, VALUES.ravel())


def test_small_results_are_left_to_numpy():
    small = plait.Layout((100, 100), "(*, *)")
    plait.redistribute(np.zeros((100, 100)), small, small)
    assert _core.waiting_recycled() == 0


def test_cached_memory_is_bounded_and_can_be_disabled(name):
    with plait.open(name) as file:
        results = [file.read() for _ in range(5)]
        windows = _core.waiting_recycled()
        assert windows < VALUES.nbytes
        del results
        assert _core.waiting_recycled() >= windows + 5 * VALUES.nbytes
        assert plait.set_recycled_memory("6M") == 64 << 20
        assert 0 < _core.waiting_recycled() <= 6 << 20
        assert plait.set_recycled_memory(0) == 6 << 20
        assert _core.waiting_recycled() == 0
        assert np.array_equal(file.read(), VALUES)
        assert _core.waiting_recycled() == 0


def test_threads_get_separate_memory():
    mismatches = []

    def work(number):
        layout = plait.Layout(SHAPE, "(*, *)")
        local = np.full(SHAPE, float(number))
        for _ in range(20):
            result = plait.redistribute(local, layout, layout)
            if not (result == number).all():
                mismatches.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not mismatches


def test_a_forked_child_has_results_but_no_cached_memory(name):
    with plait.open(name) as file:
        result = file.read()
        dropped = file.read()
        del dropped
    assert _core.waiting_recycled() > 0

    def body():
        nonlocal result
        assert _core.waiting_recycled() == 0
        assert np.array_equal(result, VALUES)
        result[...] = 3
        result = None
        with plait.open(name) as again:
            assert np.array_equal(again.read(), VALUES)

    run_in_child(body)
    assert np.array_equal(result, VALUES)


def test_cached_memory_is_freed_if_address_space_is_limited(name):
    """Arrays of NumPy and the windows of a read can use the address space that earlier results of Plait occupied."""
    program = (
        "import resource, sys, numpy, plait; from plait import _core\n"
        "plait.set_recycled_memory('1G')\n"
        "size = 100 << 20\n"
        "space = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize()\n"
        "resource.setrlimit(resource.RLIMIT_AS, (space + size * 3 // 2,) * 2)\n"
        "given = numpy.zeros(1, 'u1')\n"
        "with plait.open(sys.argv[1], 'w', shape=(size,), dtype='u1') as file: file.write(given.repeat(size))\n"
        "with plait.open(sys.argv[1]) as file: file.read()\n"
        "print(_core.waiting_recycled(), numpy.empty(size, 'u1').size)"
    )
    command = [sys.executable, "-c", program, str(name.with_name("large.npy"))]
    completed = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (completed.returncode, completed.stdout.split()) == (0, ["0", str(100 << 20)]), completed.stderr


@pytest.mark.parametrize("shape", [(1 << 62, 8), (1 << 40, 1 << 40), (1 << 62,), ((1 << 61) + 1,)])
def test_impossible_sizes_raise_the_error_of_numpy(shape):
    with pytest.raises((MemoryError, ValueError)) as expected:
        np.empty(shape, "u1")
    with pytest.raises(expected.type) as raised:
        new_array(shape, np.dtype("u1"))
    assert str(raised.value) == str(expected.value)


def test_the_environment_sets_the_bound(name):
    program = (
        "import sys, plait; from plait import _core\n"
        "with plait.open(sys.argv[1]) as file: file.read()\n"
        "print(_core.waiting_recycled(), plait.set_recycled_memory(0))"
    )

    def run(value):
        variables = {**os.environ, "PLAIT_RECYCLED_MEMORY": value}
        command = [sys.executable, "-c", program, str(name)]
        return subprocess.run(command, env=variables, capture_output=True, text=True, check=False)

    assert run("0").stdout.split() == ["0", "0"]
    assert run("5000000").stdout.split()[1] == "5000000"
    waiting, limit = map(int, run("").stdout.split())
    assert VALUES.nbytes <= waiting <= limit
    result = run("much")
    assert result.returncode == 1
    assert "PLAIT_RECYCLED_MEMORY=much is not a number of bytes" in result.stderr
