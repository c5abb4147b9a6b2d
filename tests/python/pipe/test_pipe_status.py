"""The state of a pipe, requested from another process: its ends and its data; and waits that a signal interrupts."""

import os
import signal
import threading

import numpy as np
import pytest
from pipe_ends import BackgroundThread

import plait


def test_the_status_of_a_pipe_without_readers(meeting_folder):
    assert plait.pipe_names() == []
    with plait.open("pipe:flow?readers=0&queue=3&drop=oldest", "w", shape=(4, 6), dtype=">f4") as file:
        assert plait.pipe_names() == ["flow"]
        status = plait.pipe_status("pipe:flow")
        assert (status.name, status.folder, status.shape, status.dtype) == ("flow", str(meeting_folder), (4, 6), ">f4")
        assert (status.writer.process, status.writer.ranks) == (os.getpid(), 1)
        assert status.writer.host == os.uname().nodename
        assert (status.steps, status.newest, status.variables, status.readers) == (0, None, (), ())
        layout = plait.Layout((4, 6), "(*, cyclic) onto (3)")
        for number in range(5):
            file.begin_step({"time": 0.5, "name": "first", "count": 3})
            file.write([np.zeros(layout.local_shape(rank), ">f4") for rank in range(3)], layout)
            file.write(np.zeros(number + 1, "i8"), variable=f"p{number}")
            file.end_step()
        status = plait.pipe_status("pipe:flow")
        assert (status.steps, status.newest, status.queued, status.queue, status.dropped) == (5, 4, 3, 3, 2)
        assert status.bytes == 5 * 96 + 8 * (1 + 2 + 3 + 4 + 5)
        assert status.attributes == {"time": 0.5, "name": "first", "count": 3}
        assert [(variable.name, variable.shape, variable.dtype) for variable in status.variables] == [
            ("data", (4, 6), np.dtype(">f4")),
            ("p4", (5,), np.dtype("i8")),
        ]
        assert plait.Layout.parse(status.variables[0].layout) == layout
    assert plait.pipe_names() == []


def test_the_status_shows_readers_and_does_not_disturb_them():
    def write():
        with plait.open("pipe:flow?queue=1", "w", shape=(2,), dtype="f8") as file:
            for _ in range(3):
                file.write(np.zeros(2))

    writer = BackgroundThread(write)
    with plait.open("pipe:flow") as file:
        numbers = []
        for step in file:
            (reader,) = plait.pipe_status("pipe:flow").readers
            assert (reader.next_step, reader.program.process) == (step.number, os.getpid())
            numbers.append(step.number)
    writer.result()
    assert numbers == [0, 1, 2]


def test_missing_pipes_are_reported(meeting_folder):
    with pytest.raises(
        FileNotFoundError, match=r"pipe:flow: no program writes to it; .* no program writes to a pipe"
    ) as error:
        plait.pipe_status("pipe:flow")
    assert (str(meeting_folder) in str(error.value), error.value.filename) == (True, "pipe:flow")
    other = plait.open("pipe:other?readers=0&drop=oldest", "w", shape=(2,), dtype="f8")
    with other, pytest.raises(FileNotFoundError, match="there are: other"):
        plait.pipe_status("pipe:flow")
    with pytest.raises(plait.ArgumentError, match="has no / in it"):
        plait.pipe_status("pipe:a/b")
    with pytest.raises(plait.ArgumentError):
        plait.pipe_status("field.npy")
    meeting_folder.chmod(0o755)
    for call in (plait.pipe_names, lambda: plait.pipe_status("pipe:flow")):
        with pytest.raises(plait.StoreError, match="can be seen by other users"):
            call()


class SignalTimer:
    """Sends this process a signal after a short time; the handler raises an exception."""

    def __enter__(self):
        self._before = signal.signal(signal.SIGUSR1, self._stop)
        self._timer = threading.Timer(0.3, os.kill, [os.getpid(), signal.SIGUSR1])
        self._timer.start()

    def __exit__(self, *error):
        self._timer.cancel()
        signal.signal(signal.SIGUSR1, self._before)

    @staticmethod
    def _stop(number, frame):
        raise KeyboardInterrupt("stop")


def write_several_steps(file):
    for _ in range(9):  # more steps than the queue holds
        file.write(np.zeros(2))


def test_a_signal_interrupts_waiting_for_another_program():
    with pytest.raises(KeyboardInterrupt, match="stop"), SignalTimer():
        plait.open("pipe:flow")
    with pytest.raises(KeyboardInterrupt), SignalTimer():
        plait.open("pipe:flow", "w", shape=(2,), dtype="f8")
    assert plait.pipe_names() == []


def test_a_signal_interrupts_waiting_for_a_step():
    ready = threading.Event()

    def write():
        with plait.open("pipe:flow", "w", shape=(2,), dtype="f8") as file:
            file.write(np.zeros(2))
            ready.wait(300)
            with pytest.raises(plait.StoreError, match=r"the reader .* has failed"):
                write_several_steps(file)
            file.write(np.zeros(2))

    def read():
        with plait.open("pipe:flow") as file:
            for _ in file:
                pass

    writer = BackgroundThread(write)
    with pytest.raises(KeyboardInterrupt), SignalTimer():
        read()
    ready.set()
    read()
    writer.result()


def test_a_signal_interrupts_waiting_for_queue_space():
    def read():
        with plait.open("pipe:flow") as file:
            file.begin_step()
            ended.wait(300)
            with pytest.raises(plait.StoreError):
                read_all_steps(file)

    def read_all_steps(file):
        for _ in file:
            pass

    def write():
        with plait.open("pipe:flow?queue=1", "w", shape=(2,), dtype="f8") as file:
            write_several_steps(file)

    ended = threading.Event()
    reader = BackgroundThread(read)
    with pytest.raises(KeyboardInterrupt), SignalTimer():
        write()
    ended.set()
    reader.result()


def test_a_handler_without_an_exception_does_not_interrupt():
    received = []
    before = signal.signal(signal.SIGUSR1, lambda number, frame: received.append(number))
    timer = threading.Timer(0.2, os.kill, [os.getpid(), signal.SIGUSR1])
    timer.start()
    try:
        with pytest.raises(plait.StoreError, match=r"no writer has come within 0\.6 s"):
            plait.open("pipe:flow?timeout=0.6")
    finally:
        timer.join()
        signal.signal(signal.SIGUSR1, before)
    assert received == [signal.SIGUSR1]
