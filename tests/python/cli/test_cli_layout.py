"""`plait layout`, `plait completion` and the properties that all commands share."""

import subprocess
import sys

import pytest
from click.testing import CliRunner

from plait.cli import main


def run(*arguments, **environment):
    return CliRunner().invoke(main, arguments, env={"COLUMNS": "100", **environment})


def test_layout_draws_a_layout_and_its_ranks():
    result = run("layout", "(block, cyclic(3)) onto (2, 2)", "8x12")
    assert result.exit_code == 0
    lines = result.output.splitlines()
    assert lines[0] == "8x12 (block, cyclic(3)) onto (2, 2)   96 elements on 4 ranks"
    assert " ".join(lines[3].split()) == "0 0 0 0 1 1 1 0 0 0 1 1 1"
    assert "3 (1, 1) 4x6 24 25.0% 8 3 4..7 × 3..5, 9..11" in [" ".join(line.split()) for line in lines]


def test_layout_takes_the_shape_before_the_layout():
    result = run("layout", "8x12 (block, *) onto (2)")
    assert result.exit_code == 0
    assert result.output == run("layout", "(block, *) onto (2)", "8x12").output
    assert result.output == run("layout", "(BLOCK, *) ONTO (2)", "8, 12").output


def test_layout_shows_one_rank_only():
    result = run("layout", "(cyclic) onto (2)", "4", "--rank", "1", "--order")
    assert result.exit_code == 0
    assert "· 0 · 1" in result.output
    assert "position in the memory" in result.output


def test_layout_shows_the_messages_of_a_conversion():
    result = run("layout", "(*, block) onto (2)", "4x4", "(block, *) onto (2)", "--dtype", "float64")
    assert result.exit_code == 0
    assert "Bytes from each rank" in result.output
    assert "64 bytes (50.0%) stay" in result.output
    assert "64 bytes (50.0%) in 2 messages" in result.output


def test_layout_prints_the_normal_form():
    lines = run("layout", "(block, *) onto (4) template=30x4 align=(2*d1+1, *)", "4x12").output.splitlines()
    assert lines[0].startswith("4x12 (block, *) onto (4) template=30x4 align=(2*d1+1, *)   48 elements")
    assert lines[1] == "4x12 (*, block(4)) onto (4)   is the normal form"
    assert "normal form" not in run("layout", "( BLOCK,*) onto (4)", "4x12").output


def test_layout_shows_all_copies():
    result = run("layout", "(block, *) onto (2, 2) replicate=(1)", "2x2")
    assert "24" not in result.output
    assert "on 4 ranks, 2 copies of each" in result.output
    lines = [" ".join(line.split()) for line in result.output.splitlines()]
    assert "1 2+3 2+3" in lines
    assert "3 (1, 1) 1 1x2 2 50.0% 1 2 1 × 0..1" in lines
    many = run("layout", "(block) onto (2, 50) replicate=(1)", "2").output
    assert "50+ is ranks 50..99" in many


def test_layout_shows_the_ranks_that_exist():
    result = run("layout", "(block) onto (4) ranks=(4:7, 0)", "12", "(cyclic) onto (3) ranks=(6:9)")
    assert "on 4 ranks (0, 4..6)" in result.output
    lines = [" ".join(line.split()) for line in result.output.splitlines()]
    assert "6 7 8 all" in lines
    assert "6 [1] 1 1 3" in lines
    assert "4 (0) 3 3 25.0% 1 3 0..2" in lines


def test_layout_shows_a_rank_of_only_one_of_two_layouts():
    result = run("layout", "(block) onto (2)", "4", "(cyclic) onto (2) ranks=(5, 6)", "--rank", "6")
    assert result.exit_code == 0
    assert "Rank 6 is not one of the ranks here." in result.output
    assert "· 6 · 6" in result.output


def test_layout_shows_the_messages_that_fill_a_halo():
    result = run("layout", "(block) onto (2) halo=(1)", "8", "--fill-halo")
    assert "2 elements (20.0%) of these fill halos" in result.output
    both = run("layout", "(block) onto (2)", "8", "(block) onto (2) halo=(1)", "--fill-halo", "--dtype", "int16")
    assert "4 bytes (20.0%) of these fill halos" in both.output


def test_layout_has_no_colour_without_a_terminal():
    assert "\x1b[" not in run("layout", "(block) onto (2)", "8").output


def test_layout_writes_pictures(tmp_path):
    pytest.importorskip("matplotlib")
    first, second = tmp_path / "one.png", tmp_path / "two.png"
    assert run("layout", "(block) onto (2)", "8", "--png", str(first)).exit_code == 0
    result = run("layout", "(block) onto (2)", "8", "(cyclic) onto (2)", "--png", str(second))
    assert f"picture written to {second}" in result.output
    assert first.stat().st_size > 1000
    assert second.stat().st_size > first.stat().st_size


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["(block, wrong) onto (2, 2)", "8x12"], "Error: "),
        (["(block, *) onto (2)"], "has no shape"),
        (["(block, *) onto (2)", "8x12", "9x12 (block, *) onto (2)"], "which must be equal"),
        (["(block, *) onto (2)", "8x12", "(*, *)", "(*, *)"], "too many"),
        (["(block, *) onto (2)", "8x12", "--rank", "2"], "ranks are 0 to 1"),
        (["(block, *) onto (2)", "8x12", "--dtype", "float63"], "not an element type"),
        (["(*, *, *, *)", "2x2x0x2", "--png", "x.png"], "no elements"),
        (["12 (block) onto (3) ranks=(4:6, 1)", "(*)", "--rank", "3"], "ranks are 1, 4..5 and '12 (*)', whose ranks"),
        (["(block, *) onto (2)", "8x12", "--fill-halo"], "needs a halo, and '8x12 (block, *) onto (2)' has none"),
        (["8 (block) onto (4) halo=(3)"], "halo"),
        (["(block) onto (2)", "8", "--png", "/no/such/folder/x.png"], "/no/such/folder"),
    ],
)
def test_a_wrong_argument_prints_one_line(arguments, message):
    result = run("layout", *arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.startswith("Error: ")
    assert len(result.stderr.splitlines()) == 1
    assert "Traceback" not in result.output


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_scripts(shell):
    result = run("completion", shell)
    assert result.exit_code == 0
    assert "_PLAIT_COMPLETE" in result.output


@pytest.mark.parametrize(
    "command", [[], ["layout"], ["bench"], ["bench", "io"], ["bench", "plan"], ["demo"], ["completion"], ["clean"]]
)
def test_every_command_has_help(command):
    result = run(*command, "--help")
    assert result.exit_code == 0
    assert "Usage: " in result.output
    if command and command != ["bench"]:
        assert "Examples:" in result.output


def test_the_command_runs_as_a_module():
    result = subprocess.run(
        [sys.executable, "-m", "plait.cli", "layout", "(block) onto (2)", "8"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "8 (block) onto (2)" in result.stdout
