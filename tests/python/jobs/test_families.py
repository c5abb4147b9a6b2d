"""The choice between several MPI modules: a process uses the module for the family of its MPI library."""

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from launching import launch, needs_mpi

from plait import ArgumentError
from plait._base.libraries import families


def library(version, **functions):
    """Return an object like an MPI library with this version text."""

    def tell(text, _length):
        text.value = version.encode()
        return 0

    return SimpleNamespace(MPI_Get_library_version=tell, **functions)


def tell_abi(major):
    """Return a function MPI_Abi_get_version that reports this major version of the standard interface."""

    def tell(number, _minor):
        number._obj.value = major
        return 0

    return tell


@pytest.mark.parametrize(
    ("found", "family"),
    [
        (library("MPICH Version:      4.0.2\nMPICH Release date: ..."), "mpich"),
        (library("Intel(R) MPI Library 2021.13 for Linux* OS\n"), "mpich"),
        (library("MVAPICH2 Version: 2.3.7"), "mpich"),
        (library("MPICH Version: 5.0.2", MPI_Abi_get_version=tell_abi(-1)), "mpich"),
        (library("MPICH Version: 5.0.2", MPI_Abi_get_version=tell_abi(1)), "abi"),
        (library("Open MPI v5.0.11", ompi_mpi_comm_self=None), "openmpi"),
        (library("HPE MPT 2.30"), None),
    ],
)
def test_the_family_of_a_library(found, family):
    assert families.find_family(found) == family


def test_modules_next_to_the_package_are_found(tmp_path):
    suffix = families.EXTENSION_SUFFIXES[0]
    for name in (f"_mpi_mpich{suffix}", "_mpi_openmpi.abi3.so", "_mpi_other.cpython-27.so", "_mpi.abi3.so"):
        (tmp_path / name).touch()
    modules = families._find_modules(tmp_path)
    assert modules == {"mpich": tmp_path / f"_mpi_mpich{suffix}", "openmpi": tmp_path / "_mpi_openmpi.abi3.so"}


def test_an_mpi_without_a_module_is_rejected(monkeypatch):
    monkeypatch.setattr(families, "_find_library_in_use", lambda: library("HPE MPT 2.30"))
    with pytest.raises(ArgumentError, match=r"'HPE MPT 2.30' is no MPI that .* which are mpich, openmpi; build Plait"):
        families._load_module({"openmpi": Path("a.so"), "mpich": Path("b.so")})


def test_a_process_without_mpi_gets_an_error(monkeypatch):
    monkeypatch.setattr(families, "list_loaded_libraries", lambda: iter(()))
    with pytest.raises(ArgumentError, match="no MPI library was found in this process"):
        families._find_library_in_use()


PROGRAM = """
from mpi4py import MPI
from plait._base.libraries import families
found = families._find_library_in_use()
print(families.read_version(found) == MPI.Get_library_version().rstrip("\\0\\n "), families.find_family(found))
print(len(list(families.list_loaded_libraries())))
"""


@needs_mpi
def test_the_library_of_mpi4py_is_found():
    done = launch(1, sys.executable, "-c", PROGRAM)
    assert done.stdout.splitlines()[0] in ("True mpich", "True openmpi", "True abi"), done.stdout
    assert int(done.stdout.splitlines()[1]) >= 1
