"""Uploads in parts to S3 that killed programs leave: copies resume them, and `plait clean` aborts them."""

import io
import json
import os
import signal
import subprocess
import sys
import time
import urllib.parse

import h5py
import launching
import numpy as np
import pytest
from click.testing import CliRunner

import plait
from plait.cli import main

LARGE = np.random.default_rng(2).integers(0, 1 << 30, (2500, 1999), dtype="i8")  # 40 MB: five parts
PARTS = 5
NAMES = ["t.npy", "t.h5::x", "t.nc::x"]


@pytest.fixture(autouse=True)
def no_uploads(server):
    """Begin and end without unfinished uploads on the server, which other tests share."""
    yield
    server.faults()
    clean("s3://public/u", "--older", "0")


@pytest.fixture
def source(tmp_path):
    np.save(tmp_path / "x.npy", LARGE)
    return str(tmp_path / "x.npy")


def clean(*arguments):
    result = CliRunner().invoke(main, ["clean", *arguments])
    assert result.exit_code == 0, result.output
    return result.stdout


def uploads(server):
    return json.loads(server.ask("GET", "/-/uploads"))


def sent_parts(server):
    """Return the numbers of the parts in the requests since the last call."""
    queries = [urllib.parse.parse_qs(one["query"]) for one in server.log() if one["method"] == "PUT"]
    return sorted(int(query["partNumber"][0]) for query in queries if "partNumber" in query)


def content(server, name):
    return io.BytesIO(server.ask("GET", f"/public/{name}"))


def read(server, name):
    """Return the array of an object, by the format's own library."""
    file, _, array = name.partition("::")
    if not array:
        return np.load(content(server, file))
    with h5py.File(content(server, file)) as found:
        return found[array][:]


def copy_killed(server, source, target, *options, kill=signal.SIGKILL, after=2):
    """Kill a copy when the server has some parts of its upload. Returns the exit status and its messages."""
    before = uploads(server)
    server.faults(delay=0.15)
    command = [sys.executable, "-m", "plait.cli", "copy", source, target, *options]
    program = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    sent = []
    end = time.monotonic() + 60
    server.log()
    while len(sent) < after:
        assert program.poll() is None, program.stderr.read()
        assert time.monotonic() < end
        sent += sent_parts(server)
        time.sleep(0.01)
    time.sleep(0.2)  # the log has a request before its part is stored
    if kill == signal.SIGTERM:
        server.faults(delay=1.5)  # the program does not end by itself soon enough
    program.send_signal(kill)
    message = program.communicate()[1]
    time.sleep(0.3)  # requests that have arrived are still answered
    server.faults()
    server.log()
    if kill == signal.SIGKILL:
        assert len(uploads(server)) == len(before) + 1
    return program.returncode, message


@pytest.mark.parametrize("name", NAMES)
def test_resumed(server, source, name):
    target = f"s3://public/u/{name}"
    copy_killed(server, source, target)
    plait.copy(source, target, resume=True)
    sent = sent_parts(server)
    assert len(sent) < PARTS - 1
    np.testing.assert_array_equal(read(server, f"u/{name}"), LARGE)
    assert uploads(server) == []


def test_not_resumed(server, source):
    """Without --resume all parts are sent, and the upload of the killed copy stays."""
    copy_killed(server, source, "s3://public/u/t.npy")
    plait.copy(source, "s3://public/u/t.npy")
    assert sent_parts(server) == [1, 2, 3, 4, 5]
    assert len(uploads(server)) == 1


def test_pages(server, source):
    for key in ("t.npy", "t.npy"):
        copy_killed(server, source, f"s3://public/u/{key}", after=4)
    server.faults(page=1)
    plait.copy(source, "s3://public/u/t.npy", resume=True)
    assert len(sent_parts(server)) <= 2
    np.testing.assert_array_equal(read(server, "u/t.npy"), LARGE)
    assert len(uploads(server)) == 1


def test_another_content(server, source, tmp_path):
    """An upload of other bytes is not touched: it may be that of a program that runs."""
    copy_killed(server, source, "s3://public/u/t.npy")
    np.save(tmp_path / "y.npy", LARGE + 1)
    plait.copy(str(tmp_path / "y.npy"), "s3://public/u/t.npy", resume=True)
    assert sent_parts(server) == [1, 2, 3, 4, 5]
    np.testing.assert_array_equal(read(server, "u/t.npy"), LARGE + 1)
    assert len(uploads(server)) == 1


def test_one_changed_part(server, source, tmp_path):
    """Parts whose bytes differ are sent again."""
    copy_killed(server, source, "s3://public/u/t.npy", after=4)
    changed = LARGE.copy()
    changed[800] += 1  # in the second part
    np.save(tmp_path / "y.npy", changed)
    plait.copy(str(tmp_path / "y.npy"), "s3://public/u/t.npy", resume=True)
    assert 2 in sent_parts(server)
    np.testing.assert_array_equal(read(server, "u/t.npy"), changed)
    assert uploads(server) == []


