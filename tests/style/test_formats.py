"""The design of formats (decision 0069): small interfaces, no recovered state, no forwarding."""

import re

import pytest
from sources import ROOT, files_with, read

CONTAINER = ROOT / "src" / "container"
VIRTUAL = re.compile(r"^  virtual (?!~)", re.MULTILINE)


SOURCES = [path for path in files_with({".cpp", ".hpp"}, "src") if path.parts[1] == "container"]


@pytest.mark.parametrize("path", SOURCES, ids=str)
def test_formats_cast_nothing_to_what_it_really_is(path):
    assert not re.search(r"\bdynamic_(pointer_)?cast\b", read(path)), (
        f"{path} recovers a type; keep it where it is known"
    )


@pytest.mark.parametrize(
    ("name", "most"), [("Format", 8), ("OpenedFile", 4), ("NewFile", 2), ("Dataset", 5), ("FolderFormat", 2)]
)
def test_interfaces_of_formats_are_small(name, most):
    texts = [path.read_text() for path in CONTAINER.glob("*.hpp")]
    (body,) = [
        found.group(1) for text in texts for found in re.finditer(rf"^class {name} {{\n(.*?)^}};", text, re.M | re.S)
    ]
    assert 1 <= len(VIRTUAL.findall(body)) <= most


def test_netcdf_forwards_nothing():
    assert len((CONTAINER / "netcdf" / "netcdf_format.cpp").read_text().splitlines()) <= 60


def test_each_format_is_a_folder_and_an_entry_of_the_registry():
    registry = (CONTAINER / "format_registry.cpp").read_text()
    shared = {"chunks"}  # what formats with chunks have in common
    folders = {path.name for path in CONTAINER.iterdir() if path.is_dir()} - shared
    assert folders == set(re.findall(r"\b(\w+)::formats?\(\)", registry))
