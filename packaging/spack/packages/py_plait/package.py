"""Spack's recipe of the Python package."""

from spack.package import *
from spack_repo.builtin.build_systems.python import PythonPackage


class PyPlait(PythonPackage):
    """Parallel Layout-Aware I/O Toolkit: moves distributed arrays between programs, disks and machines."""

    license("Apache-2.0")

    # The sources are those of a checkout: `spack dev-build py-plait@0.1.0` in it.
    version("0.1.0")

    variant("mpi", default=True, description="Build the MPI transport")
    variant("plot", default=False, description="Draw layouts as PNG")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.24:", type="build")
    depends_on("ninja@1.11:", type="build")
    depends_on("python@3.10:", type=("build", "link", "run"))
    depends_on("py-scikit-build-core@0.11:1", type="build")
    depends_on("py-nanobind@2.4:2", type="build")
    depends_on("hdf5@1.10.5:", type="build")  # its header
    depends_on("hdf5~mpi", type="build", when="~mpi")  # the header of a parallel one includes mpi.h
    depends_on("zlib-api")
    depends_on("libsodium")
    depends_on("nlohmann-json@3.10:", type="build")
    depends_on("zstd")
    depends_on("py-numpy@1.24:2", type=("build", "run"))
    depends_on("py-click@8.1:8", type=("build", "run"))
    depends_on("py-rich@13:15", type=("build", "run"))
    depends_on("py-tomli@2", type=("build", "run"), when="^python@:3.10")
    depends_on("mpi@3.1:", when="+mpi")
    depends_on("py-mpi4py@4.1:4", type=("build", "run"), when="+mpi")
    depends_on("py-matplotlib@3.8:3", type="run", when="+plot")

    conflicts("%gcc@:11", msg="C++20 needs GCC 12 or newer")
    conflicts("%clang@:14", msg="C++20 needs Clang 15 or newer")
    conflicts("platform=darwin", msg="Plait runs on Linux")
    conflicts("platform=windows", msg="Plait runs on Linux")

    def setup_build_environment(self, env):
        """Names the MPI, or says that there is none."""
        if self.spec.satisfies("+mpi"):
            env.set("MPICC", self.spec["mpi"].mpicc)
        else:
            env.set("CMAKE_ARGS", "-DPLAIT_MPI=OFF")
