"""Mistakes of a writer or a reader, each a program of two ranks: every rank of both programs gets the error."""

import os
import re
import shutil
import subprocess
import sys
import time

import numpy as np
import pytest
from launching import find_launcher, needs_mpi
from pipe_ends import BackgroundThread

import plait

PROGRAM = """
import os, signal, sys, threading, time
import numpy as np, plait
from mpi4py import MPI
comm = MPI.COMM_WORLD
layout = plait.Layout((4,), "(block)", grid=(2,))
try:
    {body}
    print("no error")
except plait.Error as error:
    print(f"{{type(error).__name__}}: {{error}}".replace("\\n", " "), flush=True)
"""
WRITER = """with plait.open("pipe:flow?timeout=5{more}", "w", comm=comm, shape=(4,), dtype="f8") as file:
        for step in range(3):
            {step}"""
READER = """with plait.open("pipe:flow?timeout=5{more}", comm=comm{options}) as file:
        for step in range(3):
            {step}"""
WRITES, READS = "file.write(np.zeros(2), layout)", "file.read(layout)"


def writer(more="", step=WRITES):
    """Return the body of a program that writes; `more` extends the URL, `step` is run for each step."""
    return WRITER.format(more=more, step=step)


def reader(more="", options="", step=READS):
    """Return the body of a program that reads; `options` are further arguments of plait.open()."""
    return READER.format(more=more, options=options, step=step)


def start(body):
    command = [find_launcher(), "-n", "2", sys.executable, "-c", PROGRAM.format(body=body)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def run_programs(*bodies):
    """Run programs concurrently, and return the line that each prints; all ranks of a program print the same line."""
    lines = []
    for job in [start(body) for body in bodies]:
        output = job.communicate(timeout=300)[0].splitlines()
        assert len(output) == 2, output
        assert output[0] == output[1], output
        lines.append(output[0])
    return lines


@needs_mpi
@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("options", "texts"),
    [
        (", shape=(5,)", ["writes 4 <f8, but", "reads 5 <f8"]),
        (', dtype="f4"', ["writes 4 <f8, but", "reads 4 <f4", "let the reader open pipe:flow?casting=same_kind"]),
    ],
)
def test_different_types_at_the_two_ends_are_an_error(options, texts):
    for text in run_programs(writer(), reader(options=options)):
        assert "the two ends differ" in text
        for expected in texts:
            assert expected in text


@needs_mpi
@pytest.mark.long
def test_a_missing_variable_is_an_error():
    writer_text, reader_text = run_programs(writer(), reader(step='file.begin_step(); file.read(layout, variable="u")'))
    assert reader_text == 'ArgumentError: pipe:flow?timeout=5: the array "u" is not in step 0, which has: data'
    assert "the reader python" in writer_text
    assert re.search('has failed: .*ArgumentError: pipe:flow.timeout=5: the array "u" is not in step 0', writer_text), (
        writer_text
    )


@needs_mpi
@pytest.mark.long
def test_reading_more_steps_than_are_written_is_an_error():
    """The reader requests more steps than the writer writes."""
    writer_text, reader_text = run_programs(writer(), reader(step="[file.read(layout) for _ in range(2)]"))
    assert reader_text == "StoreError: pipe:flow?timeout=5: no more steps will come; the writer has closed the pipe"
    assert writer_text == "no error"


@needs_mpi
@pytest.mark.long
def test_a_changed_shape_is_an_error():
    layout = 'plait.Layout((4 + 2 * step,), "(block)", grid=(2,))'
    write_larger = f'file.define("data", (4 + 2 * step,), "f8"); file.write(np.zeros(2 + step), {layout})'
    message = "of step 1 is 6 elements of 8 bytes (<f8), but the read expected 4 elements of 8 bytes (<f8)"
    writer_text, reader_text = run_programs(writer(step=write_larger), reader())
    assert message in reader_text
    assert message in writer_text


@needs_mpi
@pytest.mark.sampled(1)
@pytest.mark.parametrize("end", ["writer", "reader"])
def test_a_missing_other_end_is_an_error(end):
    (text,) = run_programs((writer if end == "writer" else reader)().replace("timeout=5", "timeout=0.5"))
    missing = {"writer": "no reader has come within 0.5 s", "reader": "no writer has come within 0.5 s"}[end]
    assert missing in text
    assert os.environ["PLAIT_MEET"] in text


