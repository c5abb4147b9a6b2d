"""Failures at one end of a pipe, and the reaction of the other end."""

import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from launching import find_launcher, needs_mpi
from pipe_ends import BackgroundThread, write_steps

import plait
from plait import Layout

LAYOUT = Layout((3,), "(*) onto ()")


def test_an_incompatible_reader_does_not_end_a_writer_without_required_readers():
    with plait.open("pipe:flow?drop=oldest&readers=0", "w", shape=(3,), dtype="f8") as file:
        file.write(np.zeros(3))
        with pytest.raises(plait.ArgumentError, match="the two ends differ"):
            plait.open("pipe:flow", dtype="f4")
        file.write(np.ones(3))
        with plait.open("pipe:flow") as reader:
            assert reader.read().shape == (3,)


def test_an_incompatible_reader_does_not_end_a_writer_with_all_readers():
    may_write = threading.Event()

    def write():
        with plait.open("pipe:flow", "w", shape=(3,), dtype="f8") as file:
            may_write.wait(300)
            for number in range(3):
                file.write(np.full(3, float(number)))

    writer = BackgroundThread(write)
    with plait.open("pipe:flow") as file:
        with pytest.raises(plait.ArgumentError, match="the two ends differ"):
            plait.open("pipe:flow", shape=(4,))
        may_write.set()
        assert [float(file.read()[0]) for _ in file] == [0, 1, 2]
    writer.result()


def test_idle_readers_do_not_block_a_writer_that_drops_steps():
    with plait.open("pipe:flow?drop=oldest&readers=0&queue=3", "w", shape=(3,), dtype="f8") as file:
        file.write(np.zeros(3))
        with plait.open("pipe:flow") as first, plait.open("pipe:flow") as second:
            assert first.begin_step().number == 0
            file.write(np.zeros(3))
            second.begin_step()
            for _ in range(10):
                file.write(np.zeros(3))
    with pytest.raises(plait.ArgumentError, match="needs queue=2 or more"):
        plait.open("pipe:flow?drop=oldest&queue=1", "w", shape=(3,), dtype="f8")


def test_a_reader_that_leaves_within_a_step_has_consumed_it():
    writer = BackgroundThread(write_steps, "pipe:flow?queue=1", LAYOUT, 1)
    with plait.open("pipe:flow") as file:
        for _ in file:
            file.read()
            break
    writer.result(10)


def test_a_waiting_reader_gets_the_error_of_the_writer():
    def write():
        with plait.open("pipe:flow?readers=2&timeout=1", "w", shape=(3,), dtype="f8"):
            pass

    writer = BackgroundThread(write)
    with plait.open("pipe:flow") as file, pytest.raises(plait.StoreError, match="only 1 of 2 readers have come"):
        file.read()
    with pytest.raises(plait.StoreError, match="only 1 of 2 readers have come"):
        writer.result()


def test_a_reader_with_timeout_0_finds_an_existing_writer():
    with pytest.raises(plait.StoreError, match="no writer has come within 0 s"):
        plait.open("pipe:flow?timeout=0")
    with plait.open("pipe:flow?drop=oldest&readers=0", "w", shape=(3,), dtype="f8") as file:
        file.write(np.arange(3.0))
        with plait.open("pipe:flow?timeout=0") as reader:
            np.testing.assert_array_equal(reader.read(), np.arange(3.0))


def test_a_changed_type_is_an_error_for_readers_that_did_not_check():
    def write():
        with plait.open("pipe:flow", "w", shape=(3,), dtype="f4") as file:
            file.write(np.arange(3, dtype="f4"))
            file.define("data", (3,), "f8")
            file.write(np.arange(3, dtype="f8"))
            file.write(np.arange(3, dtype="f8"))

    writer = BackgroundThread(write)
    with plait.open("pipe:flow") as file:
        assert file.read().dtype == np.dtype("f4")
        with pytest.raises(
            plait.ArgumentError,
            match=r"is 3 elements of 8 bytes \(<f8\), but the read expected 3 elements of 4 bytes \(<f4\)",
        ):
            file.read()
        for _ in file:
            assert file.read().dtype == np.dtype("f8")
    writer.result()


