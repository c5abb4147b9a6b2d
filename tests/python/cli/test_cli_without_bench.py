"""Plait without the separate package of the benchmarks."""

import os
import subprocess
import sys
from importlib import metadata

import pytest
from click.shell_completion import ShellComplete
from launching import needs_mpi, run

from plait.cli import main

INSTALL_ADVICE = "Error: the benchmarks are not installed; install them with: pip install 'plait[bench]'"


@pytest.fixture
def no_benchmarks(monkeypatch):
    """Make imports of the benchmarks fail."""
    for name in [name for name in sys.modules if name.split(".")[0] == "plait_bench"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "plait_bench", None)


@pytest.mark.parametrize("arguments", [(), ("--help",), ("io",), ("io", "--size", "40"), ("nope",)], ids=" ".join)
def test_bench_says_what_to_install(no_benchmarks, arguments):
    result = run("bench", *arguments)
    assert result.exit_code == 2
    assert result.output.strip().splitlines() == [INSTALL_ADVICE]


def test_help_says_what_to_install(no_benchmarks):
    result = run("--help")
    assert result.exit_code == 0
    assert "needs plait[bench]" in result.output


def test_an_error_inside_the_benchmarks_is_shown_unchanged(tmp_path):
    (tmp_path / "plait_bench").mkdir()
    (tmp_path / "plait_bench" / "__init__.py").write_text("import no_such_module\n", encoding="utf-8")
    result = subprocess.run(
        [sys.executable, "-m", "plait.cli", "bench"],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.stderr.splitlines()[-1] == "ModuleNotFoundError: No module named 'no_such_module'"


@needs_mpi
@pytest.mark.long
def test_demo_omits_the_benchmark(no_benchmarks, tmp_path):
    pytest.importorskip("matplotlib")
    result = run("demo", "--ranks", "2", "--dir", str(tmp_path))
    assert result.exit_code == 0, result.output
    assert "pip install 'plait[bench]'" in result.output


def test_the_installed_package_holds_no_benchmark():
    files = metadata.files("plait")
    assert files
    assert [str(file) for file in files if "bench" in str(file) and file.suffix == ".py"] == ["plait/cli/bench.py"]


def test_import_and_other_commands_do_not_load_the_benchmarks():
    program = """
import sys
from click.testing import CliRunner
from plait.cli import main
assert CliRunner().invoke(main, ["layout", "(block) onto (2)", "4"]).exit_code == 0
print([name for name in sys.modules if "bench" in name])
"""
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "['plait.cli.bench']"


def complete(*words):
    return [item.value for item in ShellComplete(main, {}, "plait", "_PLAIT_COMPLETE").get_completions([*words], "")]


def test_completion_lists_installed_benchmarks():
    pytest.importorskip("plait_bench")
    assert "bench" in complete()
    assert {"columbus", "io", "trace"} <= set(complete("bench"))


def test_completion_works_without_benchmarks(no_benchmarks):
    assert "bench" in complete()
    assert complete("bench") == []
