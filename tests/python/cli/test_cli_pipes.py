"""`plait copy` and `plait info` with pipes and with standard input and output, as a shell runs them."""

import json
import math
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from click.shell_completion import ShellComplete
from launching import needs_mpi, run

import plait
from plait.cli import main

pytestmark = pytest.mark.usefixtures("nothing_left", "programs")
SHAPE = (40, 50)
WRITER = """
import sys, time
import numpy as np
import plait

count, pause, options = int(sys.argv[1]), float(sys.argv[2]), sys.argv[3]
with plait.open("pipe:flow" + options, "w", shape=(40, 50), dtype="f8") as file:
    for number in range(count):
        file.begin_step({"time": 0.5 * number})
        file.write(np.full((40, 50), float(number)))
        file.end_step()
        time.sleep(pause)
"""
PRINTER = """
import sys
import types
import numpy as np

stream = types.SimpleNamespace(read=sys.stdin.buffer.read)  # without a position, which NumPy would ask for
while sys.stdin.buffer.peek(1):
    print(np.lib.format.read_array(stream).mean())
"""


@pytest.fixture
def programs(tmp_path, monkeypatch, meeting_folder):
    """Write the programs to the working directory, and put `plait` into the PATH."""
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "writer.py").write_text(WRITER, encoding="utf-8")
    (tmp_path / "printer.py").write_text(PRINTER, encoding="utf-8")


class Writer:
    """A program that writes to pipe:flow while the test runs."""

    def __init__(self, count, pause=0.0, options=""):
        command = [sys.executable, "writer.py", str(count), str(pause), options]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    def wait_for_end(self):
        """Return the exit status of the program and its errors."""
        _, errors = self.process.communicate(timeout=300)
        return self.process.returncode, errors

    def wait_for_step(self):
        """Wait until the program has written a step."""
        deadline = time.monotonic() + 300
        while time.monotonic() < deadline:
            if plait.pipe_names() == ["flow"] and plait.pipe_status("pipe:flow").newest is not None:
                return
            time.sleep(0.02)
        raise AssertionError("the program writes nothing")


def run_in_shell(command):
    assert shutil.which("bash")
    return subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=300, check=False)


def remove_killed_files():
    """Remove the files of a killed writer: readers ignore them, and the next writer would remove them."""
    assert plait.pipe_names() == []
    for path in Path("meet").iterdir():
        path.unlink()


def list_arrays():
    return sorted(path.name for path in Path().iterdir() if path.suffix in (".npy", ".bin"))


@pytest.mark.long
def test_steps_are_copied_to_files_and_back():
    with Writer(3) as writer:
        result = run_in_shell("plait copy pipe:flow 'a-{step:02}.npy'")
        assert writer.wait_for_end()[0] == 0
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith("pipe:flow -> a-{step:02}.npy: 3 steps, 46.9 KiB in ")
    assert list_arrays() == ["a-00.npy", "a-01.npy", "a-02.npy"]
    result = run_in_shell("plait copy a-*.npy pipe:flow & plait copy pipe:flow 'b-{step}.npy' --json; wait")
    assert "a-00.npy and 2 more -> pipe:flow: 3 steps, 46.9 KiB in " in result.stdout
    document = json.loads(next(line for line in result.stdout.splitlines() if line.startswith("{")))
    assert (document["steps"], document["bytes"], document["shape"]) == (3, 48000, [40, 50])
    for number in range(3):
        assert Path(f"b-{number}.npy").read_bytes() == Path(f"a-0{number}.npy").read_bytes()
        assert (np.load(f"b-{number}.npy") == number).all()


@pytest.mark.long
def test_a_single_step_is_copied_from_a_running_pipe():
    with Writer(4, 0.0, "?readers=0") as writer:
        writer.wait_for_step()
        assert run_in_shell("plait copy pipe:flow a.npy --steps 1").returncode == 0
        assert run_in_shell("plait copy pipe:flow 'b-{step}.npy'").returncode == 0
        assert writer.wait_for_end() == (0, "")
    assert (np.load("a.npy") == 0).all()
    assert list_arrays() == ["a.npy", "b-1.npy", "b-2.npy", "b-3.npy"]


