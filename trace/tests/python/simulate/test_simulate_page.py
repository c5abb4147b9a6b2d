"""The pages of replays and sweeps: well-formed, without scripts, and with all content of the text."""

import html
import re
from html.parser import HTMLParser

import pytest
from click.testing import CliRunner
from small_traces import spaced_requests, write_trace

import plait
from plait import simulate
from plait.cli import main
from plait.simulate.page import _svg
from plait.trace import Kind

VOID_ELEMENTS = {"meta", "link", "br", "hr", "img", "input"}


class PageParser(HTMLParser):
    """Checks that elements are closed in order, and records tags, links and names."""

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.targets, self.names = [], [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.names += [value for key, value in attrs if key == "id"]
        self.targets += [value[1:] for key, value in attrs if key == "href" and value.startswith("#")]
        if tag not in VOID_ELEMENTS:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def parse_page(text):
    parser = PageParser()
    parser.feed(text)
    assert parser.open == []
    assert "script" not in parser.tags
    assert set(parser.targets) <= set(parser.names)
    assert "://" not in re.sub(r"<style>.*?</style>", "", text, flags=re.DOTALL)
    return parser


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    requests = spaced_requests(40, 5, passes=2) + [
        (2, 1000 + 10 * k, 1, Kind.WRITE, k * 4096, 4096, 0) for k in range(20)
    ]  # fmt: skip
    return simulate.record(write_trace(tmp_path_factory.mktemp("traces") / "<b>&.plait", requests))


def test_the_page_of_a_replay_has_the_content_of_its_text(recording):
    result = simulate.run(recording, "cray-1992")
    text = result.page()
    parser = parse_page(text)
    assert parser.tags.count("svg") == 3 + len(result["processes"])
    plain = html.unescape(text).replace("\u00a0", " ")
    for words in ("program1", "program2", "distance", "Median", "Data rates over time", "processors.quantum"):
        assert words in plain
    assert "<b>&.plait" in plain
    assert "<b>&" not in text
    assert plain.count("<tr>") == 2 + len(result["devices"]) + len(result["processes"]) + 3


def test_the_page_of_a_sweep_draws_a_line_for_each_combination(recording):
    swept = simulate.sweep(recording, "cray-1992", cache=["64KiB", "1MiB"], write=["through", "behind"])
    text = swept.page()
    parse_page(text)
    assert text.count('class="line ') == 2 * 2
    assert text.count('<tr class="best">') == 1
    best, _ = swept.best()
    best_row = re.search(r'<tr class="best">.*?</tr>', text)[0]
    assert ", ".join(best.values()) in best_row


def test_the_page_of_an_advice_has_all_changes(recording, tmp_path):
    advice = simulate.advise(recording, "cray-1992")
    text = advice.page()
    parse_page(text)
    plain = html.unescape(text)
    for change in advice.changes:
        assert change.what in plain
        assert change.setting in plain
    assert f"{100 * advice.error:+.0f}" in plain
    assert ("more than 15 %" in plain) == (abs(advice.error) > 0.15)
    advice.html(tmp_path / "advice.html")
    assert (tmp_path / "advice.html").read_text(encoding="utf-8") == text


def test_a_replay_of_measured_times_has_a_page_too(recording):
    parse_page(simulate.run(recording, "cray-1992", measured=True).page())


@pytest.mark.parametrize(
    ("top", "base", "marks"),
    [
        (7.3, 10, [0, 2, 4, 6, 8]),
        (1.0, 10, [0, 0.5, 1.0]),
        (0.0, 10, [0, 1]),
        (3 << 20, 1024, [0, 1 << 20, 2 << 20, 3 << 20]),
        (1000.0, 1024, [0, 256, 512, 768, 1024]),
    ],
)
def test_marks_are_round(top, base, marks):
    assert _svg.ticks(top, base=base) == pytest.approx(marks)


def test_series_are_reduced_to_few_points_with_equal_sums():
    series = {"interval": 0.5, "sums": [float(k) for k in range(1500)]}
    values, length = _svg.average_series(series, 750.0)
    assert len(values) <= 480
    assert sum(values) * length == pytest.approx(sum(series["sums"]))
    assert _svg.average_series({"interval": 1.0, "sums": [3.0]}, 2.0) == ([3.0, 0.0], 1.0)


def test_the_command_writes_pages(tmp_path):
    trace = str(write_trace(tmp_path / "read.plait", spaced_requests(10, 5)))
    run = CliRunner().invoke
    result = run(main, ["simulate", trace, "--html", str(tmp_path / "page.html")])
    assert result.exit_code == 0, result.output
    assert "elapsed" in result.output
    parse_page((tmp_path / "page.html").read_text(encoding="utf-8"))
    printed = run(main, ["simulate", trace, "--cache", "4KiB,1MiB", "--html", "-"])
    parse_page(printed.stdout)
    advised = run(main, ["simulate", "advise", trace, "--html", str(tmp_path / "advice.html")])
    assert advised.exit_code == 0, advised.output
    parse_page((tmp_path / "advice.html").read_text(encoding="utf-8"))
    json_and_html = run(main, ["simulate", trace, "--json", "--html", "-"])
    assert json_and_html.exit_code == 2
    assert "cannot both go to standard output" in json_and_html.output
    with pytest.raises(plait.StoreError):
        simulate.run(trace).html(tmp_path / "none" / "page.html")
