"""Simulated accesses of many ranks, from Python and on the command line."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

import plait
from plait import simulate
from plait.cli import main

STORE = "big.bin?shape=4096x4096"
COLUMNS = "(*, block) onto (64)"


def run(*arguments):
    return CliRunner().invoke(main, ["simulate", "run", *arguments], env={"COLUMNS": "100"})


def test_the_numbers_of_a_simulated_access_agree():
    access = simulate.run_plan("read", COLUMNS, STORE, per_node=16, strategy="two-phase")
    assert access["nodes"] == 4
    assert access.bytes == 4096 * 4096 * 8
    assert access.elapsed > 0
    # Three of four elements of each window belong to other nodes.
    assert access.message_bytes == access.bytes * 3 // 4
    ranks = access["ranks"]
    for phases in zip(*(ranks[name] for name in access.phases), strict=True):
        assert sum(phases) == pytest.approx(access.elapsed)
    links = {(begin, end): length for begin, end, _, length in access["links"]}
    assert sum(length for (begin, _), length in links.items() if begin == 4) == access.bytes
    assert sum(length for ends, length in links.items() if 4 not in ends) == access.message_bytes
    assert sum(access.node_bytes) == access.bytes + 2 * access.message_bytes
    assert sum(use["read_bytes"] for use in access["devices"]) == access.bytes
    assert len(access["devices"]) == 32
    assert sum(sum(part["sums"]) for part in access["series"].values()) == pytest.approx(
        64e9 * access.elapsed, rel=1e-6
    )


def test_the_strategy_equals_that_of_explain(tmp_path, monkeypatch):
    monkeypatch.setenv("PLAIT_MODEL", "builtin")
    name = tmp_path / "a.npy"
    np.save(name, np.zeros((400, 300), order="F"))
    machine = simulate.parse("[simulate.device]\nkind = 'ssd'")
    for layout in ("(block, *) onto (1)", "(cyclic, *) onto (1)"):
        access = simulate.run_plan("read", layout, str(name), machine=machine)
        with plait.open(name) as file:
            expected = file.explain(layout).splitlines()
        lines = access.explained.splitlines()
        assert [line.split(",")[0] for line in lines[:2]] == [line.split(",")[0] for line in expected[:2]]
        assert access["access"]["offset"] == 128
        assert access["access"]["order"] == "F"


def test_a_file_need_not_exist_and_may_be_chunked():
    access = simulate.run_plan(
        "write", "(block, block) onto (4, 4)", "a.zarr?shape=1000x1000&dtype=float32&chunks=100x100", per_node=4
    )
    assert access["access"]["dtype"] == "float32"
    assert "100 of" in access.explained  # chunks
    assert access.bytes == 1000 * 1000 * 4
    assert access["drained"] >= access.elapsed


def test_copies_are_read_once():
    access = simulate.run_plan("read", "(block@1, *) onto (4, 4) replicate=(0)", "a.bin?shape=512x512", per_node=4)
    assert access.bytes == 512 * 512 * 8
    assert sum(access["ranks"]["received_bytes"]) == access.message_bytes == 3 * access.bytes


def test_ten_thousand_ranks(effort):
    grid_side = effort.choose(20, 100)
    layout = f"(block, block) onto ({grid_side}, {grid_side})"
    store = f"big.bin?shape={1000 * grid_side}x{1000 * grid_side}"
    access = simulate.run_plan("read", layout, store, strategy="two-phase", windows=1)
    assert access["nodes"] == -(-grid_side * grid_side // 64)
    assert access["simulated"] == 1
    assert access["windows"] > 1
    assert any("of each reader" in note for note in access.notes)
    assert len(access["ranks"]["bytes"]) == grid_side * grid_side
    assert access.bytes == access.requests << 20


def test_an_exchange_with_too_many_messages_is_simulated_as_a_whole():
    access = simulate.run_plan("read", "(*, block) onto (3000)", "big.bin?shape=3000x131072", per_node=4)
    assert access["whole_windows"]
    assert any("as a whole" in note for note in access.notes)
    assert access.message_bytes == sum(access["ranks"]["received_bytes"])


def test_a_machine_of_the_cost_model_defines_nodes_and_network():
    machine = simulate.load("cluster")
    assert machine.get("ranks", "per_node") == 64
    assert machine.get("network", "link_rate") == 12.5e9
    assert machine.get("network", "latency") == 2e-6
    assert simulate.load("laptop-nvme").get("ranks", "per_node") == 0  # one node
    assert simulate.run_plan("read", COLUMNS, STORE, machine="laptop-nvme")["nodes"] == 1
    text = simulate.example_text("cluster")
    assert simulate.parse(text + "\n[simulate.network]\nlink_rate = '1 GB/s'").get("network", "link_rate") == 1e9


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (("reed", COLUMNS, STORE), "did you mean 'read'"),
        (("read", COLUMNS, "a.npy?shape=4x"), "expected sizes such as"),
        (("read", COLUMNS, "a.npy?shape=4x4&dytpe=f8"), "did you mean 'dtype'"),
        (("read", COLUMNS, "a.npy?shape=64x64&dtype=float65"), "expected a type"),
        (("read", COLUMNS, "a.npy?shape=64x64&order=D"), "expected C or F"),
        (("read", COLUMNS, "a.npy?shape=64x64&chunks=8"), "one for each dimension"),
        (("read", "(block) onto (64)", STORE), "dimension"),
    ],
)
def test_errors_name_what_is_expected(call, message):
    with pytest.raises(plait.ArgumentError, match=message):
        simulate.run_plan(*call)


def test_fewer_ranks_than_the_layout_has():
    with pytest.raises(plait.ArgumentError, match="has the rank 63, but there are 8 ranks"):
        simulate.run_plan("read", COLUMNS, STORE, ranks=8)


def test_the_command(tmp_path):
    result = run("--per-node", "16", "--json", "--", "read", COLUMNS, "from", STORE)
    assert result.exit_code == 0, result.output
    document = json.loads(result.output)
    expected = simulate.run_plan("read", COLUMNS, STORE, per_node=16)
    assert document == json.loads(expected.to_json())
    assert document["hot_spots"]["server"]["busy"] > 0
    plotted = run("--plot", str(tmp_path / "a.png"), "--", f"write {COLUMNS} to {STORE}")
    assert plotted.exit_code == 0, plotted.output
    assert (tmp_path / "a.png").read_bytes()[:4] == b"\x89PNG"
    for word in ("elapsed", "exchange", "from", "server", "most", "writer"):
        assert word in plotted.output


@pytest.mark.parametrize("arguments", [("read", COLUMNS, "to", STORE), ("copy", COLUMNS, "from", STORE), ("read",)])
def test_words_that_do_not_describe_an_access(arguments):
    result = run("--", *arguments)
    assert result.exit_code == 2
    assert "expected -- read LAYOUT from STORE" in result.output.replace("\n", " ")