@needs_mpi
@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda folder: folder.chmod(0o755), "can be seen by other users: Operation not permitted; say chmod 700"),
        (lambda folder: folder.rmdir(), "No such file or directory; make it"),
        (lambda folder: (folder.rmdir(), folder.touch()), "Not a directory; make it"),
    ],
)
def test_unusable_meeting_folders_are_reported(meeting_folder, change, message):
    change(meeting_folder)
    try:
        for text in run_programs(writer(), reader()):
            assert message in text
            assert str(meeting_folder) in text
            assert "or name another folder that both programs see by PLAIT_MEET" in text
    finally:
        if meeting_folder.is_file():
            meeting_folder.unlink()
        meeting_folder.mkdir(exist_ok=True)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_is_reported(meeting_folder):
    meeting_folder.chmod(0o500)
    with pytest.raises(plait.StoreError, match="cannot write to the folder"):
        plait.open("pipe:flow", "w", shape=(3,), dtype="f8")
    meeting_folder.chmod(0o700)


def test_an_invisible_lock_is_reported_at_both_ends(meeting_folder):
    """A copy of the writer's file has no lock, as on a file system that does not propagate locks to other hosts."""

    def write():
        with plait.open("pipe:flow?readers=1&timeout=20", "w", shape=(3,), dtype="f8") as file:
            for _ in range(5):
                file.write(np.zeros(3))

    thread = BackgroundThread(write)
    while not (meeting_folder / "flow.pipe").exists():
        time.sleep(0.01)
    shutil.copy(meeting_folder / "flow.pipe", meeting_folder / "copy.pipe")
    message = "is there, but the lock of its file in .* is not seen by python.*name another one by PLAIT_MEET"
    with pytest.raises(plait.StoreError, match=message):
        plait.open("pipe:copy?timeout=20")
    with pytest.raises(plait.StoreError, match=message):
        thread.result()
    # The error does not mention a writer that has ended.
    with pytest.raises(plait.StoreError, match="no writer has come within 1 s"):
        plait.open("pipe:copy?timeout=1")
    (meeting_folder / "copy.pipe").unlink()


READS_WHILE_A_RANK_IS_KILLED = """with plait.open("pipe:flow", comm=comm) as file:
        file.read(layout)
        began = time.time()
        if comm.rank == 1:
            threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGKILL)).start()
        try:
            file.read(layout)
        except plait.Error as error:
            print(f"{time.time() - began:.2f} {error}", flush=True)
            os._exit(0)"""


@needs_mpi
@pytest.mark.long
def test_a_rank_that_ends_while_its_program_waits_for_a_step_is_an_error():
    """The other ranks and the writer detect it without waiting for the next step."""

    def write():
        with plait.open("pipe:flow?queue=1", "w", shape=(4,), dtype="f8") as file:
            file.write(np.zeros(4))
            began = time.monotonic()
            while time.monotonic() < began + 60:
                if not plait.pipe_status("pipe:flow").readers:
                    break
                time.sleep(0.05)
            killed_after = time.monotonic() - began
            with pytest.raises(plait.StoreError) as error:
                file.write(np.zeros(4))
            raise RuntimeError(f"{killed_after:.2f} {error.value}")

    thread = BackgroundThread(write)
    # The status is 0, so that the launcher does not kill the other rank.
    command = [find_launcher(), "-n", "2", "sh", "-c", '"$@"; sleep 3', "sh", sys.executable, "-c"]
    command += [PROGRAM.format(body=READS_WHILE_A_RANK_IS_KILLED)]
    job = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    with pytest.raises(RuntimeError, match=r"the reader .* has failed: .*rank 1") as error:
        thread.result()
    assert float(str(error.value).split()[0]) < 40
    output = job.communicate(timeout=300)[0]
    error_seconds = [float(line.split()[0]) for line in output.splitlines() if "rank 1" in line and line[0].isdigit()]
    assert len(error_seconds) == 1, output
    assert 0.4 < error_seconds[0] < 12, output  # the rank is killed after 0.5 s
