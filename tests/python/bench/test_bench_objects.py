"""`plait bench objects`: requests, advice and output, and that it leaves no objects."""

import json
import os
import signal
import subprocess
import sys
import time
from importlib.util import find_spec

import numpy as np
import pytest
from click.testing import CliRunner
from object_servers import use_keys

import plait
from plait.cli import main
from plait_bench.objects.advice import advise, find_smallest_setting
from plait_bench.objects.driver import GET, PUT, Cell, ObjectSettings, run_objects
from plait_bench.objects.location import append_to_url, bucket_and_key, content, find_target, remove_all
from plait_bench.objects.tools import PLAIT, TOOLS

KIB, MIB = 1 << 10, 1 << 20


@pytest.fixture
def server(s3_server, monkeypatch, tmp_path):
    use_keys(monkeypatch, s3_server, tmp_path)
    s3_server.set_faults()
    s3_server.take_log()
    yield s3_server
    s3_server.set_faults()


def measure(url, **options):
    defaults = {"connections": (1, 3), "pieces": (64 * KIB, 256 * KIB), "size": MIB, "samples": 4, "rounds": 2}
    return run_objects(ObjectSettings(url, **{**defaults, "seconds": 0.05, **options}))


def names_in(bucket):
    from plait._core import open_objects

    return open_objects(f"s3://{bucket}").names()


def test_every_tool_reads_the_same_objects_and_leaves_none(server):
    from plait._core import open_objects

    open_objects("s3://bench-all/prefix").put("other", b"x")
    results = measure("s3://bench-all/prefix?region=eu-test-1")
    assert names_in("bench-all") == ["prefix/other"]
    assert {kind: len(seconds) for kind, seconds in results.latencies.items()} == {GET: 4, PUT: 4}
    assert len(results.cells) == 10
    for cell in results.cells:
        assert cell.left_out == ""
        assert len(cell.samples) == 2
        assert cell.rate > 0
    for name, tool in TOOLS.items():
        cell = results.tools[name]
        assert cell.left_out == (f"{tool.missing} is not installed" if tool.missing else ""), name
        assert (cell.processor is None) == bool(tool.missing)
    assert results.tools[PLAIT].processor > 0


def test_requests_have_the_sizes_and_connections_of_the_table(server):
    with plait.open("s3://bench-log/a.npy", "w", shape=(MIB,), dtype="u8") as file:
        file.write(content(0, MIB))
    server.take_log()
    for connections, piece in ((1, 64 * KIB), (4, 256 * KIB)):
        server.set_faults(delay=0.02)
        task = {"task": "get", "url": "s3://bench-log/a.npy", "shape": None, "known": True}
        task |= {"amount": [4 * MIB, 8 * MIB, 0.1]}
        subprocess.run(
            [sys.executable, "-m", "plait_bench.objects.worker", json.dumps(task)],
            check=True, env=Cell(GET, connections, piece).environment(), capture_output=True,
        )  # fmt: skip
        server.set_faults()
        log = [request for request in server.take_log() if request["method"] == "GET"]
        ends = [tuple(map(int, request["range"].removeprefix("bytes=").split("-"))) for request in log]
        assert max(last + 1 - first for first, last in ends[1:]) == piece  # the first request reads the header
        assert len({request["peer"] for request in log}) == connections


def test_a_request_of_the_latency_is_one_of_4_kib(server):
    url = server.publish("bench/latency.bin", os.urandom(2 * MIB))
    task = {"task": "latency", "url": url, "shape": 2 * MIB, "put": "s3://bench-latency/p", "count": 5}
    subprocess.run([sys.executable, "-m", "plait_bench.objects.worker", json.dumps(task)], check=True)
    log = server.take_log()
    ranges = [request["range"] for request in log if request["method"] == "GET"][-6:]
    first = 64 * KIB + 1
    assert ranges == [f"bytes={first + n % 2}-{first + n % 2 + 4095}" for n in range(6)]
    assert [request["path"] for request in log if request["method"] == "PUT"] == ["/bench-latency/p/small"] * 6


