"""`plait mpiio`: the variables that it sets, and the library that it chooses."""

import os
import shlex
import subprocess
import sys

import pytest
from launching import run

import plait
from plait.cli.mpiio import find_family, find_library, make_variables


def test_run_sets_the_variables_of_the_command():
    code = "import os; print(os.environ['LD_PRELOAD'], os.environ['PLAIT_MPIIO'])"
    command = [
        sys.executable,
        "-m",
        "plait.cli",
        "mpiio",
        "run",
        "--explain",
        "--strict",
        "--",
        sys.executable,
        "-c",
        code,
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    library, mode = done.stdout.split()
    assert library == str(find_library(None))
    assert mode == "explain,strict"
    assert done.stderr == ""


def test_run_has_the_status_of_the_command():
    command = [sys.executable, "-m", "plait.cli", "mpiio", "run", "--"]
    assert subprocess.run([*command, "sh", "-c", "exit 3"], check=False).returncode == 3
    done = subprocess.run([*command, "no-such-program"], capture_output=True, text=True, check=False)
    assert done.returncode == 127
    assert done.stderr == "plait: no-such-program: No such file or directory\n"


def test_env_prints_the_variables():
    result = run("mpiio", "env", "--strict")
    assert result.exit_code == 0
    words = [shlex.split(line)[1] for line in result.output.splitlines()]
    assert words[:2] == [f"LD_PRELOAD={find_library(None)}", "PLAIT_MPIIO=strict"]


def test_libraries_that_are_preloaded_already_stay(monkeypatch):
    monkeypatch.setenv("LD_PRELOAD", "/a/first.so second.so")
    assert make_variables()["LD_PRELOAD"] == f"{find_library(None)}:/a/first.so:second.so"


def test_open_mpi_passes_the_variables_to_other_hosts(monkeypatch, tmp_path):
    chosen = launcher(tmp_path, "mpirun (Open MPI) 4.1.6")
    monkeypatch.delenv("OMPI_MCA_mca_base_env_list", raising=False)
    assert make_variables(launcher=chosen)["OMPI_MCA_mca_base_env_list"] == "LD_PRELOAD;PLAIT_MPIIO"
    monkeypatch.setenv("OMPI_MCA_mca_base_env_list", "FOO=1;LD_PRELOAD")
    assert make_variables(launcher=chosen)["OMPI_MCA_mca_base_env_list"] == "FOO=1;LD_PRELOAD;PLAIT_MPIIO"
    hydra = launcher(tmp_path, "HYDRA build details: Version: 5.0.2")
    assert "OMPI_MCA_mca_base_env_list" not in make_variables(launcher=hydra)


def test_run_does_not_list_variables_beside_an_option_that_open_mpi_rejects_with_them(monkeypatch, tmp_path):
    chosen = launcher(tmp_path, "mpirun (Open MPI) 4.1.6")
    script = tmp_path / "mpiexec"
    script.write_text(script.read_text() + "echo list: $OMPI_MCA_mca_base_env_list\n")
    monkeypatch.delenv("OMPI_MCA_mca_base_env_list", raising=False)
    command = [sys.executable, "-m", "plait.cli", "mpiio", "run", "--", chosen]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "list: LD_PRELOAD;PLAIT_MPIIO\n" in listed
    exported = subprocess.run([*command, "-x", "FOO"], capture_output=True, text=True, check=True).stdout
    assert "list:\n" in exported


def launcher(folder, version):
    """A launcher that prints a version."""
    folder.mkdir(exist_ok=True)
    path = folder / "mpiexec"
    path.write_text(f"#!/bin/sh\necho '{version}'\n")
    path.chmod(0o755)
    return os.fspath(path)


@pytest.mark.parametrize(
    ("version", "family"),
    [
        ("HYDRA build details: Version: 5.0.2", "mpich"),
        ("Intel(R) MPI Library for Linux* OS, Version 2021.11", "mpich"),
        ("mpirun (Open MPI) 5.0.11", "openmpi"),
        ("prterun (PRRTE) 3.0", "openmpi"),
        ("another launcher 1.0", None),
    ],
)
def test_the_launcher_tells_the_family(version, family, tmp_path):
    assert find_family(launcher(tmp_path, version)) == family


def test_a_wheel_has_a_library_for_each_family(tmp_path):
    for family in ("mpich", "openmpi"):
        (tmp_path / f"libplait_mpiio_{family}.so").touch()
    chosen = launcher(tmp_path / "bin", "mpirun (Open MPI) 5.0.11")
    assert find_library(None, chosen, tmp_path).name == "libplait_mpiio_openmpi.so"
    assert find_library("mpich", chosen, tmp_path).name == "libplait_mpiio_mpich.so"
    with pytest.raises(plait.ArgumentError, match="no library for the family abi, only for mpich, openmpi"):
        find_library("abi", chosen, tmp_path)
    with pytest.raises(plait.ArgumentError, match="the MPI of 'srun' is unknown; name its family with --family"):
        find_library(None, "srun", tmp_path)


def test_a_plait_without_the_libraries_says_so(tmp_path):
    with pytest.raises(plait.ArgumentError, match="built without the libraries for MPI-IO"):
        find_library(None, "mpiexec", tmp_path)
