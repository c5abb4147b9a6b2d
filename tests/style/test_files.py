"""Limits of files and folders, and texts that no file of the project may contain."""

import re
from collections import Counter
from pathlib import Path

import pytest
from sources import CODE, ROOT, TEXT, files_with, read

MAX_LINES = 400
MAX_COLUMNS = 120
WRAPPED_BY_HAND = {".js", ".css", ".html", ".c", ".h", ".cpp", ".hpp", ".inl", ".f90"}
MAX_FILES_PER_FOLDER = 25
# Longer files, each with its maximum length; remove an entry when its file is below the limit.
LONGER: dict[str, int] = {}


UNFINISHED = re.compile(r"\b(?:TO" r"DO|FIX" r"ME|X" r"XX|HA" r"CK)\b")
# Paths of one machine, and addresses that a reader of this project cannot use.
FOREIGN = {
    "a path of somebody's machine": re.compile(r"(?<![\w.$}])/(?:home|root|work|Users)/\w"),
    "a registry's address": re.compile(r"\bpypi\.[o]rg|[p]ythonhosted|index-[u]rl|find-[l]inks"),
    "an issue's number": re.compile(r"\b(?:issue|pull request|PR)s? #?\d+|[\w-]+/[\w.-]+#\d+", re.IGNORECASE),
}
LINK = re.compile(r"!?\[[^\]\n]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)


def test_files_are_short() -> None:
    lengths = {str(path): len(read(path).splitlines()) for path in files_with(CODE)}
    lengths |= {path: len(read(Path(path)).splitlines()) for path in ("CMakeLists.txt", "Makefile")}
    long = {path: lines for path, lines in lengths.items() if lines > LONGER.get(path, MAX_LINES)}
    assert not long, f"files of more than {MAX_LINES} lines; split them by idea: {long}"
    unnecessary = [path for path in LONGER if lengths.get(path, 0) <= MAX_LINES]
    assert not unnecessary, f"no longer long, so drop them from LONGER: {unnecessary}"


def test_folders_are_small() -> None:
    numbers = Counter(str(path.parent) for path in files_with(CODE))
    full_folders = {folder: number for folder, number in numbers.items() if number > MAX_FILES_PER_FOLDER}
    assert not full_folders, f"folders of more than {MAX_FILES_PER_FOLDER} sources; divide them by idea: {full_folders}"


@pytest.mark.parametrize("path", files_with(WRAPPED_BY_HAND), ids=str)
def test_lines_are_short(path: Path) -> None:
    """Python files are left to ruff; clang-format does not check the length of comments."""
    long = [number for number, line in enumerate(read(path).splitlines(), start=1) if len(line) > MAX_COLUMNS]
    assert not long, f"{path}: lines {long} have more than {MAX_COLUMNS} letters"


@pytest.mark.parametrize("path", files_with(TEXT), ids=str)
def test_text(path: Path) -> None:
    text = read(path)
    complaints = []
    for number, line in enumerate(text.splitlines(), start=1):
        if UNFINISHED.search(line):
            complaints.append(f"{path}:{number}: unfinished: {line.strip()}")
        complaints += [
            f"{path}:{number}: {what}: {line.strip()}" for what, pattern in FOREIGN.items() if pattern.search(line)
        ]
        if line != line.rstrip():
            complaints.append(f"{path}:{number}: blanks at the end of the line")
    if text and not text.endswith("\n"):
        complaints.append(f"{path}: no newline at the end")
    assert not complaints, "\n".join(complaints)


def list_anchors(path: Path) -> set[str]:
    """Return the anchors of a Markdown file's headings, as the usual renderers spell them."""
    headings = re.findall(r"^#+\s+(.*?)\s*$", FENCE.sub("", path.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("path", files_with({".md"}), ids=str)
def test_link_targets_exist(path: Path) -> None:
    broken = []
    for link in LINK.findall(FENCE.sub("", read(path))):
        if re.match(r"[a-z]+:", link):
            continue
        name, _, anchor = link.partition("#")
        target = (ROOT / path).parent / name if name else ROOT / path
        if not target.exists() or (anchor and target.suffix == ".md" and anchor not in list_anchors(target)):
            broken.append(link)
    assert not broken, f"{path} links to {broken}, which do not exist"


@pytest.mark.parametrize("path", [p for p in files_with({".sh"}) if p.parts[0] == "scripts"], ids=str)
def test_scripts_stop_at_errors(path: Path) -> None:
    text = read(path)
    if text.startswith("#!"):
        assert text.startswith("#!/usr/bin/env bash\n")
        assert "\nset -euo pipefail\n" in text
        assert (ROOT / path).stat().st_mode & 0o111, f"{path} is not executable"
