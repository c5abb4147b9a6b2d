"""`plait copy` in parts: begin, copy and finish, their output, the Slurm script, and wrong options."""

import json
import os
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import plait
from plait.cli import main
from plait.cli.copy import copy_command
from plait.cli.copying.parts import _command_line

pytestmark = pytest.mark.usefixtures("nothing_left", "source")

FIELD = np.arange(24 * 16 * 16, dtype="f4").reshape(24, 16, 16)
OPTIONS = ["--chunks", "time=-1,lat=8,lon=8", "--codec", "zstd:1"]


@pytest.fixture
def source(tmp_path, monkeypatch):
    """Write FIELD to in.zarr in the test's own working directory."""
    monkeypatch.chdir(tmp_path)
    names = ("time", "lat", "lon")
    with plait.open(
        "in.zarr", "w", shape=FIELD.shape, dtype="f4", chunks=(1, 16, 16), codec="zstd:1", dimension_names=names
    ) as file:
        file.write(FIELD)


def run_copy(*options, code=0):
    """Run `plait copy`, check its exit code, and return its output, or its error output if it fails."""
    result = CliRunner().invoke(main, ["copy", "in.zarr", "out.zarr", *options])
    assert result.exit_code == code, result.output
    return result.stdout if code == 0 else result.stderr


def check_target():
    with plait.open("out.zarr") as file:
        np.testing.assert_array_equal(file.read(), FIELD)


def test_parts_are_begun_copied_and_finished():
    output = run_copy(*OPTIONS, "--parts", "4", "--begin")
    assert re.search(r"24 KiB in parts 1-4, up to 6 KiB each; .* read 4 times; the copy has begun", output)
    run_copy("--part", "3")
    assert "1 of 4 parts is copied" in run_copy(*OPTIONS, "--parts", "4", "--begin")
    assert "part 3 of 4 was copied before" in run_copy(*OPTIONS, "--parts", "4", "--part", "3")
    assert "3 of 4 parts are missing: 1-2, 4" in run_copy("--finish", code=2)
    for part in "124":
        assert f"part {part} of 4, 6 KiB in" in run_copy("--part", part, "--verify", "--memory", "1M")
    assert "24 KiB in 4 parts" in run_copy(*OPTIONS, "--finish")
    check_target()


def test_results_are_printed_as_json():
    plan = json.loads(run_copy(*OPTIONS, "--parts", "4", "--intermediate", "--begin", "--json"))
    last = plan["phases"][-1]["last"]
    assert (plan["parts"], plan["done"], plan["phases"][0]["reads"]) == (last, 0, 1)
    parts = [json.loads(run_copy("--part", str(part), "--json")) for part in range(1, last + 1)]
    assert sum(part["bytes"] for part in parts) == 2 * FIELD.nbytes
    assert json.loads(run_copy("--finish", "--json"))["bytes"] == FIELD.nbytes
    check_target()


def test_a_dry_run_writes_nothing():
    before = sorted(os.listdir("."))
    assert "; nothing was written" in run_copy(*OPTIONS, "--parts", "4", "--dry-run")
    assert sorted(os.listdir(".")) == before


def test_the_slurm_script_repeats_all_options():
    options = ["--chunks", "4,8,8", "--chunks", "x:time=-1,lat=8", "--chunks", "y*:auto:maps", "--shards", "z:8x8x8"]
    options += ["--codec", "zstd:1", "--codec", "*_flag:zlib:1", "--no-consolidated", "--verify"]
    context = copy_command.make_context("copy", ["in.zarr", "out.zarr", *options, "--parts", "3", "--slurm"])
    script_context = copy_command.make_context("copy", [*_command_line(context), "--slurm"])
    assert script_context.params == context.params
    assert script_context.params["consolidated"] is False


def test_the_slurm_script_copies(tmp_path):
    script = run_copy(*OPTIONS, "--memory", "2M", "--parts", "3", "--intermediate", "--slurm")
    assert script.count("sbatch") == 3
    assert "--mem=514M" in script
    # A program in place of sbatch runs the jobs at once, and records the dependencies.
    sbatch = tmp_path / "bin" / "sbatch"
    sbatch.parent.mkdir()
    sbatch.write_text(
        "#!/bin/bash\n"
        'for option in "$@"; do case "$option" in\n'
        "  --array=*) range=${option#*=};; --wrap=*) command=${option#*=};;\n"
        '  --dependency=*) echo "$option" >> waits;;\n'
        "esac; done\n"
        "range=${range:-1-1}; export SLURM_ARRAY_TASK_ID\n"
        'for SLURM_ARRAY_TASK_ID in $(seq ${range/-/ }); do bash -c "$command" >> log || exit 1; done\n'
        "echo 17\n",
        encoding="utf-8",
    )
    sbatch.chmod(0o755)
    Path("copy.sh").write_text(script, encoding="utf-8")
    path = f"{sbatch.parent}:{os.environ['PATH']}"
    result = subprocess.run(["bash", "copy.sh"], env={**os.environ, "PATH": path}, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert Path("waits").read_text("utf-8") == "--dependency=afterok:17\n" * 2
    check_target()


def test_a_copy_is_discarded():
    run_copy(*OPTIONS, "--parts", "4", "--begin")
    run_copy("--part", "1")
    assert "discarded the copy in parts, of which 6 KiB had been copied" in run_copy("--discard")
    assert "no copy has begun" in run_copy("--part", "1", code=2)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (["--parts", "3"], "a copy in parts needs one of --begin"),
        (["--parts", "3", "--begin", "--finish"], "found --begin and --finish"),
        (["--begin"], "--begin needs the number of parts"),
        (["--parts", "3", "--begin", "--ranks", "2"], "--ranks was given, but each part"),
        (["--parts", "3", "--begin", "--resume"], "--resume was given, but each part"),
        (["--part", "1"], "no copy has begun"),
        (["--parts", "3", "--begin", "--no-sync"], "durable was given, but copies in parts have no such argument"),
        (["--parts", "3", "--begin", "--fixed"], "unlimited or fixed dimensions were given"),
        (["--parts", "3", "--begin", "--format", "hdf5"], "hdf5:out.zarr: a copy in parts writes a new Zarr folder"),
        (["--parts", "0", "--begin"], "0 is not in the range"),
    ],
)
def test_wrong_options_are_errors(options, error):
    assert error in run_copy(*options, code=2)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (["--part", "5"], "has the parts 1 to 4"),
        (["--part", "0"], "has the parts 1 to 4"),
        (["--part", "1", "--chunks", "8,8,8"], 'begun with chunks={"time": -1, "lat": 8, "lon": 8}'),
        (["--finish", "--parts", "3"], "was begun with --parts 4, but this command has --parts 3"),
        (["--parts", "4", "--begin"], "but this call has chunks=nothing"),
    ],
)
def test_options_of_another_copy_are_errors(options, error):
    run_copy(*OPTIONS, "--parts", "4", "--begin")
    assert error in run_copy(*options, code=2)
    run_copy("--discard")