def test_a_lost_answer_to_the_completion(server, source):
    copy_killed(server, source, "s3://public/u/t.npy")
    server.faults(lose_answers=1)
    plait.copy(source, "s3://public/u/t.npy?conditions=off", resume=True)
    np.testing.assert_array_equal(read(server, "u/t.npy"), LARGE)


@launching.needs_mpi
def test_ranks(server, source):
    copy_killed(server, source, "s3://public/u/t.npy", after=3)
    command = [sys.executable, "-m", "plait.cli", "copy", source, "s3://public/u/t.npy", "--resume", "--ranks", "2"]
    subprocess.run(command, check=True, capture_output=True)
    assert len(sent_parts(server)) < PARTS - 1
    np.testing.assert_array_equal(read(server, "u/t.npy"), LARGE)


def test_an_error_leaves_what_is_resumed(server, source):
    server.faults(error_in_200=3)
    with pytest.raises(plait.Error, match="cannot write"):
        plait.copy(source, "s3://public/u/t.npy?conditions=off", resume=True)
    assert len(uploads(server)) == 1
    server.log()
    plait.copy(source, "s3://public/u/t.npy?conditions=off", resume=True)
    assert sent_parts(server) == []
    np.testing.assert_array_equal(read(server, "u/t.npy"), LARGE)


def test_terminated(server, source):
    """A copy that is asked to end removes its upload, also if it ends in the middle of a call."""
    status, message = copy_killed(server, source, "s3://public/u/t.npy", kill=signal.SIGTERM)
    assert (status, message.startswith("Error: the copy was stopped")) == (1, True)
    assert uploads(server) == []


def test_terminated_to_be_resumed(server, source):
    status, message = copy_killed(server, source, "s3://public/u/t.npy", "--resume", kill=signal.SIGTERM)
    assert status == 1
    assert "--resume" in message
    assert len(uploads(server)) == 1
    plait.copy(source, "s3://public/u/t.npy", resume=True)
    assert len(sent_parts(server)) < PARTS - 1


def test_open(server):
    """Files that are opened resume as well."""
    options = {"shape": LARGE.shape, "dtype": LARGE.dtype}

    def fail():
        with plait.open("s3://public/u/t.npy?conditions=off", "w", unfinished="keep", **options) as file:
            file.write(LARGE)
            server.faults(error_in_200=3)

    with pytest.raises(plait.Error, match="cannot write"):
        fail()
    server.faults()
    server.log()
    with plait.open("s3://public/u/t.npy", "w", unfinished="continue", **options) as file:
        file.write(LARGE)
    assert sent_parts(server) == []
    np.testing.assert_array_equal(read(server, "u/t.npy"), LARGE)


def test_clean(server, source):
    for name in ("u/a.npy", "u/a.npy.npy", "u/b/c d.npy"):
        copy_killed(server, source, f"s3://public/{name}")
    assert clean("s3://public/u") == "0 unfinished uploads aborted; 3 younger ones are left\n"
    found = json.loads(clean("s3://public/u", "--older", "0", "--dry-run", "--json"))
    assert sorted(one["key"] for one in found["old"]) == ["u/a.npy", "u/a.npy.npy", "u/b/c d.npy"]
    assert (found["aborted"], found["young"]) == (False, [])
    assert len(uploads(server)) == 3
    lines = clean("s3://public/u/a.npy", "--older", "0").splitlines()
    assert lines[0].startswith("u/a.npy  begun 20")
    assert lines[1] == "1 unfinished upload aborted"
    assert "u/b/c d.npy" in clean("s3://public/u/b", "--older", "0")
    assert len(uploads(server)) == 1
    server.faults(page=1)
    time.sleep(1.1)
    assert "1 unfinished upload aborted" in clean("s3://public/u", "--older", "1s")
    assert uploads(server) == []


def test_clean_other_stores(tmp_path):
    for url in ("az://container/x", "memory://a/x", "https://host/x"):
        result = CliRunner().invoke(main, ["clean", url])
        assert result.exit_code == 2
        assert "does not list unfinished uploads; expected a URL of s3:// or gs://" in result.stderr
    result = CliRunner().invoke(main, ["clean", "s3://a/x", "--older", "7"])
    assert "'7' is not an age such as 90s" in result.stderr


def test_clean_without_permission(server, monkeypatch):
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    result = CliRunner().invoke(main, ["clean", "s3://bucket/x"])
    assert result.exit_code == 2
    assert "cannot list the unfinished uploads of s3://bucket/x" in result.stderr
    assert os.environ["AWS_SECRET_ACCESS_KEY"] not in result.stderr
