"""No text or source has common misspellings; pyproject.toml lists correct words that codespell would report."""

import subprocess
import sys
from pathlib import Path

import pytest
from sources import ROOT, TEXT, files_with

pytest.importorskip("codespell_lib", reason="codespell is not installed; make setup installs it")


def find_misspellings(*paths: Path) -> str:
    """Return the misspellings that codespell finds in some files, one per line."""
    command = [sys.executable, "-m", "codespell_lib", "--toml", ROOT / "pyproject.toml", *paths]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert not done.stderr, done.stderr
    return done.stdout


def test_words_are_spelt_right() -> None:
    assert not (found := find_misspellings(*files_with(TEXT | {".cff"}))), f"misspelt:\n{found}"


def test_misspellings_are_found(tmp_path: Path) -> None:
    wrong = "".join(["writ", "en"])
    text = tmp_path / "text.md"
    text.write_text(f"This line is {wrong} wrongly, and tells of an inout argument.\n", encoding="utf-8")
    assert find_misspellings(text).split() == [f"{text}:1:", wrong, "==>", "written"]