@pytest.mark.parametrize(("url", "dtype"), [("pipe:flow", "f8"), ("pipe:flow?casting=safe", "c16")])
def test_the_type_that_a_reader_expects_is_that_of_every_step(url, dtype):
    def write():
        with plait.open("pipe:flow", "w", shape=(3,), dtype="f8") as file:
            file.write(np.arange(3.0))
            file.define("data", (3,), "S8")
            file.write(np.zeros(3, "S8"))

    def read():
        with plait.open(url, dtype=dtype) as file:
            for _ in file:
                np.testing.assert_array_equal(file.read(), np.arange(3.0))

    writer = BackgroundThread(write)
    message = rf"step 1 has elements of type .*S8, but this reader expects .*{dtype}"
    with pytest.raises(plait.ArgumentError, match=message):
        read()
    with pytest.raises(plait.StoreError, match="has failed"):
        writer.result()


def test_a_reader_that_fails_while_the_writer_closes_is_named_to_the_other_readers():
    def fail():
        with plait.open("pipe:flow") as file:
            file.begin_step()
            failing.wait(300)
            raise ZeroDivisionError("no memory for it")

    def write():
        with plait.open("pipe:flow?readers=2", "w", shape=(3,), dtype="f8") as file:
            file.write(np.zeros(3))

    failing = threading.Event()
    reader = BackgroundThread(fail)
    writer = BackgroundThread(write)
    with plait.open("pipe:flow") as other:
        while plait.pipe_status("pipe:flow").queued == 0:
            time.sleep(0.01)
        failing.set()
        with pytest.raises(ZeroDivisionError):
            reader.result()
        with pytest.raises(plait.StoreError, match=r"the reader .* has failed: ZeroDivisionError"):
            writer.result()
        with pytest.raises(
            plait.StoreError, match=r"given up: .*the reader .* has failed: ZeroDivisionError: no memory"
        ):
            other.begin_step()


def test_redefined_variables_are_written_with_the_new_definition():
    def write():
        with plait.open("pipe:flow", "w", shape=(3,), dtype="f8") as file:
            for size in (10, 20, 5):
                file.begin_step()
                file.define("p", (size,), "f4")
                file.write(np.full(size, size, "f4"), variable="p")
                file.end_step()

    writer = BackgroundThread(write)
    sizes = []
    with plait.open("pipe:flow") as file:
        for _ in file:
            actual = file.read(variable="p")
            assert (actual == actual.size).all()
            sizes.append(actual.size)
    assert sizes == [10, 20, 5]
    writer.result()


@needs_mpi
def test_ranks_that_write_different_arrays_get_an_error(tmp_path):
    program = tmp_path / "differ.py"
    program.write_text(
        """
import numpy as np, plait
from mpi4py import MPI
comm = MPI.COMM_WORLD
layout = plait.Layout((4,), "(block)", grid=(comm.size,))
names = ["u", "v"] if comm.rank == 0 else ["v", "u"]
with plait.open("pipe:flow?readers=0&drop=oldest", "w", comm=comm, shape=(4,), dtype="f8") as file:
    try:
        for name in names:
            file.write(np.zeros(2), layout, variable=name)
    except plait.ArgumentError as error:
        assert "the ranks of a collective call differ" in str(error) and 'array "v"' in str(error), error
        print("reported")
"""
    )
    process = subprocess.run(
        [find_launcher(), "-n", "2", sys.executable, program], capture_output=True, text=True, timeout=300, check=False
    )
    assert process.stdout.split() == ["reported", "reported"], process.stdout + process.stderr


#: Calls that wait: for a writer, for a step, for a reader.
INTERRUPTED = {
    "reader": "plait.open('pipe:flow?timeout=60')",
    "step": "plait.open('pipe:other').begin_step()",
    "writer": "plait.open('pipe:flow?timeout=60', 'w', shape=(3,), dtype='f8')",
}


@pytest.mark.sampled(1)
@pytest.mark.parametrize("waiting_for", INTERRUPTED)
def test_waiting_can_be_interrupted(waiting_for):
    # Programs that a shell starts in the background ignore Ctrl-C, and their children as well.
    program = "import plait, signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
    program += f"print('ready', flush=True)\ntry:\n    {INTERRUPTED[waiting_for]}\n"
    program += "except KeyboardInterrupt:\n    print('interrupted')\n"
    with plait.open("pipe:other?readers=0&drop=oldest", "w", shape=(3,), dtype="f8"):
        process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.3)  # the program should be waiting by then
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=300)
        assert output == "interrupted\n"
