"""Spack's recipe of the libraries for C, C++ and Fortran programs."""

from spack.package import *
from spack_repo.builtin.build_systems.cmake import CMakePackage


class Plait(CMakePackage):
    """Parallel Layout-Aware I/O Toolkit: moves distributed arrays between programs, disks and machines."""

    license("Apache-2.0")

    # The sources are those of a checkout: `spack dev-build plait@0.1.0` in it.
    version("0.1.0")

    variant("mpi", default=True, description="Build the MPI transport")
    variant("fortran", default=True, when="+mpi", description="Build the Fortran libraries and module")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("fortran", type="build", when="+fortran")
    depends_on("cmake@3.24:", type="build")
    depends_on("hdf5@1.10.5:", type="build")  # its header
    depends_on("hdf5~mpi", type="build", when="~mpi")  # the header of a parallel one includes mpi.h
    depends_on("zlib-api")
    depends_on("libsodium")
    depends_on("nlohmann-json@3.10:", type="build")
    depends_on("zstd")
    depends_on("mpi@3.1:", when="+mpi")

    conflicts("%gcc@:11", msg="C++20 needs GCC 12 or newer")
    conflicts("%clang@:14", msg="C++20 needs Clang 15 or newer")
    conflicts("platform=darwin", msg="Plait runs on Linux")
    conflicts("platform=windows", msg="Plait runs on Linux")

    def cmake_args(self):
        """Return the options of CMake."""
        args = [
            self.define("PLAIT_PYTHON", False),
            self.define_from_variant("PLAIT_MPI", "mpi"),
            self.define_from_variant("PLAIT_FORTRAN", "fortran"),
        ]
        if self.spec.satisfies("+mpi"):
            args.append(self.define("MPI_C_COMPILER", self.spec["mpi"].mpicc))
        return args
