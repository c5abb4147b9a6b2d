"""No code outside tracing uses the string streams of the standard library.

Unless their exceptions are enabled, string streams silently truncate the text if memory runs out, and ranks would
exchange truncated texts.  Use `base::text` and `base::append_parts` (src/base/text.hpp) to write, and
`base::TextReader` (src/base/text_reader.hpp) to read.  Tracing may use them, because its ranks exchange no texts.
"""

import re
from pathlib import Path

import pytest
from sources import files_with, path_in_product, read

STREAM = re.compile(r"\bstd::w?[io]?stringstream\b|\bstd::basic_[io]?stringstream\b|\bstd::strstream\b")
READER = Path("src/base/text_reader.hpp")
SOURCES = [
    path
    for path in files_with({".cpp", ".hpp", ".h", ".inl"}, "src", "include", "bindings")
    if path_in_product(path).parts[:2] != ("src", "trace") and path != READER
]


def find_streams(text: str) -> list[str]:
    """Return the lines with a string stream outside comments."""
    lines = enumerate(text.splitlines(), start=1)
    return [f"{number}: {line.strip()}" for number, line in lines if STREAM.search(line.split("//")[0])]


@pytest.mark.parametrize("path", SOURCES, ids=str)
def test_no_string_streams(path: Path) -> None:
    found = find_streams(read(path))
    assert not found, f"{path}: write by base::text, read by base::TextReader: {found}"


def test_the_reader_reports_a_lack_of_memory() -> None:
    assert "exceptions(std::ios::badbit)" in read(READER)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("std::ostringstream out;", True),
        ("std::istringstream in(text);", True),
        ("std::stringstream both;", True),
        ("base::TextReader in(text);", False),
        ("// as a std::ostringstream would", False),
        ("#include <sstream>", False),
    ],
)
def test_streams_are_found(text: str, found: bool) -> None:
    assert bool(find_streams(text)) == found
