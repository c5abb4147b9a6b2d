"""A new property of arrays must affect few files: docs/decisions/0075-array-descriptions.md.

A property, such as the fill value, is a member of ArrayProperties. Formats read and write it; other code shall pass the
description of the array as a whole. The test counts the production files outside the formats' folders
(src/container/*/) that name a property in their code: as an identifier, or as a key in Python. To add a property that
all formats store, such as a text named "units", so many files must change besides the formats.

The count leaves out:
- comments and messages;
- python/plait/_core.pyi, which scripts/stubs.py writes;
- the files in COMPUTING, which compute with the values of these properties; no code would compute with units;
- tests and documentation.

It includes the C interface if that has the property. The Fortran interface has none of these properties.
"""

import ast
import io
import re
import tokenize
from pathlib import Path

import pytest
from sources import ROOT, files_with, read

MAX_FILES = 6
# Files that are not counted → what they compute from a property.
COMPUTING = {
    "bindings/python/core_description.cpp": "binds the dimensions of groups, which may be unlimited as well",
    "python/plait/_copying/_copy.py": "takes the unlimited dimensions that a caller requests",
    "python/plait/_copying/parts/arguments.py": "stores the arguments of a copy by their names",
    "python/plait/_copying/hierarchy/appending.py": "finds the dimension that grows by its name",
    "python/plait/_copying/hierarchy/new_arrays.py": "compares the lengths of dimensions of one name",
    "python/plait/_copying/attributes.py": "compares the names of dimensions in a target with those of the source",
    "python/plait/_copying/checking.py": "finds coordinates by the names of dimensions",
    "python/plait/_copying/plans.py": "names the unlimited dimensions of the target",
    "python/plait/_copying/shaping.py": "puts dimensions in another order",
    "python/plait/_copying/storage/chunk_shapes.py": "finds the dimension of time by its name or its limit",
    "python/plait/_copying/storage_request.py": "takes chunks by names of dimensions, and makes texts of fill values",
    "python/plait/cli/copying/storage_options.py": "parses the names of dimensions",
    "python/plait/_views/datasets/backend.py": "gives xarray the unlimited dimensions of a group",
    "python/plait/_views/datasets/dimensions.py": "names dimensions by whether they are unlimited",
    "python/plait/_views/datasets/variables.py": "makes coordinates, and missing values of fill values",
    "python/plait/_views/joined/joining.py": "finds an axis by its name",
    "python/plait/_views/joined/meaning.py": "compares fill values with missing values",
    "python/plait/_views/joined_files/axes.py": "finds the arrays that have the dimension of a join",
}
NOT_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"', re.DOTALL)


def find_names_in_python(text: str) -> set[str]:
    """Return the identifiers, and the strings that may be keys."""
    tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    names = {token.string for token in tokens if token.type == tokenize.NAME}
    keys = {token.string for token in tokens if token.type == tokenize.STRING and token.string[0] in "\"'"}
    return names | {str(ast.literal_eval(key)) for key in keys}


def find_names(path: Path) -> set[str]:
    if path.suffix == ".py":
        return find_names_in_python(read(path))
    comments = re.compile(r"![^\n]*") if path.suffix == ".f90" else NOT_CODE
    return set(re.findall(r"\w+", comments.sub(" ", read(path))))


def belongs_to_a_format(path: Path) -> bool:
    return path.parts[:2] == ("src", "container") and len(path.parts) > 3


SOURCES = [
    path
    for path in files_with({".hpp", ".cpp", ".h", ".inl", ".f90", ".py"}, "src", "include", "bindings", "python")
    if not belongs_to_a_format(path)
]


@pytest.mark.parametrize("name", ["unlimited", "fill_value", "dimension_names"])
def test_few_files_name_a_property(name):
    naming_files = {path.as_posix() for path in SOURCES if name in find_names(path)}
    counted_files = naming_files - set(COMPUTING)
    assert "include/plait/array_description.hpp" in counted_files
    assert len(counted_files) <= MAX_FILES, (
        f"pass descriptions as a whole instead of {name} in some of {sorted(counted_files)}"
    )


def test_files_that_compute_are_named_by_need():
    names = {"unlimited", "fill_value", "dimension_names"}
    assert [path for path in COMPUTING if not names & find_names(Path(path))] == []


def test_all_properties_are_arguments_of_open():
    header = (ROOT / "include/plait/array_description.hpp").read_text()
    members = re.search(r"^struct ArrayProperties \{\n(.*?)^\};", header, re.M | re.S).group(1)
    declared = re.findall(r"^  [\w:<>]+ (\w+)\{\};", members, re.M)
    listed = re.findall(r'visit\("(\w+)", "[^"]+", &ArrayProperties::(\w+)\)', header)
    assert [member for _, member in listed] == declared
    source = ast.parse(read(Path("python/plait/_file/open.py")))
    (function,) = (node for node in source.body if isinstance(node, ast.FunctionDef) and node.name == "open")
    assert {name for name, _ in listed} <= {argument.arg for argument in function.args.kwonlyargs}