def test_shell_pipelines_pass_arrays():
    with Writer(3) as writer:
        result = run_in_shell(f"plait copy pipe:flow - | {sys.executable} printer.py")
        assert (result.stdout, result.stderr, writer.wait_for_end()[0]) == ("0.0\n1.0\n2.0\n", "", 0)
    np.save("a.npy", np.arange(6.0))
    # One pipe feeds the next, through two shell pipelines.
    result = run_in_shell(
        f"cat a.npy a.npy | plait copy - pipe:next >&2 & plait copy pipe:next - | {sys.executable} printer.py; wait"
    )
    assert result.stdout == "2.5\n2.5\n"
    assert result.stderr.startswith("- -> pipe:next: 2 steps, 96 B in ")
    assert run_in_shell("plait copy a.npy - | plait copy - b.npy").returncode == 0
    assert Path("b.npy").read_bytes() == Path("a.npy").read_bytes()


@pytest.mark.long
def test_raw_elements_have_no_headers():
    np.save("a.npy", np.arange(6.0))
    assert run_in_shell("plait copy a.npy - --raw > a.bin").returncode == 0
    assert Path("a.bin").read_bytes() == np.arange(6.0).tobytes()
    result = run_in_shell("cat a.bin | plait copy - 'b{step}.npy' --raw --shape 3 --dtype f8")
    assert result.returncode == 0, result.stderr
    assert (np.load("b0.npy").tolist(), np.load("b1.npy").tolist()) == ([0, 1, 2], [3, 4, 5])


def test_a_reader_that_closes_early_ends_the_copy_quietly():
    with Writer(1000) as writer:  # more than the 64 KiB that the shell's pipe holds when `head` has ended
        result = run_in_shell("plait copy pipe:flow - | head -c 10 | wc -c")
        assert (result.stdout.strip(), result.stderr) == ("10", "")
        # The writer continues: the next reader gets the unread data.
        result = run_in_shell("plait copy pipe:flow 'a-{step}.npy'")
        assert result.returncode == 0, result.stderr
        assert writer.wait_for_end() == (0, "")
    assert list_arrays()[-1] == "a-999.npy"
    np.save("large.npy", np.zeros(1 << 20))
    result = run_in_shell("plait copy large.npy - | head -c 10 > /dev/null; echo ${PIPESTATUS[0]}")
    assert (result.stdout, result.stderr) == ("1\n", "")


def test_a_full_disk_prints_one_line():
    with Writer(50) as writer:
        result = run_in_shell("plait copy pipe:flow - > /dev/full")
        assert (result.returncode, result.stderr) == (
            2,
            "Error: the standard output, step 0: No space left on device\n",
        )
        status, errors = writer.wait_for_end()
        assert (status, "has failed" in errors) == (1, True)


def test_a_killed_writer_leaves_complete_steps_only():
    with Writer(9, 0.2) as writer, open("a.bin", "wb") as out:
        command = [sys.executable, "-m", "plait.cli", "copy", "pipe:flow", "-"]
        with subprocess.Popen(command, stdout=out, stderr=subprocess.PIPE, text=True) as copying:
            deadline = time.monotonic() + 300
            while Path("a.bin").stat().st_size < 2 * 16128 and time.monotonic() < deadline:
                time.sleep(0.02)
            writer.process.kill()
            _, errors = copying.communicate(timeout=300)
    assert copying.returncode == 2
    assert errors.startswith("Error: pipe:flow: the writer, ")
    assert len(errors.splitlines()) == 1
    assert Path("a.bin").stat().st_size % 16128 == 0
    remove_killed_files()


