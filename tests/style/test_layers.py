"""Rules for includes between products and between layers.

The array library uses no other product. The others (trace, historical, mpiio) use only the array library.

A layer uses itself and the layers before it.  Stores do not use transports, and transports do not use stores.  <mpi.h>
is included only in certain folders.  Layouts, plans and kernels do no I/O.  Tracing and simulation are separate: only
simulation uses tracing, and no layer uses simulation.  Both use `base`; tracing also uses the headers that create new
files, and simulation also uses layouts and plans.
"""

import os
import re
from functools import cache
from pathlib import Path

import pytest
from sources import PRODUCTS, ROOT, files_with, path_in_product, product_name, read

LAYERS = (
    "base",
    "codec",
    "layout",
    "plan",
    "copy",
    "store",
    "transport",
    "container",
    "collective",
    "access",
    "exchange",
    "core",
    "distant",
    "pipe",
    "driver",
    "trace",
    "simulation",
    "mpiio",
)
INDEPENDENT_LAYERS = ({"store", "transport"},)
SEPARATE_LAYERS = {
    "trace": {"base", "trace"},
    "simulation": {"base", "layout", "plan", "trace", "simulation"},
    "mpiio": {*LAYERS} - {"trace", "simulation"},
}
"""Layers that the layers of the array library do not use → the layers whose files they may include."""
HEADERS_OF_NEW_FILES = {"driver/plain/new_file.hpp", "store/new_file.hpp"}
HISTORICAL = ("trace/workloads1992/", "trace/formats/text1992/")
USES_HISTORICAL = {"trace/src/trace/formats/registry.cpp"}
PURE = {"layout", "plan", "copy"}
SYSTEM_HEADERS = {"fcntl.h", "unistd.h", "fstream", "filesystem", "sys/mman.h", "sys/socket.h", "thread", "mutex"}
OBJECT_FORMATS = ("src/container/zarr/",)
"""Formats that access their files only through store/objects, so that they also work in memory and over networks."""
MPI_FOLDERS = (
    "src/transport/mpi/",
    "src/core/mpi/",
    "src/mpiio/",
    "include/plait/mpi.hpp",
    "include/plait_mpi.h",
    "bindings/",
    "tests/jobs/",
    "tests/mpi/",
    "tests/conformance/",
    "tests/programs/",
    "tests/c/mpi/",
    "tests/ga/",
    "tests/python/trace/recording/recorded/",
    "examples/",
)

INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)', re.MULTILINE)
CPP = {".c", ".cpp", ".hpp", ".h", ".inl"}


def list_includes(path: Path) -> list[tuple[str, bool]]:
    """Return the names that a file includes, each with True if it is in quotes."""
    return [(quoted or angled, bool(quoted)) for quoted, angled in INCLUDE.findall(read(path))]


def is_included_in(path: Path, name: str, folder: str) -> bool:
    """True if a file is in a subfolder `folder` of its layer, and includes the header `name`."""
    return path_in_product(path).parts[2:3] == (folder,) and (name, True) in list_includes(path)


@cache
def find_layer_of_header(name: str) -> str:
    """Return the layer that a public header belongs to.

    It is the layer of the source file with the same name; if several layers have one, the layer whose file includes the
    header. Without such a file, it is the layer that has, or is, a folder with that name; or else the last of the
    layers to which the public headers that it includes belong.
    """
    stem = Path(name).stem
    sources = [path for path in files_with({".cpp"}, "src") if path.stem == stem]
    layers = {path_in_product(path).parts[1] for path in sources if (name, True) in list_includes(path)}
    layers = layers or {path_in_product(path).parts[1] for path in sources}
    layers = layers or {
        path_in_product(path).parts[1] for path in files_with({".cpp"}, "src") if is_included_in(path, name, stem)
    }
    layers = layers or {layer for layer in LAYERS if (ROOT / "src" / layer / stem).is_dir() or layer == stem}
    assert len(layers) <= 1, f"{name} could belong to each of {sorted(layers)}"
    if layers:
        return layers.pop()
    header = next(path for path in HEADERS if path_in_product(path) == Path("include") / name)
    inner_layers = [
        find_layer_of_header(inner)
        for inner, _ in list_includes(header)
        if inner.startswith("plait/") and inner != name
    ]
    return max(inner_layers, key=LAYERS.index, default=LAYERS[0])


def find_included_layer(name: str, quoted: bool) -> str | None:
    """Return the layer of an included file; None if the file does not belong to the project."""
    if name.startswith("plait/"):
        return find_layer_of_header(name)
    return name.split("/")[0] if quoted and "/" in name else None


SOURCES = files_with(CPP, "src")
HEADERS = files_with(CPP, "include")
FILES = frozenset(map(str, files_with(CPP)))
FOLDERS_OF_INCLUDES = [
    os.path.normpath(Path(name) / folder)
    for name in ("", *PRODUCTS)
    for folder in ("src", "include", "bindings", "bindings/c", "tests/cpp/support", "tests/c/support")
]
"""The folders in which the compiler searches for files that are not next to the including one."""
PUBLIC = [folder for folder in FOLDERS_OF_INCLUDES if folder.endswith("include")]