def test_slow_servers_need_connections(server):
    server.set_faults(delay=0.015)
    connections_and_pieces = {"connections": (1, 8), "pieces": (128 * KIB,)}
    results = measure("s3://bench-slow/p", size=8 * MIB, samples=5, rounds=1, **connections_and_pieces)
    assert min(results.latencies[GET]) > 0.015
    for kind in (GET, PUT):
        rates = results.rates(kind)
        assert rates[8, 128 * KIB] > 3 * rates[1, 128 * KIB]


def test_objects_of_http_servers_are_only_read(server):
    raw = server.publish("bench/raw.bin", os.urandom(2 * MIB + 3))
    assert find_target(raw).shape == 2 * MIB + 3
    server.take_log()
    results = measure(raw, size=8 * MIB, pieces=(64 * KIB, MIB))
    assert {request["method"] for request in server.take_log()} <= {"GET", "HEAD"}
    assert results.tools == {}
    assert [cell.cell.kind for cell in results.cells] == [GET] * 5
    assert results.find(GET, 3, MIB).left_out == "the object is too small"
    assert results.advice.chunk is None


def test_failures_print_one_line_and_leave_no_objects(server, monkeypatch):
    runner = CliRunner()
    result = runner.invoke(main, ["bench", "objects", f"{server.endpoint}/public/bench/none.bin"])
    assert result.exit_code == 2
    assert "there is no such object" in result.output
    short = server.publish("bench/short.bin", bytes(1000))
    result = runner.invoke(main, ["bench", "objects", short])
    assert "1000 rows of 1 bytes are too few: measure an object of at least 1 MiB" in result.output
    monkeypatch.setitem(TOOLS, PLAIT, TOOLS["obstore"])
    monkeypatch.setattr("plait_bench.objects.driver.content", lambda begin, end: np.zeros(end - begin, "u8"))
    result = runner.invoke(main, ["bench", "objects", "s3://bench-wrong/p", "--size", "1M", "--samples", "1"])
    assert result.exit_code == 2
    assert "WRONG DATA: an element differs from what was written" in result.output
    assert len(result.output.strip().splitlines()) == 1
    assert names_in("bench-wrong") == []


def test_remaining_objects_are_named(server):
    server.set_faults(fail_deletes=True)
    result = CliRunner().invoke(
        main, ["bench", "objects", "s3://bench-keep/p", "--size", "1M", "--samples", "1", "--rounds", "1"]
    )
    server.set_faults()
    assert result.exit_code == 2
    assert "cannot remove" in result.output
    assert "objects may remain below s3://bench-keep/p/plait-bench-" in result.output


@pytest.mark.parametrize("signal_number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize(("method", "name"), [("POST", "read.npy"), ("PUT", "put.zarr")])
def test_signals_leave_no_objects(server, signal_number, method, name):
    bucket = f"bench-{name[:3]}-{signal_number}"
    command = ["bench", "objects", f"s3://{bucket}/p", "--size", "16M", "--samples", "1", "--rounds", "1"]
    command += ["--connections", "4", "--pieces", "1M"]
    server.set_faults(delay=0.1)
    main = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); from plait.cli import main; main()"
    with subprocess.Popen([sys.executable, "-c", main, *command], stderr=subprocess.PIPE, text=True) as process:
        while not any(request["method"] == method and f"/{name}" in request["path"] for request in server.take_log()):
            assert process.poll() is None
            time.sleep(0.02)
        process.send_signal(signal_number)
        errors = process.communicate(timeout=60)[1]
    assert process.returncode == (1 if signal_number == signal.SIGINT else 128 + signal_number)
    assert "remain" not in errors
    server.take_log()
    time.sleep(0.3)
    assert server.take_log() == []  # the worker has ended
    server.set_faults()
    assert names_in(bucket) == []
    assert json.loads(server.send_unsigned("GET", "/-/uploads")) == []


@pytest.mark.parametrize("interrupted", [False, True])
def test_a_failed_removal_is_a_warning(server, monkeypatch, capsys, interrupted):
    def remove(location):
        remove_all(location)
        if not location.endswith("put.zarr"):
            raise plait.StoreError("the server is gone")

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("plait_bench.objects.driver.remove_all", remove)
    if interrupted:
        monkeypatch.setattr("plait_bench.objects.driver.advise", interrupt)
        with pytest.raises(KeyboardInterrupt):
            measure("s3://bench-gone/p", rounds=1)
    else:
        assert measure("s3://bench-gone/p", rounds=1).find(GET).rate > 0
    warning = capsys.readouterr().err
    assert "objects may remain below s3://bench-gone/p/plait-bench-" in warning
    assert warning.endswith(": the server is gone\n")


