"""The page of a report as text: its content, invalid values, and errors when it cannot be written."""

import base64
import hashlib
import json
import math
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
import trace_page_reports as reports

import plait
from plait.trace import page

FOLDER = Path(page.__file__).parent


class PageReader(HTMLParser):
    """The elements of a page, and the texts of its scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.raw: dict[str, str] = {}
        self.words: list[str] = []
        self.open = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag in ("script", "style"):
            self.open = dict(attrs).get("id") or tag

    def handle_endtag(self, tag: str) -> None:
        if tag in ("script", "style"):
            self.open = ""

    def handle_data(self, data_bytes: str) -> None:
        if self.open:
            self.raw[self.open] = self.raw.get(self.open, "") + data_bytes
        else:
            self.words.append(data_bytes)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", ["full", "empty", "single", "huge", "hostile"])
def test_the_page_embeds_the_report(name: str) -> None:
    report = getattr(reports, name)()
    parsed = PageReader(page.page_text(report))
    embedded = json.loads(parsed.raw["data-report"])
    assert embedded["files"] == [
        {key: pytest.approx(value) if isinstance(value, float) else value for key, value in row.items()}
        for row in report["files"]
    ]
    assert embedded["timeline"]["read_bytes"] == report["timeline"]["read_bytes"]
    ranks = json.loads(parsed.raw["data-ranks"])
    assert ranks["bytes"] == report["ranks"]["bytes"]
    np.testing.assert_allclose(
        np.asarray(ranks["seconds"], float), np.asarray(report["ranks"]["seconds"], float), rtol=1e-6
    )
    assert [each["file"] for each in json.loads(parsed.raw["data-offsets"])] == [
        each["file"] for each in report["offsets"]
    ]


def test_is_small_compared_to_its_data() -> None:
    parsed = PageReader(page.page_text(reports.huge()))
    data_bytes = sum(len(parsed.raw[f"data-{name}"]) for name in ("report", "ranks", "offsets"))
    other_bytes = len(page.page_text(reports.huge()).encode()) - data_bytes
    print(f"{other_bytes} bytes beside {data_bytes} bytes of data")
    assert other_bytes < 150_000


def test_allows_only_its_own_script_and_style() -> None:
    parsed = PageReader(page.page_text(reports.full()))
    policy = next(each["content"] for tag, each in parsed.tags if tag == "meta" and "http-equiv" in each) or ""
    for name in ("script", "style"):
        digest = base64.b64encode(hashlib.sha256(parsed.raw[name].encode()).digest()).decode()
        assert f"{name}-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy
    assert not [each for tag, each in parsed.tags if tag not in ("a", "link") and ("src" in each or "href" in each)]
    assert all(
        (each.get("href") or "").startswith(("#", "data:,")) for tag, each in parsed.tags if tag in ("a", "link")
    )
    assert not [each for _, each in parsed.tags if any(key.startswith("on") or key == "style" for key in each)]


def test_names_stay_text() -> None:
    text = page.page_text(reports.hostile())
    parsed = PageReader(text)
    assert not [tag for tag, _ in parsed.tags if tag == "img"]
    assert len([tag for tag, _ in parsed.tags if tag == "script"]) == 4
    assert reports.HOSTILE[0] in parsed.words
    assert "${window.pwned=1} {data}" in parsed.words
    assert "\u202e" not in text
    assert "\u2028" not in text
    assert "a\\u202egnp.exe\\u2028b" in " ".join(parsed.words)
    for name in ("report", "ranks", "offsets"):
        assert not set(parsed.raw[f"data-{name}"]) & set("<>&")


def test_unknown_and_foreign_numbers() -> None:
    report = reports.full(16, 2, 8)
    report["table1"] |= {"mean_io_bytes": math.nan, "ios_per_second": np.float64(2.5), "ios": np.int64(7)}
    report["timeline"]["read_bytes"] = np.arange(16, dtype=np.int64)
    embedded = json.loads(PageReader(page.page_text(report)).raw["data-report"])
    assert embedded["table1"]["mean_io_bytes"] is None
    assert embedded["table1"]["ios_per_second"] == 2.5
    assert embedded["table1"]["ios"] == 7
    assert embedded["timeline"]["read_bytes"] == list(range(16))


def test_says_the_conclusions_without_a_script() -> None:
    words = " ".join(" ".join(PageReader(page.page_text(reports.full())).words).split())
    assert words.index("The trace holds all bytes") < words.index("Swaps its data") < words.index("Rank 5 holds")
    assert "8 processes read" in words


def test_incomplete_coverage_is_marked() -> None:
    assert 'class="coverage partial"' in page.page_text(reports.huge())
    assert 'class="coverage complete"' in page.page_text(reports.full())
    assert 'class="coverage unknown"' in page.page_text(reports.empty())
    report = reports.full(16, 2, 8)
    report["trace"]["complete"] = False
    assert 'class="coverage complete"' not in page.page_text(report)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ("cycles", "cycles"),
        ("Request sizes", "sizes"),
        ("table1.io_bytes", "tables"),
        ("stragglers.rows[0]", "stragglers"),
        ("trace.coverage", "trace"),
    ],
)
def test_evidence_leads_to_its_section(found: str, expected: str) -> None:
    report = reports.full(16, 2, 8)
    report["conclusions"] = [{"severity": "low", "title": "t", "text": "x", "evidence": found, "advice": None}]
    assert f'<a href="#{expected}">' in page.page_text(report)


def test_writes_whole_files(tmp_path: Path, nothing_left: None) -> None:
    target = tmp_path / "page.html"
    target.write_text("before", encoding="utf-8")
    page.write(reports.single(), target)
    assert target.read_text(encoding="utf-8") == page.page_text(reports.single())
    comparison, pair = reports.comparison()
    page.write_comparison(comparison, target, pair)
    assert '"timeline":' in PageReader(target.read_text(encoding="utf-8")).raw["data-comparison"]
    page.write_comparison(comparison, str(target))
    assert '"timeline":' not in PageReader(target.read_text(encoding="utf-8")).raw["data-comparison"]


def test_errors_name_what_is_wrong(tmp_path: Path, nothing_left: None) -> None:
    with pytest.raises(plait.Error, match=r"no-such-folder") as caught:
        page.write(reports.single(), tmp_path / "no-such-folder" / "page.html")
    assert isinstance(caught.value, OSError)
    with pytest.raises(plait.Error, match="'plait trace comparison' of version 1; expected 'plait trace report'"):
        page.write(reports.comparison()[0], tmp_path / "page.html")
    with pytest.raises(plait.Error, match="expected 'plait trace report' of version 1"):
        page.write({**reports.single(), "version": 2}, tmp_path / "page.html")
    with pytest.raises(plait.Error, match="holds a set"):
        page.write({**reports.single(), "files": {1, 2}}, tmp_path / "page.html")
    assert list(tmp_path.iterdir()) == []


def test_modules_import_what_they_use() -> None:
    for path in FOLDER.rglob("*.js"):
        text = path.read_text(encoding="utf-8")
        for names, other in re.findall(r'^import \{([^}]*)\} from "(\.[\w./]+)";', text, re.MULTILINE):
            source = (path.parent / other).read_text(encoding="utf-8")
            for name in (each.strip() for each in names.split(",") if each.strip()):
                assert re.search(rf"^export (?:function|const) {name}\b", source, re.MULTILINE), f"{path.name}: {name}"
                assert len(re.findall(rf"\b{name}\b", text)) > 1, f"{path.name} imports {name} and does not use it"
        assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(|new Function", text), path.name
