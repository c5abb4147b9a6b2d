"""Markdown documents render as they look in an editor.

A paragraph directly below a table becomes a row of it, and a table or a list directly below a paragraph may become a
part of it; therefore blank lines must separate them, and surround headings.  Two blanks inside a line usually mean that
a blank line was lost.  Lines of prose have at most 120 letters; tables, code and links cannot be broken and may be
longer.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from sources import files_with, read

MAX_COLUMNS = 120
DOCUMENTS = [path for path in files_with({".md"}) if path.suffix == ".md"]

FENCE = re.compile(r"\s*(?:```|~~~)")
ITEM = re.compile(r"\s*(?:[-*+]|\d+[.)])\s+(?=\S)")
UNBROKEN = re.compile(r"`[^`]*`|!?\[[^\]]*\]\([^)\s]*\)")
"""Code and links, which must not be broken."""
SEPARATE = {"table", "heading"}
"""The kinds of lines that have blank lines above and below."""


def classify_line(line: str) -> str:
    """Return the kind of a line outside fences."""
    if not line.strip():
        return "blank"
    if line.startswith("|"):
        return "table"
    if re.match(r"#+ ", line):
        return "heading"
    return "item" if ITEM.match(line) else "text"


def classify_lines(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield the number, the kind and the text of each line of a document."""
    in_code = False
    for number, line in enumerate(text.splitlines(), start=1):
        is_fence = bool(FENCE.match(line))
        yield number, "fence" if in_code or is_fence else classify_line(line), line
        in_code ^= is_fence


def find_lines_without_blank_above(text: str) -> list[str]:
    """Return the lines above which a blank line is missing."""
    found, above, in_list = [], "blank", False
    for number, kind, line in classify_lines(text):
        must_be_separate = SEPARATE & {kind, above} and kind != above
        starts_list = kind == "item" and above != "blank" and not in_list
        if above != "blank" and kind != "blank" and (must_be_separate or starts_list or kind == above == "heading"):
            found.append(f"{number}: {line}")
        may_continue_item = kind == "blank" or line.startswith(" ") or (kind == "text" and above != "blank")
        in_list = kind == "item" or (in_list and may_continue_item)
        above = kind
    return found


def find_lines_with_two_blanks(text: str) -> list[str]:
    """Return the lines of prose with several successive blanks, except in code and after the marker of a list item."""
    prose = ((number, kind, line) for number, kind, line in classify_lines(text) if kind in ("item", "text", "heading"))
    return [
        f"{number}: {line}"
        for number, kind, line in prose
        if re.search(r"\S  +\S", UNBROKEN.sub("code", ITEM.sub("", line)))
    ]


def find_long_lines(text: str) -> list[str]:
    """Return the lines of prose that are too long and could be broken."""
    prose = ((number, line) for number, kind, line in classify_lines(text) if kind in ("item", "text"))
    return [
        f"{number}: {line}"
        for number, line in prose
        if len(line) > MAX_COLUMNS and " " in UNBROKEN.sub("code", ITEM.sub("", line)).strip()
    ]


@pytest.mark.parametrize("path", DOCUMENTS, ids=str)
def test_blank_lines_separate_blocks(path: Path) -> None:
    assert not (found := find_lines_without_blank_above(read(path))), (
        f"{path}: a blank line is missing above these lines: {found}"
    )


@pytest.mark.parametrize("path", DOCUMENTS, ids=str)
def test_prose_has_single_blanks(path: Path) -> None:
    found = find_lines_with_two_blanks(read(path))
    assert not found, f"{path}: two blanks in a line; was there a blank line? {found}"


@pytest.mark.parametrize("path", DOCUMENTS, ids=str)
def test_prose_is_not_wide(path: Path) -> None:
    found = find_long_lines(read(path))
    assert not found, f"{path}: lines of more than {MAX_COLUMNS} letters: {found}"


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("| a |\n|---|\n| b |\n text", 4),
        ("text\n| a |\n|---|", 2),
        ("text\n- item", 2),
        ("text\n## Heading", 2),
        ("## Heading\ntext", 2),
        ("- item\n- item\n  goes on\n- item", None),
        ("- item\n\n  goes on\n- item", None),
        ("- item\n\ntext\n- item", 4),
        ("```\ntext\n- no item\n## none\n```", None),
        ("text\n\n| a |\n|---|\n\n## Heading\n\n- item\n\ntext", None),
    ],
)
def test_missing_blank_lines_are_found(text: str, number: int | None) -> None:
    assert [line.split(":")[0] for line in find_lines_without_blank_above(text)] == (
        [] if number is None else [str(number)]
    )


def test_blanks_and_long_lines_are_found() -> None:
    assert find_lines_with_two_blanks("end.  Begin") == ["1: end.  Begin"]
    assert not find_lines_with_two_blanks("`a  b` and\n```\na  b\n```\n-   item\n")
    assert find_long_lines("word " * 30)
    assert find_long_lines("- " + "word " * 30)
    assert not find_long_lines("- [" + "a long name " * 10 + "](target.md)\n| " + "cell " * 40 + "|")
