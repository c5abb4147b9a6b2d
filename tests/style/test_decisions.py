"""Decision records are short and dated, and docs/decisions/README.md explains each number that is missing."""

import datetime
import re
from pathlib import Path

import pytest
from sources import ROOT, files_with, read

FOLDER = Path("docs/decisions")
INDEX = FOLDER / "README.md"
RECORDS = [path for path in files_with({".md"}, "docs") if path.parent == FOLDER and path != INDEX]

MAX_LINES = 60
NAME = re.compile(r"\d{4}-[a-z0-9-]+\.md")
STATUS = re.compile(
    r"^Status: (?P<status>accepted|superseded by \[\d{4}\]\(\S+\))\. Date: (?P<date>\d{4}-\d{2}-\d{2})\b", re.MULTILINE
)


def find_defects(name: str, text: str) -> list[str]:
    """Return the defects of a record."""
    defects = [] if NAME.fullmatch(name) else ["its name is not NUMBER-words.md"]
    if not text.startswith(f"# {name[:4]} — "):
        defects.append(f'its title does not begin with "# {name[:4]} — "')
    if len(text.splitlines()) > MAX_LINES:
        defects.append(f"it has more than {MAX_LINES} lines; measurements belong into docs/measurements.md")
    status = STATUS.search("\n".join(text.splitlines()[1:6]))
    if status is None:
        defects.append('no line below its title is "Status: accepted. Date: 2026-01-31."')
    else:
        try:
            datetime.date.fromisoformat(status["date"])
        except ValueError:
            defects.append(f"{status['date']} is not a date")
    return defects


def find_missing_numbers(names: list[str]) -> set[str]:
    """Return the numbers between the first and the last record that no record has."""
    numbers = {int(name[:4]) for name in names}
    return {f"{number:04}" for number in range(1, max(numbers))} - {f"{number:04}" for number in numbers}


@pytest.mark.parametrize("path", RECORDS, ids=str)
def test_records_have_status_and_date_and_are_short(path: Path) -> None:
    defects = find_defects(path.name, read(path))
    assert not defects, f"{path}: {'; '.join(defects)}"


def test_every_record_is_in_the_index() -> None:
    toctree = re.search(r"^```\{toctree\}\n(.*?)^```", read(INDEX), re.MULTILINE | re.DOTALL)
    assert toctree, f"{INDEX} has no list of records"
    listed = {
        path.name
        for line in toctree[1].splitlines()
        if line and not line.startswith(":")
        for path in (ROOT / FOLDER).glob(f"{line.removesuffix('.md')}.md")
    }
    missing = {path.name for path in RECORDS} - listed
    assert not missing, f"{INDEX} does not list {sorted(missing)}"


def test_numbers_are_used_once_and_gaps_are_explained() -> None:
    names = [path.name for path in RECORDS]
    numbers = [name[:4] for name in names]
    assert len(set(numbers)) == len(numbers), f"two records have one number: {sorted(names)}"
    unexplained = {number for number in find_missing_numbers(names) if number not in read(INDEX)}
    assert not unexplained, f"{INDEX} does not say why there is no record {sorted(unexplained)}"


GOOD = "# 0007 — A title\n\nStatus: accepted. Date: 2026-01-31.\n\n## Context\n"


@pytest.mark.parametrize(
    ("name", "text", "number"),
    [
        ("0007-title.md", GOOD, 0),
        ("0007-title.md", GOOD.replace("accepted", "superseded by [0009](0009-other.md)"), 0),
        ("0008-title.md", GOOD, 1),
        ("7-title.md", GOOD, 2),
        ("0007-title.md", GOOD.replace("Status: accepted. ", ""), 1),
        ("0007-title.md", GOOD.replace("2026-01-31", "2026-02-31"), 1),
        ("0007-title.md", GOOD + "line\n" * MAX_LINES, 1),
    ],
)
def test_defects_are_found(name: str, text: str, number: int) -> None:
    assert len(find_defects(name, text)) == number


def test_missing_numbers_are_found() -> None:
    assert find_missing_numbers(["0001-a.md", "0002-b.md", "0004-c.md"]) == {"0003"}
