"""The choice between several MPI modules: a process uses the module for the family of its MPI library."""

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from launching import launch, needs_mpi

from plait import ArgumentError
from plait._base.libraries import families


def make_library(version, **functions):
    """Return an object like an MPI library with this version text."""

    def write_result(text, _length):
        text.value = version.encode()
        return 0

    return SimpleNamespace(MPI_Get_library_version=write_result, **functions)


def make_abi_version_function(major):
    """Return a function MPI_Abi_get_version that reports this major version of the standard interface."""

    def write_result(number, _minor):
        number._obj.value = major
        return 0

    return write_result


@pytest.mark.parametrize(
    ("library", "family"),
    [
        (make_library("MPICH Version:      4.0.2\nMPICH Release date: ..."), "mpich"),
        (make_library("Intel(R) MPI Library 2021.13 for Linux* OS\n"), "mpich"),
        (make_library("MVAPICH2 Version: 2.3.7"), "mpich"),
        (make_library("MPICH Version: 5.0.2", MPI_Abi_get_version=make_abi_version_function(-1)), "mpich"),
        (make_library("MPICH Version: 5.0.2", MPI_Abi_get_version=make_abi_version_function(1)), "abi"),
        (make_library("Open MPI v5.0.11", ompi_mpi_comm_self=None), "openmpi"),
        (make_library("HPE MPT 2.30"), None),
    ],
)
def test_the_family_of_a_library_is_found(library, family):
    assert families.find_family(library) == family


def test_modules_next_to_the_package_are_found(tmp_path):
    suffix = families.EXTENSION_SUFFIXES[0]
    for name in (f"_mpi_mpich{suffix}", "_mpi_openmpi.abi3.so", "_mpi_other.cpython-27.so", "_mpi.abi3.so"):
        (tmp_path / name).touch()
    modules = families._find_modules(tmp_path)
    assert modules == {"mpich": tmp_path / f"_mpi_mpich{suffix}", "openmpi": tmp_path / "_mpi_openmpi.abi3.so"}


def test_an_mpi_without_a_module_is_rejected(monkeypatch):
    monkeypatch.setattr(families, "_find_library_in_use", lambda: make_library("HPE MPT 2.30"))
    with pytest.raises(ArgumentError, match=r"'HPE MPT 2.30' is no MPI that .* which are mpich, openmpi; build Plait"):
        families._load_module({"openmpi": Path("a.so"), "mpich": Path("b.so")})


def test_a_process_without_mpi_gets_an_error(monkeypatch):
    monkeypatch.setattr(families, "list_loaded_libraries", lambda: iter(()))
    with pytest.raises(ArgumentError, match="no MPI library was found in this process"):
        families._find_library_in_use()


PROGRAM = """
from mpi4py import MPI
from plait._base.libraries import families
library = families._find_library_in_use()
print(families.read_version(library) == MPI.Get_library_version().rstrip("\\0\\n "), families.find_family(library))
print(len(list(families.list_loaded_libraries())))
"""


@needs_mpi
def test_the_library_of_mpi4py_is_found():
    result = launch(1, sys.executable, "-c", PROGRAM)
    assert result.stdout.splitlines()[0] in ("True mpich", "True openmpi", "True abi"), result.stdout
    assert int(result.stdout.splitlines()[1]) >= 1
