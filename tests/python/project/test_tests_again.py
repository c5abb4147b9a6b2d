"""Tests that fail among thousands of others and pass by themselves are named, and nothing else is forgiven."""

import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).parents[3]
sys.path.insert(0, str(ROOT / "scripts/checks"))
import again  # noqa: E402
import running  # noqa: E402
from counting import Failure, Outcome, count_junit, name_of  # noqa: E402

PATH = "tests/python/project/test_tests_again.py"
NODE = f"{PATH}::test_one[a.b]"


@pytest.fixture(autouse=True)
def outputs(monkeypatch):
    """Outputs of failed commands, and three times whatever the variables of the tests' own run say."""
    monkeypatch.setattr(again, "TIMES", 3)
    kept = list(running.failed_outputs), list(running.grave_lines)
    running.forget_failed()
    running.keep_failed(b"AssertionError: 3 != 4\nassert -1 == 0")
    yield running.keep_failed
    running.failed_outputs[:], running.grave_lines[:] = kept


def failed(*names, more=0):
    failures = [Failure(name, f"4 ranks, {name}: failed on ranks [1]") for name in names]
    return Outcome(100, len(names) + more, 7, failures)


def test_what_passes_three_times_by_itself_is_named():
    asked = []
    outcome = again.settled(failed(NODE), lambda tests: asked.append(tests) or Outcome(passed=1))
    assert (outcome.passed, outcome.failed, outcome.skipped) == (101, 0, 7)
    assert asked == [[NODE]] * 3
    (reason,) = outcome.reasons
    assert reason.startswith(f"{NODE} failed, and then passed 3 times by itself")


def test_what_fails_again_has_failed():
    results = iter([Outcome(passed=1), Outcome(passed=1), Outcome(failed=1)])
    before = failed(NODE)
    assert again.settled(before, lambda _: next(results)) is before


def test_what_does_not_run_again_has_failed():
    before = failed(NODE)
    assert again.settled(before, lambda _: Outcome(skipped=1)) is before


@pytest.mark.parametrize(
    "before",
    [failed("a::b", "a::c", "a::d"), failed(NODE, more=1), Outcome(100, 0), Outcome(0, 1, reasons=["the build"])],
    ids=["three", "a failure without a name", "none", "no test"],
)
def test_more_than_two_and_what_is_no_test_are_not_run_again(before):
    assert again.settled(before, lambda _: pytest.fail("was run again")) is before


@pytest.mark.parametrize(
    "words",
    [
        "==7==ERROR: AddressSanitizer: heap-use-after-free",
        "==7==ERROR: AddressSanitizer: ILL on unknown address 0x5581",  # undefined behaviour
        "Trace/breakpoint trap (core dumped)",  # the same on other processors
        "WARNING: ThreadSanitizer: data race",
        "x.cpp:3: runtime error: signed integer overflow",
        "Fatal Python error: Segmentation fault",
        "worker 'gw1' crashed while running 'tests/a.py::b'",
        "double free or corruption (!prev)",
        "E       assert -11 == 0",
        "CompletedProcess(args=['a'], returncode=-6, stdout='')",
        "terminate called after throwing an instance of 'std::bad_alloc'",
    ],
)
def test_what_a_sanitizer_has_seen_and_deaths_are_not_run_again(outputs, words):
    outputs(f"{words}\n{'a line of another failure' * 3}\n".encode() + 200 * b"and one more\n")  # not at the end
    before = failed(NODE)
    assert again.settled(before, lambda _: pytest.fail("was run again")) is before


def test_nothing_is_run_again_where_that_is_not_wanted(monkeypatch):
    monkeypatch.setattr(again, "TIMES", 0)
    before = failed(NODE)
    assert again.settled(before, lambda _: pytest.fail("was run again")) is before


@pytest.mark.parametrize(
    ("where", "name", "expected"),
    [
        ("tests.python.project.test_tests_again", "test_one[a.b]", NODE),
        ("tests.python.project.test_tests_again.TestMany", "test_one", f"{PATH}::TestMany::test_one"),
        ("Layout", "IsEmpty", "Layout.IsEmpty"),
        ("Every/Kind", "OfThem/2", "Every/Kind.OfThem/2"),
    ],
)
def test_names_are_those_that_the_runners_take(where, name, expected):
    assert name_of(ElementTree.Element("testcase", classname=where, name=name)) == expected


def test_a_test_of_pytest_that_fails_once(tmp_path, monkeypatch):
    """By the runner itself: the names of its report lead back to the test."""
    stages = pytest.importorskip("stages")
    monkeypatch.chdir(tmp_path)
    for module in (stages, running, sys.modules["counting"]):
        monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(stages, "SCRATCH", tmp_path)
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)
    folder = tmp_path / "tests" / "python"
    folder.mkdir(parents=True)
    (folder / "test_once.py").write_text(
        "from pathlib import Path\n"
        "import pytest\n"
        "@pytest.mark.parametrize('word', ['a.b', 'c'])\n"
        "def test_one(word):\n"
        "    seen = Path('seen')\n"
        "    if word == 'c' or seen.exists(): return\n"
        "    seen.touch()\n"
        "    assert False, 'the first time'\n"
    )
    log = tmp_path / "log"
    first = stages.pytest(["tests/python"], log)
    names = [failure.test for failure in first.failures]
    assert (first.passed, first.failed, names) == (1, 1, ["tests/python/test_once.py::test_one[a.b]"])
    outcome = again.settled(first, lambda tests: stages.pytest(tests, log))
    assert (outcome.passed, outcome.failed) == (2, 0)
    assert [reason.split(" ")[0] for reason in outcome.reasons] == names


def test_a_report_of_googletest(tmp_path):
    report = tmp_path / "report.xml"
    report.write_text(
        '<testsuites><testsuite name="A"><testcase name="B" classname="A"><failure message="x"/></testcase>'
        '<testcase name="C" classname="A"/></testsuite></testsuites>'
    )
    outcome = count_junit(report, "plait_tests", 1)
    assert (outcome.passed, outcome.failed, outcome.failures) == (1, 1, [("A.B", "A.B: failed")])