def test_hanging_tasks_are_killed(server, monkeypatch):
    monkeypatch.setattr("plait_bench.objects.driver.REPORT_TIMEOUT", -5.5)
    server.set_faults(delay=0.1)
    with pytest.raises(plait.StoreError, match=r"^reads without settings took longer than 0.5 s$"):
        measure("s3://bench-hang/p", samples=4, seconds=0.05)
    server.set_faults()
    assert names_in("bench-hang") == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["data.zarr"], "give s3://BUCKET/PREFIX"),
        (["ftp://host/x"], "give s3://BUCKET/PREFIX"),
        (["s3://"], "names no bucket"),
        (["https://host/"], "names no object"),
        (["s3://b/x", "--pieces", "4K"], "'4K' is not a multiple of 8 bytes from 64K to 1G"),
        (["s3://b/x", "--connections", "1001"], "'1001' is not a number of connections from 1 to 1000"),
        (["s3://b/x", "--size", "1K"], "expected 1M or more"),
    ],
)
def test_wrong_arguments_are_reported(arguments, message):
    result = CliRunner().invoke(main, ["bench", "objects", *arguments])
    assert result.exit_code == 2
    assert message in result.output


def test_the_command_prints_tables_and_json(server, tmp_path):
    command = ["bench", "objects", "s3://bench-table/p", "--size", "1M", "--samples", "2", "--rounds", "1"]
    command += ["--connections", "2", "--pieces", "64K,1M", "--seconds", "0.05", "--json", str(tmp_path / "a.json")]
    result = CliRunner().invoke(main, command)
    assert result.exit_code == 0, result.output
    for text in ("Latency, ms", "GET, MB/s", "PUT, MB/s", "The same objects", "Left out: needs --size 2M."):
        assert text in result.output
    assert ("obstore is not installed" in result.output) == (find_spec("obstore") is None)
    document = json.loads((tmp_path / "a.json").read_text())
    assert document["settings"]["url"] == "s3://bench-table/p"
    assert document["cells"][0]["rate"] > 0


def test_advice_is_the_cheapest_of_the_fast_choices():
    gets = {(1, MIB): 10.0, (4, MIB): 96.0, (16, MIB): 100.0, (4, 4 * MIB): 99.0}
    assert find_smallest_setting(gets) == (4, MIB)
    assert find_smallest_setting({}) is None
    fast = advise(gets, {}, 98.0, None)
    assert fast.settings == {}
    assert fast.chunk is None
    slow = advise(gets, {(64, 4 * MIB): 50.0, (16, 4 * MIB): 20.0}, 40.0, 20.0)
    assert slow.settings == {"PLAIT_HTTP_PIECE": MIB, "PLAIT_MEMORY": 512 * MIB}
    assert slow.chunk == 4 * MIB
    without_puts = advise(gets, {}, 40.0, None)
    assert without_puts.settings == {"PLAIT_HTTP_CONNECTIONS": 4, "PLAIT_HTTP_PIECE": MIB}


def test_options_precede_keys():
    location = append_to_url("s3://bucket/a/?endpoint=http://h:1&region=x", "n")
    assert location == "s3://bucket?endpoint=http:%2F%2Fh:1&region=x/a/n"
    assert bucket_and_key(location) == ("bucket", "a/n", {"endpoint": "http://h:1", "region": "x"})
    assert append_to_url("s3://bucket", "n") == "s3://bucket/n"


@pytest.mark.parametrize(
    ("name", "value", "limits"),
    [("PLAIT_HTTP_CONNECTIONS", "0", "1 to 1000"), ("PLAIT_HTTP_PIECE", "4M", "65536 to 1073741824")],
)
def test_invalid_settings_are_errors(server, name, value, limits):
    url = server.publish("bench/settings.npy", b"x")
    program = f"import plait\ntry: plait.open({url!r})\nexcept plait.ArgumentError as error: print(error)"
    result = subprocess.run(
        [sys.executable, "-c", program], env={**os.environ, name: value}, capture_output=True, text=True, check=True
    )
    assert f"{name}={value} is not a number from {limits}" in result.stdout
