"""Prints the paths of the installed headers and libraries for compilers and CMake: ``python -m plait.config``.

cc program.c $(python -m plait.config --cflags --libs)
mpicc program.c $(python -m plait.config --cflags --libs --mpi openmpi)
cmake -Dplait_DIR=$(python -m plait.config --cmake-dir) ...
PKG_CONFIG_PATH=$(python -m plait.config --pkg-config-dir) pkg-config --libs plait
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

__all__ = ["cflags", "cmake_dir", "families", "include_dir", "library_dir", "libs", "pkg_config_dir"]


def library_dir() -> Path:
    """Return the folder of libplait and the other libraries."""
    return Path(__file__).parent


def include_dir() -> Path:
    """Return the folder of plait.h and of the C++ headers, which are in its folder ``plait``."""
    return library_dir() / "include"


def cmake_dir() -> Path:
    """Return the folder of the CMake package, the value of ``plait_DIR``."""
    return library_dir() / "cmake"


def pkg_config_dir() -> Path:
    """Return the folder of the pkg-config files, an entry of ``PKG_CONFIG_PATH``."""
    return library_dir() / "pkgconfig"


def families() -> list[str]:
    """Return the families of MPI that this package has a library for; "" is the one MPI that it was built with."""
    names = [path.stem.removeprefix("libplait_mpi") for path in library_dir().glob("libplait_mpi*.so")]
    # The libraries for MPI-IO of unchanged programs have names that begin alike.
    return sorted(name.removeprefix("_") for name in names if not name.startswith("io"))


def cflags() -> list[str]:
    """Return the options with which a compiler finds the headers."""
    return [f"-I{include_dir()}"]


def libs(mpi: str | None = None) -> list[str]:
    """Return the options with which a linker, and the program when it runs, find the library.

    mpi   for programs that include plait_mpi.h, which MPI's compiler wrapper builds: the family of that MPI, one of
          :func:`families`

    Raises ValueError if there is no library for it.
    """
    folder = library_dir()
    options = [f"-L{folder}", f"-Wl,-rpath,{folder}"]
    if mpi is not None:
        if mpi not in families():
            raise ValueError(f"there is no library for --mpi {mpi!r}; there are {_list_families()}")
        options.append("-lplait_mpi" + (f"_{mpi}" if mpi else ""))
    return [*options, "-lplait"]


def _list_families() -> str:
    return ", ".join(f"--mpi {name}" if name else "--mpi without a name" for name in families()) or "none"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the values of the options on one line; return 2 if there are no options."""
    parser = argparse.ArgumentParser(
        prog="python -m plait.config", description="Where the headers and libraries of Plait are."
    )
    parser.add_argument("--cflags", action="store_true", help="options of the compiler")
    parser.add_argument("--libs", action="store_true", help="options of the linker")
    parser.add_argument("--cmake-dir", action="store_true", help="what plait_DIR is to be for CMake")
    parser.add_argument("--pkg-config-dir", action="store_true", help="what PKG_CONFIG_PATH is to hold")
    parser.add_argument(
        "--mpi",
        nargs="?",
        const="",
        metavar="FAMILY",
        help=f"with --libs: for programs that use MPI; {_list_families()}",
    )
    parsed = parser.parse_args(arguments)
    options: list[str] = []
    try:
        options += cflags() if parsed.cflags else []
        options += libs(parsed.mpi) if parsed.libs else []
    except ValueError as error:
        parser.error(str(error))
    options += [str(cmake_dir())] if parsed.cmake_dir else []
    options += [str(pkg_config_dir())] if parsed.pkg_config_dir else []
    if not options:
        parser.error("nothing was asked for; see --help")
    print(shlex.join(options))
    return 0


if __name__ == "__main__":
    sys.exit(main())