@pytest.mark.sampled(1)
@pytest.mark.parametrize("ranks", [1, pytest.param(2, marks=needs_mpi)])
@pytest.mark.parametrize("has_begun", [False, True])
def test_waiting_for_the_other_end_can_be_stopped(ranks, has_begun):
    command = ["env", "--default-signal=INT", sys.executable, "-m", "plait.cli", "copy", "pipe:flow", "a-{step}.npy"]
    command += ["--ranks", str(ranks)]
    with Writer(2, 3600) as writer:
        if not has_begun:
            writer.process.kill()
            writer.wait_for_end()
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as copying:
            deadline = time.monotonic() + 300
            while has_begun and not Path("a-0.npy").exists() and time.monotonic() < deadline:
                time.sleep(0.05)
            time.sleep(0.0 if has_begun else 3.0)
            copying.send_signal(signal.SIGINT)
            output, errors = copying.communicate(timeout=300)
    assert (copying.returncode, output) == (1, "")
    assert errors == "Error: the copy was stopped; the files that were complete are kept\n"
    assert list_arrays() == (["a-0.npy"] if has_begun else [])
    remove_killed_files()


@needs_mpi
@pytest.mark.long
def test_ranks_copy_a_pipe_together():
    with Writer(3) as writer:
        result = run_in_shell("plait copy pipe:flow 'a-{step}.npy' --ranks 3")
        assert (result.returncode, result.stderr, writer.wait_for_end()[0]) == (0, "", 0)
    assert "by 3 ranks" in result.stdout
    assert (np.load("a-2.npy") == 2).all()
    result = run_in_shell(
        "plait copy a-*.npy pipe:flow --ranks 2 & plait copy pipe:flow 'b-{step}.npy' --ranks 3; wait"
    )
    assert result.returncode == 0, result.stderr
    assert Path("b-1.npy").read_bytes() == Path("a-1.npy").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("a.npy", "-", "--ranks", "2"), "leave out --ranks, or name a file"),
        (("-", "-"), "'-' is given as the source and as the target"),
        (("a.npy", "b.npy", "--raw"), "pass one stream"),
        (("a.npy", "b.npy", "c.npy"), "2 sources make as many steps, but c.npy holds one"),
        (("pipe:flow?timeout=0", "c.npy"), "pipe:flow?timeout=0: no writer has come within 0 s"),
        (("a.npy", "c.npy", "--variable", "heat"), "has no array 'heat'; it has: data"),
        (("a.npy", "c-{step:q}.npy"), "is not a format for a number"),
    ],
)
def test_wrong_arguments_print_one_line(arguments, text):
    np.save("a.npy", np.zeros(3))
    np.save("b.npy", np.zeros(3))
    result = run("copy", *arguments)
    assert (result.exit_code, len(result.stderr.splitlines())) == (2, 1)
    assert text in result.stderr
    assert list_arrays() == ["a.npy", "b.npy"]


def test_arrays_are_not_written_to_a_terminal():
    controller, terminal = os.openpty()
    np.save("a.npy", np.zeros(3))
    command = [sys.executable, "-m", "plait.cli", "copy", "a.npy", "-"]
    result = subprocess.run(command, stdout=terminal, stderr=subprocess.PIPE, text=True, timeout=300, check=False)
    os.close(terminal)
    os.close(controller)
    assert (result.returncode, "the standard output is a terminal" in result.stderr) == (2, True)


@pytest.mark.long
def test_info_describes_a_pipe():
    with Writer(30, 0.02, "?readers=0&queue=40") as writer:
        writer.wait_for_step()
        listing = run("info")
        document = json.loads(run("info", "pipe:flow", "--json").stdout)
        text_info = run("info", "pipe:flow").stdout
        assert plait.copy("pipe:flow", "a-{step}.npy").steps == 30
        assert writer.wait_for_end()[0] == 0
    assert listing.stdout.splitlines()[0] == "pipe:flow"
    assert (document["kind"], document["shape"], document["dtype"]) == ("pipe", [40, 50], "<f8")
    status = document["pipe"]
    assert (status["writer"]["process"], status["writer"]["ranks"]) == (writer.process.pid, 1)
    assert (status["steps"], status["queued"], status["queue"], status["dropped"]) == (status["newest"] + 1,) * 2 + (
        40,
        0,
    )
    assert status["bytes"] == status["steps"] * 16000
    assert status["attributes"] == {"time": 0.5 * status["newest"]}
    assert status["variables"] == [{"name": "data", "shape": [40, 50], "dtype": "<f8", "layout": "40x50 (*, *)"}]
    for line in (
        "array      40x50 <f8; ",
        f"process {writer.process.pid} on {os.uname().nodename}, 1 rank",
        "reader     none",
        " of 40 steps held",
        "data: <f8 40x50 (*, *)",
    ):
        assert line in text_info
    assert run("info").stdout == "no program writes to a pipe\n"
    result = run("info", "pipe:flow")
    assert (result.exit_code, len(result.stderr.splitlines())) == (2, 1)
    assert "pipe:flow: no program writes to it; programs meet in " in result.stderr