def find_included_files(path: Path) -> set[str]:
    """Return the files of the project that a file includes."""
    found = set()
    for name, quoted in list_includes(path):
        folders = [str(path.parent), *FOLDERS_OF_INCLUDES] if quoted else PUBLIC
        paths = [os.path.normpath(Path(folder) / name) for folder in folders]
        found |= set([file for file in paths if file in FILES][:1])
    return found


@pytest.mark.parametrize("path", SOURCES, ids=str)
def test_layer_uses_only_layers_before_it(path: Path) -> None:
    layer = path_in_product(path).parts[1]
    assert layer in LAYERS, f"{path} is in no layer"
    for name, quoted in list_includes(path):
        used = find_included_layer(name, quoted)
        if used is None:
            continue
        assert used in LAYERS, f'{path} includes "{name}", which is in no layer'
        assert LAYERS.index(used) <= LAYERS.index(layer), f'{path} ({layer}) includes "{name}" ({used}), a later layer'
        assert layer == used or {layer, used} not in INDEPENDENT_LAYERS, f'{path} ({layer}) includes "{name}" ({used})'


def find_used_products(path: Path) -> set[str]:
    """Return the products other than the array library whose files a file includes."""
    return {product_name(Path(file)) for file in find_included_files(path)} - {"array"}


@pytest.mark.parametrize("path", files_with(CPP, "src", "include", "bindings", "tests"), ids=str)
def test_products_use_only_the_array_library(path: Path) -> None:
    forbidden = find_used_products(path) - {product_name(path)}
    assert not forbidden, f"{path} of the product {product_name(path)} includes files of {forbidden}"


def test_use_of_products_is_found() -> None:
    assert find_used_products(Path("trace/src/trace/report/analysis.cpp")) == {"trace"}
    assert find_used_products(Path("historical/bindings/primitives1993/runtime.cpp")) == {"historical"}
    assert find_used_products(Path("src/layout/layout.cpp")) == set()


@pytest.mark.parametrize("path", SOURCES, ids=str)
def test_tracing_and_simulation_are_separate(path: Path) -> None:
    used = {
        name: find_included_layer(name, quoted)
        for name, quoted in list_includes(path)
        if name not in HEADERS_OF_NEW_FILES
    }
    own_layer = path_in_product(path).parts[1]
    allowed = SEPARATE_LAYERS.get(own_layer, set(LAYERS) - set(SEPARATE_LAYERS))
    forbidden = [name for name, layer in used.items() if layer and layer not in allowed]
    assert not forbidden, f"{path} includes {forbidden}"


@pytest.mark.parametrize("path", SOURCES, ids=str)
def test_quoted_includes_name_their_layer(path: Path) -> None:
    without_layer = [name for name, quoted in list_includes(path) if quoted and "/" not in name]
    assert not without_layer, f'{path} includes {without_layer}; write the path from src/, as in "layout/x.hpp"'


@pytest.mark.parametrize("path", HEADERS, ids=str)
def test_public_headers_include_only_public_headers(path: Path) -> None:
    inner = [name for name, quoted in list_includes(path) if quoted and not name.startswith("plait/")]
    assert not inner, f"{path} includes {inner}, which are not installed"


def test_mpi_io_uses_the_public_interface() -> None:
    forbidden = [
        f'{path}: "{name}"'
        for path in SOURCES
        if path_in_product(path).parts[1] == "mpiio"
        for name, quoted in list_includes(path)
        if quoted and not name.startswith(("plait/", "mpiio/"))
    ]
    assert not forbidden, f"mpiio may only include public headers of Plait, but {forbidden}"


def test_no_other_code_uses_historical_code() -> None:
    forbidden = [
        f'{path}: "{name}"'
        for path in files_with(CPP, "src", "bindings")
        if not any(folder in str(path) for folder in HISTORICAL) and str(path) not in USES_HISTORICAL
        for name, quoted in list_includes(path)
        if quoted and name.startswith(HISTORICAL)
    ]
    assert not forbidden, f"other code includes historical code: {forbidden}"


def test_mpi_stays_in_its_folders() -> None:
    forbidden = [
        str(path)
        for path in files_with(CPP)
        if not str(path_in_product(path)).startswith(MPI_FOLDERS)
        and any(name == "mpi.h" for name, _ in list_includes(path))
    ]
    assert not forbidden, f"<mpi.h> is included outside {MPI_FOLDERS}: {forbidden}"


def test_pure_layers_do_no_io() -> None:
    forbidden = [
        f"{path}: <{name}>"
        for path in SOURCES
        if path_in_product(path).parts[1] in PURE
        for name, _ in list_includes(path)
        if name in SYSTEM_HEADERS
    ]
    assert not forbidden


def test_formats_of_several_objects_do_not_use_files() -> None:
    forbidden = [
        f"{path}: {name}"
        for path in SOURCES
        if str(path).startswith(OBJECT_FORMATS)
        for name, _ in list_includes(path)
        if name.startswith(("store/posix/", "store/objects/folder/", "sys/"))
        or name in ("fcntl.h", "unistd.h", "fstream", "cstdio")
        or "store::posix" in read(path)
    ]
    assert not forbidden, f"use store/objects/object_store.hpp instead: {sorted(set(forbidden))}"
