"""Forked children do not own the objects of their parent: they do not change them, but can open their own files."""

import multiprocessing
import os
import subprocess
import sys

import numpy as np
import pytest
from forking import run_in_child

import plait
import plait.distant
import plait.shared

ARRAY = np.arange(100_000.0)


def open_new(name):
    return plait.open(name, "w", shape=ARRAY.shape, dtype=ARRAY.dtype)


def write(name):
    with open_new(name) as file:
        file.write(ARRAY)
    return name


def check_rejected(call):
    with pytest.raises(plait.ArgumentError, match=f"belongs to process {os.getppid()}, and this is process"):
        call()


@pytest.mark.parametrize("name", ["a.npy", "stripe:a?disks=."])
def test_a_child_does_not_touch_the_new_file_of_its_parent(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    files = [open_new(name)]
    files[0].iwrite(ARRAY).wait()  # there is a thread now

    def body():
        check_rejected(files[0].close)
        check_rejected(lambda: files[0].write(ARRAY))
        assert files[0].closed
        files.clear()

    before = sorted(os.listdir())
    run_in_child(body)
    assert sorted(os.listdir()) == before
    files[0].close()
    with plait.open(name, **({} if name == "a.npy" else {"shape": ARRAY.shape, "dtype": "f8"})) as file:
        np.testing.assert_array_equal(file.read(), ARRAY)


def test_calls_on_inherited_handles_are_errors(tmp_path):
    file = plait.open(write(tmp_path / "a.npy"))
    streams = [file.stream(mode) for mode in range(5)]
    request, layout = file.iread(), plait.Layout(ARRAY.shape, "(block) onto (2)")
    distant = plait.distant.open(tmp_path / "d", "w", temporary=True)
    shared = plait.shared.open(tmp_path / "s", "w")
    distant.write(0, b"abc")
    distant_request = distant.iread(0, 3)

    def body():
        for call in (file.read, lambda: file.iread(layout), lambda: file.explain(layout), file.last_times, file.stream):
            check_rejected(call)
        for stream in streams:
            for call in (lambda: stream.read(1), lambda: stream.iread(1), stream.tell, lambda: stream.seek(0)):  # noqa: B023
                check_rejected(call)
            check_rejected(stream.close)
            assert stream.closed
        for call in (request.wait, request.test, distant_request.wait, distant_request.test):
            check_rejected(call)
        for call in (lambda: distant.read(0, 3), lambda: distant.iwrite(0, b"x"), distant.size, distant.close):
            check_rejected(call)
        for call in (lambda: shared.read(0, 3), lambda: shared.write(0, b"x"), shared.close):
            check_rejected(call)
        assert distant.closed
        assert shared.closed
        with pytest.raises(KeyError), file, distant:
            raise KeyError  # discarding the objects of another process is harmless

    run_in_child(body)
    np.testing.assert_array_equal(request.wait(), ARRAY)
    assert bytes(distant_request.wait()) == b"abc"
    assert bytes(distant.read(0, 3)) == b"abc"
    np.testing.assert_array_equal(streams[0].read(5), ARRAY[:5])
    for handle in (file, distant, shared):
        handle.close()


def test_a_child_can_open_its_own_files(tmp_path):
    layouts = [plait.Layout(ARRAY.shape, text) for text in ("(block) onto (2)", "(cyclic) onto (3)")]
    arrays = [np.zeros(layouts[0].local_shape(rank)) for rank in range(2)]
    plait.iredistribute(arrays, *layouts).wait()
    file = open_new(tmp_path / "parent.npy")
    file.iwrite(ARRAY).wait()
    distant = plait.distant.open(tmp_path / "d", "w")
    distant.iwrite(0, b"abc").wait()

    def body():
        with open_new(tmp_path / "child.npy") as file:
            file.iwrite(ARRAY).wait()
        with plait.open(tmp_path / "child.npy") as file, file.stream() as stream:
            np.testing.assert_array_equal(stream.iread(10).wait(), ARRAY[:10])
        with plait.distant.open(tmp_path / "e", "w") as other:
            other.iwrite(0, b"xyz").wait()
            assert bytes(other.read(0, 3)) == b"xyz"
        plait.iredistribute(arrays, *layouts).wait()
        run_in_child(lambda: write(tmp_path / "grandchild.npy"))

    run_in_child(body)
    file.close()
    distant.close()
    for name in ("parent", "child", "grandchild"):
        with plait.open(tmp_path / f"{name}.npy") as file:
            np.testing.assert_array_equal(file.read(), ARRAY)


def test_a_child_holds_no_lock_and_no_deleted_file(tmp_path):
    file = open_new(tmp_path / "a.npy")
    file.write(ARRAY)

    def body():
        for number in os.listdir("/proc/self/fd"):
            if os.path.exists(f"/proc/self/fd/{number}"):
                assert not os.readlink(f"/proc/self/fd/{number}").startswith(str(tmp_path))

    run_in_child(body)
    file.close()


def write_and_get_pid(name):
    write(name)
    return os.getpid()


def test_multiprocessing_workers_open_their_own_files(tmp_path):
    file = open_new(tmp_path / "a.npy")
    file.iwrite(ARRAY).wait()
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert os.getpid() not in pool.map(write_and_get_pid, [tmp_path / f"{i}.npy" for i in range(4)])
    file.close()
    assert sorted(os.listdir(tmp_path)) == ["0.npy", "1.npy", "2.npy", "3.npy", "a.npy"]


FORK_AND_EXIT = """
import os, subprocess, sys
import numpy as np
import plait
file = plait.open("a.npy", "w", shape=9, dtype="f8")
request = file.iwrite(np.arange(9.0))
child = os.fork()
if child:
    assert os.waitpid(child, 0)[1] == 0
    assert subprocess.run([sys.executable, "-c", "pass"], preexec_fn=lambda: None).returncode == 0
    assert os.posix_spawnp("true", ["true"], os.environ) > 0
    request.wait()
    file.close()
"""


def test_a_child_may_exit_normally(tmp_path):
    """The child finalizes Python, which collects the inherited handles without joining threads of the parent."""
    options = ["-X", "dev", "-W", "ignore:This process:DeprecationWarning"]
    result = subprocess.run(
        [sys.executable, *options, "-c", FORK_AND_EXIT], cwd=tmp_path, capture_output=True, timeout=300
    )
    assert (result.returncode, result.stderr.decode()) == (0, "")
    np.testing.assert_array_equal(np.load(tmp_path / "a.npy"), np.arange(9.0))
    assert os.listdir(tmp_path) == ["a.npy"]