def test_info_prints_nan_and_infinity_as_texts():
    with plait.open("pipe:flow?readers=0", "w", shape=(3,), dtype="f8") as file:
        file.begin_step({"residual": math.nan, "limit": math.inf, "step": 3})
        file.write(np.zeros(3))
        file.end_step()
        text = run("info", "pipe:flow", "--json").stdout
        with plait.open("pipe:flow") as reader:
            reader.read()

    def fail(word):
        raise AssertionError(word)

    attributes = json.loads(text, parse_constant=fail)["pipe"]["attributes"]
    assert attributes == {"residual": "nan", "limit": "inf", "step": 3}


def test_info_describes_files():
    array = np.asfortranarray(np.arange(12.0).reshape(3, 4))
    np.save("a.npy", array)
    Path("a.bin").write_bytes(bytes(96))
    Path("d1").mkdir()
    Path("d2").mkdir()
    plait.copy("a.npy", "stripe:s.bin?disks=d1,d2&unit=16")
    plait.copy("a.npy", "distant:d?striped=true")
    result = run("info", "a.npy", "a.bin")
    assert result.stdout.split("\n\n")[0].splitlines() == [
        "a.npy",
        "kind       a .npy file",
        "array      3x4 <f8, order F, 96 B",
        "size       224 bytes",
    ]
    assert "note       a.bin: shape and dtype must be given" in result.stdout
    document = json.loads(run("info", "a.bin", "--shape", "12", "--dtype", "f8", "--json").stdout)
    assert (document["shape"], document["dtype"], document["size"], document["note"]) == ([12], "<f8", 96, None)
    for name in ("s.bin", "stripe:s.bin"):
        document = json.loads(run("info", name, "--shape", "3x4", "--dtype", "f8", "--order", "F", "--json").stdout)
        assert (document["shape"], document["order"], document["unit"], document["size"]) == ([3, 4], "F", 16, 96)
        assert [part["size"] for part in document["components"]] == [48, 48]
        assert Path(document["components"][1]["path"]).parent.name == "d2"
    document = json.loads(run("info", "distant:d", "--json").stdout)
    assert (document["kind"], document["shape"], document["order"]) == ("an array on the ranks' own disks", [3, 4], "F")
    assert document["size"] == sum(part["size"] for part in document["components"]) == 224
    Path("a.mat").write_bytes(bytes(200))
    assert "the name ends like those of MATLAB files" in run("info", "a.mat").stdout
    for name, text in [
        ("none.npy", "none.npy: No such file"),
        ("memory:a", "in the memory of the process"),
        ("-", "cannot be described without reading it"),
    ]:
        result = run("info", name)
        assert (result.exit_code, len(result.stderr.splitlines())) == (2, 1)
        assert text in result.stderr


def test_completion_lists_pipes():
    with plait.open("pipe:flow?readers=0&drop=oldest", "w", shape=(3,), dtype="f8"):
        complete = ShellComplete(main, {}, "plait", "_PLAIT_COMPLETE")
        for prefix in ("p", "pipe:", "pipe:f"):
            completions = complete.get_completions(["info"], prefix)
            assert [item.value for item in completions if item.type == "plain"] == ["pipe:flow"]
        completions = complete.get_completions(["copy", "pipe:flow"], "fie")
        assert [(item.value, item.type) for item in completions] == [("fie", "file")]
