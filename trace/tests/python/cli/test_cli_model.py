"""`plait model`."""

import json

import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner

from plait import model
from plait.cli import main

PREDICT = ("predict", "delta", "--shape", "5120x5120", "--layout", "(block, *)", "--dtype", "u1", "--order", "F")


def run(*arguments):
    return CliRunner().invoke(main, ["model", *arguments], env={"COLUMNS": "100"})


def lines(result):
    assert result.exit_code == 0, result.output
    return [" ".join(line.split()) for line in result.output.splitlines()]


def test_shows_the_tables_of_the_thesis():
    printed = lines(run("delta"))
    assert "9 fit column-block 5Kx5K 16 3 3.36 s 3.82 s +14 %" in printed
    assert "10 column-cyclic 5Kx5K 64 3 11.4 s 3.82 s -67 %" in printed
    assert "18 row-cyclic 10Kx10K 64 3 > 3,600 s 939 s too small" in printed
    assert printed[-1] == "12 entries of tables 9, 10, 11 cannot be read in full and are left out."


def test_writes_the_tables_as_json():
    document = json.loads(run("delta", "--json").output)
    assert document.keys() == {"parameters", "rows", "errors", "unreadable"}
    assert [fit["mode"] for fit in document["parameters"]] == [2, 3]
    assert {row["table"] for row in document["rows"] if row["fitted"]} == {9}
    assert len(document["unreadable"]) == 12


def test_predicts_for_many_ranks():
    printed = lines(run(*PREDICT, "--ranks", "16,64"))
    assert printed[0] == "5120x5120 (block, *), elements of 1 B, order F"
    assert printed[1] == "on Intel Touchstone Delta, mode 3"
    assert printed[5].startswith("16 5,120 117 s d 4.17 s d")
    assert printed[6].startswith("64 5,120 117 s d")


@pytest.mark.parametrize(
    ("text", "ranks"),
    [("16", [16]), ("64,1,4", [1, 4, 64]), ("3..60", [3, 5, 10, 20, 50, 60]), ("1..2,2..3", [1, 2, 3])],
)
def test_ranks_are_numbers_and_ranges(text, ranks):
    document = json.loads(run(*PREDICT, "--ranks", text, "--json").output)
    assert [row["ranks"] for row in document["rows"]] == ranks


def test_predicts_ten_thousand_ranks_by_default():
    document = json.loads(run("predict", "cluster", "--shape", "9000x9000", "--layout", "(cyclic, *)", "--json").output)
    assert (document["rows"][0]["ranks"], document["rows"][-1]["ranks"]) == (1, 10000)
    assert all(row["bound"] in ("processor bound", "disk bound", "neither", "both") for row in document["rows"])


def test_marks_ranks_beyond_the_machine():
    printed = lines(run(*PREDICT, "--ranks", "512,513"))
    assert printed[5].startswith("512 ")
    assert printed[6].startswith("513* ")
    assert printed[-1] == "* more ranks than the 512 processors of the machine"


def test_shows_the_speed_up_of_a_program_that_computes():
    assert " S " not in run(*PREDICT, "--ranks", "16").output
    assert " S " in run(*PREDICT, "--ranks", "16", "--compute", "100").output


def test_prints_machine_files():
    assert run("machine").output.split() == list(model.examples())
    assert run("machine", "delta").output == model.example_text("delta")


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("ending", "begin"), [(".png", b"\x89PNG"), (".svg", b"<?xml"), (".dat", b"\x89PNG")])
@pytest.mark.parametrize("command", [("delta",), (*PREDICT, "--ranks", "4,16")])
def test_draws(tmp_path, command, ending, begin):
    pytest.importorskip("matplotlib")
    path = tmp_path / f"out{ending}"
    assert lines(run(*command, "--figure", str(path)))[-1].startswith("picture written to")
    assert path.read_bytes().startswith(begin)
    json.loads(run(*command, "--figure", str(path), "--json").output)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (("--ranks", "0"), "'0' is no number of ranks from 1 to 1,000,000; write such as 16, 1,4,16 or 1..10000"),
        (("--ranks", "9..3"), "'9..3' is no number of ranks"),
        (("--ranks", "many"), "'many' is no number of ranks"),
        (("--disks", "65"), "disks=65: Intel Touchstone Delta, mode 3 has 64; give at most as many"),
        (("--dtype", "zz"), "'zz' is not an element type; use a NumPy name such as f8, int32 or u1"),
        (("--dtype", "S0"), "'S0' has elements of no bytes"),
        (("--layout", "(blck, *)"), 'layout "(blck, *)", position 2: found "blck", expected'),
        (("--layout", "(*, *)"), "'(*, *)' distributes no dimension over"),
        (("--shape", "0x4"), "the shape (0, 4) has no elements; there is nothing to predict"),
        (("--shape", "4x"), "'4x' is not a shape"),
    ],
)
def test_wrong_options_are_reported(options, text):
    result = run(*PREDICT, *options)
    assert result.exit_code == 2
    assert text in result.output
    assert "Traceback" not in result.output


def test_invalid_machines_are_reported(tmp_path):
    for command in (("machine", "nope"), ("predict", "nope", *PREDICT[2:])):
        result = run(*command)
        assert result.exit_code == 2
        assert "found the machine 'nope', expected a file or one of cluster, delta, laptop-nvme" in result.output
    path = tmp_path / "mine.toml"
    path.write_text("[machine]\nname = 'mine'\n", encoding="utf-8")
    result = run("predict", str(path), *PREDICT[2:])
    assert result.exit_code == 2
    assert "mine.toml: the section [processors] is missing" in result.output
    assert "No such file" in run("predict", str(tmp_path / "none.toml"), *PREDICT[2:]).output


def test_completion_lists_machines():
    complete = ShellComplete(main, {}, "plait", "_PLAIT_COMPLETE")
    assert [completion.value for completion in complete.get_completions(["model"], "p")] == ["predict"]
    assert [completion.value for completion in complete.get_completions(["model", "machine"], "l")] == ["laptop-nvme"]
    completions = complete.get_completions(["model", "predict"], "d")
    assert [(completion.value, completion.type) for completion in completions] == [("delta", "plain"), ("d", "file")]
