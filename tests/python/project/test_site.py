"""The documentation site: every page is in its contents, every public header and module in its reference.

`make docs` builds it and checks the links; these tests build nothing, so that Sphinx is not required.
"""

from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path

import pytest

import plait

ROOT = Path(__file__).parents[3]
DOCS = ROOT / "docs"
TOCTREE = re.compile(r"^```\{toctree\}\n(.*?)^```", re.MULTILINE | re.DOTALL)
sys.path.insert(0, str(DOCS / "site"))

from docstrings import to_rst  # noqa: E402


def listed_pages(page: Path) -> set[Path]:
    """Return the pages that the tables of contents (toctrees) of a page list."""
    linked: set[Path] = set()
    for block in TOCTREE.findall(page.read_text(encoding="utf-8")):
        lines = [line.strip() for line in block.splitlines() if line.strip() and not line.startswith(":")]
        names = [re.sub(r".*<(.*)>", r"\1", line) for line in lines]
        for name in names:
            pages = set(page.parent.glob(f"{name}.md"))
            assert pages, f"{page.relative_to(ROOT)} lists {name}, which is no page"
            linked |= pages
    return linked


def test_every_page_is_in_the_contents() -> None:
    pages = set(DOCS.rglob("*.md"))
    index = DOCS / "index.md"
    listed = set().union(*map(listed_pages, pages))
    missing = sorted(str(page.relative_to(ROOT)) for page in pages - listed - {index})
    assert not missing, f"no toctree of docs/index.md or below lists {missing}"


def test_the_first_page_is_short() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 120
    assert len(re.findall(r"^\|[-:| ]+\|$", text, re.MULTILINE)) == 1, "one table"
    pictures = re.findall(r"!\[[^\]]+\]\((\S+)\)", text)
    assert pictures
    assert all((ROOT / name).stat().st_size < 60_000 for name in pictures)


def test_included_files_exist() -> None:
    included = [
        (page, name)
        for page in DOCS.rglob("*.md")
        for name in re.findall(r"^```\{(?:literal)?include\} (\S+)", page.read_text(encoding="utf-8"), re.MULTILINE)
    ]
    assert included
    missing = [f"{page.relative_to(ROOT)}: {name}" for page, name in included if not (page.parent / name).is_file()]
    assert not missing


def test_every_header_is_shown() -> None:
    text = (DOCS / "api/c.md").read_text(encoding="utf-8") + (DOCS / "api/cpp.md").read_text(encoding="utf-8")
    folders = [ROOT / "include", *ROOT.glob("*/include")]
    headers = {str(path.relative_to(ROOT)) for folder in folders for path in folder.rglob("*") if path.is_file()}
    shown = {name.removeprefix("../../") for name in re.findall(r"^```\{literalinclude\} (\S+)", text, re.MULTILINE)}
    assert shown == headers


def test_every_public_module_is_shown() -> None:
    text = (DOCS / "api/python.md").read_text(encoding="utf-8")
    shown = set(re.findall(r"^\.\. automodule:: plait\.(\w+)$", text, re.MULTILINE))
    public = {name for name in dir(plait) if not name.startswith("_") and name not in plait.__all__}
    assert shown == public - {"draw", "launch"}, "draw and launch serve the command line; all other modules are shown"


def test_the_settings_have_the_version() -> None:
    settings = runpy.run_path(str(DOCS / "site/conf.py"))
    assert settings["release"] == plait.__version__
    assert settings["root_doc"] == "index"


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["2 * a_ or x|y"], [r"2 \* a\_ or x\|y", ""]),
        (["``a*b`` and `c*d`"], ["``a*b`` and ``c*d``", ""]),
        (["mode   how", "       to open", "shape, dtype  of *"], [
            "``mode``", "    how", "    to open", "", "``shape, dtype``", r"    of \*", "",
        ]),
        (["Args:", "    a, b: two", "        lines"], ["**Args:**", "", "``a, b``", "    two", "    lines", ""]),
        (["Returns:", "    the status"], ["**Returns:**", "", "the status", ""]),
        (["Layout(shape,", "       halo=None)"], ["::", "", "    Layout(shape,", "           halo=None)", ""]),
    ],
)  # fmt: skip
def test_docstrings_become_restructured_text(lines: list[str], expected: list[str]) -> None:
    assert to_rst(lines) == expected
