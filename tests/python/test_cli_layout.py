"""`plait layout`, `plait completion` and what all commands share."""

import subprocess
import sys

import pytest
from click.testing import CliRunner

from plait.cli import main


def run(*arguments, **environment):
    return CliRunner().invoke(main, arguments, env={"COLUMNS": "100", **environment})


def test_draws_a_layout_and_its_ranks():
    result = run("layout", "(block, cyclic(3)) onto (2, 2)", "8x12")
    assert result.exit_code == 0
    lines = result.output.splitlines()
    assert lines[0] == "8x12 (block, cyclic(3)) onto (2, 2)   96 elements on 4 ranks"
    assert " ".join(lines[3].split()) == "0 0 0 0 1 1 1 0 0 0 1 1 1"
    assert "3 (1, 1) 4x6 24 25.0% 4..7 × 3..5, 9..11" in [" ".join(line.split()) for line in lines]


def test_takes_the_shape_in_front_of_the_layout():
    short = run("layout", "8x12 (block, *) onto (2)")
    assert short.exit_code == 0
    assert short.output == run("layout", "(block, *) onto (2)", "8x12").output
    assert short.output == run("layout", "(BLOCK, *) ONTO (2)", "8, 12").output


def test_shows_one_rank_alone():
    result = run("layout", "(cyclic) onto (2)", "4", "--rank", "1", "--order")
    assert result.exit_code == 0
    assert "· 0 · 1" in result.output
    assert "place in the memory" in result.output


def test_shows_what_a_conversion_moves():
    result = run("layout", "(*, block) onto (2)", "4x4", "(block, *) onto (2)", "--dtype", "float64")
    assert result.exit_code == 0
    assert "Bytes from each rank" in result.output
    assert "64 bytes (50.0%) stay" in result.output
    assert "64 bytes (50.0%) in 2 messages" in result.output


def test_has_no_colour_away_from_a_terminal():
    assert "\x1b[" not in run("layout", "(block) onto (2)", "8").output


def test_writes_pictures(tmp_path):
    pytest.importorskip("matplotlib")
    one, two = tmp_path / "one.png", tmp_path / "two.png"
    assert run("layout", "(block) onto (2)", "8", "--png", str(one)).exit_code == 0
    result = run("layout", "(block) onto (2)", "8", "(cyclic) onto (2)", "--png", str(two))
    assert f"picture written to {two}" in result.output
    assert one.stat().st_size > 1000
    assert two.stat().st_size > one.stat().st_size


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["(block, wrong) onto (2, 2)", "8x12"], "Error: "),
        (["(block, *) onto (2)"], "has no shape"),
        (["(block, *) onto (2)", "8x12", "9x12 (block, *) onto (2)"], "which must be equal"),
        (["(block, *) onto (2)", "8x12", "(*, *)", "(*, *)"], "too many"),
        (["(block, *) onto (2)", "8x12", "--rank", "2"], "ranks are 0 to 1"),
        (["(block, *) onto (2)", "8x12", "--dtype", "float63"], "not an element type"),
        (["(*, *, *, *)", "2x2x2x2", "--png", "x.png"], "1 to 3 dimensions"),
        (["(block) onto (2)", "8", "--png", "/no/such/folder/x.png"], "/no/such/folder"),
    ],
)
def test_a_mistake_ends_in_one_line(arguments, message):
    result = run("layout", *arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.startswith("Error: ")
    assert len(result.stderr.splitlines()) == 1
    assert "Traceback" not in result.output


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_prints_completion_scripts(shell):
    result = run("completion", shell)
    assert result.exit_code == 0
    assert "_PLAIT_COMPLETE" in result.output


@pytest.mark.parametrize("command", [[], ["layout"], ["bench"], ["bench", "io"], ["demo"], ["completion"]])
def test_every_command_explains_itself(command):
    result = run(*command, "--help")
    assert result.exit_code == 0
    assert "Usage: " in result.output
    if command and command != ["bench"]:
        assert "Examples:" in result.output


def test_runs_as_a_module():
    done = subprocess.run(
        [sys.executable, "-m", "plait.cli", "layout", "(block) onto (2)", "8"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "8 (block) onto (2)" in done.stdout
