"""The design of formats (decision 0069): small interfaces, no casts to derived types, no forwarding."""

import re

import pytest
from sources import ROOT, files_with, read

CONTAINER = ROOT / "src" / "container"
VIRTUAL = re.compile(r"^  virtual (?!~)", re.MULTILINE)


SOURCES = [path for path in files_with({".cpp", ".hpp"}, "src") if path.parts[1] == "container"]


@pytest.mark.parametrize("path", SOURCES, ids=str)
def test_formats_do_not_cast_to_derived_types(path):
    assert not re.search(r"\bdynamic_(pointer_)?cast\b", read(path)), (
        f"{path} recovers a type; keep it where it is known"
    )


@pytest.mark.parametrize(
    ("name", "maximum"), [("Format", 8), ("OpenedFile", 4), ("NewFile", 2), ("Dataset", 5), ("FolderFormat", 2)]
)
def test_interfaces_of_formats_are_small(name, maximum):
    texts = [path.read_text() for path in CONTAINER.glob("*.hpp")]
    (body,) = [
        found.group(1) for text in texts for found in re.finditer(rf"^class {name} {{\n(.*?)^}};", text, re.M | re.S)
    ]
    assert 1 <= len(VIRTUAL.findall(body)) <= maximum


def test_netcdf_forwards_nothing():
    assert len((CONTAINER / "netcdf" / "netcdf_format.cpp").read_text().splitlines()) <= 60


def test_each_format_is_a_folder_and_an_entry_of_the_registry():
    registry = (CONTAINER / "format_registry.cpp").read_text()
    shared = {"chunks"}  # code that all formats with chunks share
    folders = {path.name for path in CONTAINER.iterdir() if path.is_dir()} - shared
    assert folders == set(re.findall(r"\b(\w+)::formats?\(\)", registry))
