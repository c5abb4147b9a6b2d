"""Texts are not put together by streams of the standard library.

These take a lack of memory for the end of the text unless their exceptions are set, and ranks would exchange texts that
are cut.  `base::text` and `base::append_parts` (src/base/text.hpp) write, `base::TextReader` (src/base/text_reader.hpp)
reads.  Tracing, whose ranks exchange nothing, is free to use them.
"""

import re
from pathlib import Path

import pytest
from sources import files_with, inside, read

STREAM = re.compile(r"\bstd::w?[io]?stringstream\b|\bstd::basic_[io]?stringstream\b|\bstd::strstream\b")
READER = Path("src/base/text_reader.hpp")
SOURCES = [
    path
    for path in files_with({".cpp", ".hpp", ".h", ".inl"}, "src", "include", "bindings")
    if inside(path).parts[:2] != ("src", "trace") and path != READER
]


def streams_in(text: str) -> list[str]:
    """The lines with such a stream, outside comments."""
    lines = enumerate(text.splitlines(), start=1)
    return [f"{number}: {line.strip()}" for number, line in lines if STREAM.search(line.split("//")[0])]


@pytest.mark.parametrize("path", SOURCES, ids=str)
def test_texts_are_never_cut(path: Path) -> None:
    found = streams_in(read(path))
    assert not found, f"{path}: write by base::text, read by base::TextReader: {found}"


def test_the_reader_reports_a_lack_of_memory() -> None:
    assert "exceptions(std::ios::badbit)" in read(READER)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("std::ostringstream out;", True),
        ("std::istringstream in(told);", True),
        ("std::stringstream both;", True),
        ("base::TextReader in(told);", False),
        ("// as a std::ostringstream would", False),
        ("#include <sstream>", False),
    ],
)
def test_streams_are_found(text: str, found: bool) -> None:
    assert bool(streams_in(text)) == found
