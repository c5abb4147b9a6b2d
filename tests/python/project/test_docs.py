"""The documents: every example runs and prints the output in the text, and every name is described.

In a document, fenced blocks run in order, in one folder: `python` blocks in one namespace, or under `mpiexec -n 4` if
they import mpi4py, and `plait run -n 4` if they call plait.world(); `cpp` and `c` blocks; the lines of a `sh` block.  A
`python` block that equals a file of examples/python is saved under its name, for the `sh` blocks after it.  A `text`
block after one of them, with at most one line of prose between, is its output, where `...` matches any text. `console`
blocks are only shown; their options are compared with the command line's.  `py` blocks are only shown: Python that
needs another program at its other end.
"""

from __future__ import annotations

import contextlib
import doctest
import inspect
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import click
import pytest
from launching import WELCOME, find_launcher

import plait
import plait.shared
import plait.simulate
import plait.trace
from plait import patterns
from plait.cli import main

ROOT = Path(__file__).parents[3]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
INCLUDES = ("include", "trace/include", "historical/include")
RUNNABLE_LANGUAGES = {"python", "c", "cpp", "sh"}
MAX_SECONDS = 300  # of an example
# Documents whose examples take seconds of processor time.
LONG_DOCUMENTS = {
    *("tasks", "concepts/collectives", "reference/cli", "reference/cpp"),
    *(f"guides/{name}" for name in ("climate", "distant-io", "file-modes", "pipes")),
    *(f"guides/{name}" for name in ("redistribution", "shared-files", "simulation", "slow-job", "year-of-days")),
}


@dataclass
class Block:
    """A fenced block, and the output that the document shows after it."""

    language: str
    text: str
    line: int
    output: str | None = None


def fenced_blocks(path: Path) -> list[Block]:
    """Return the fenced blocks of a document."""
    blocks: list[Block] = []
    block: Block | None = None
    prose_lines = 0
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if block is not None:
            if line != "```":
                block.text += line + "\n"
                continue
            if block.language == "text" and blocks and blocks[-1].output is None and prose_lines <= 1:
                blocks[-1].output = block.text
            else:
                blocks.append(block)
            block, prose_lines = None, 0
        elif line.startswith("```"):
            block = Block(line[3:].strip(), "", number)
        elif line.strip():
            prose_lines += 1
    assert block is None, f"{path}: the block of line {block.line if block else 0} has no end"
    return blocks


def run(command: list[str | Path], folder: Path) -> str:
    """Return the standard output of a command that ends successfully."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    environment = {**os.environ, **WELCOME, "PATH": path, "COLUMNS": "110", "NO_COLOR": "1"}
    result = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=MAX_SECONDS, check=False
    )
    assert result.returncode == 0, f"{shlex.join(map(str, command))}: {result.stdout}\n{result.stderr}"
    return result.stdout


def run_python(text: str, folder: Path, names: dict[str, object]) -> str:
    """Return the output of a Python example."""
    for example in (ROOT / "examples/python").glob("*.py"):
        if example.read_text(encoding="utf-8") == text:
            shutil.copy(example, folder)
            return ""
    if "plait.world()" in text:
        (folder / "program.py").write_text(text, encoding="utf-8")
        command = [sys.executable, "-m", "plait.cli", "run", "-n", "4", sys.executable, "program.py"]
        return run(command, folder)
    if "mpi4py" not in text:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(text, "example", "exec"), names)
        return printed.getvalue()
    launcher = find_launcher()
    if launcher is None:
        pytest.skip("no MPI launcher or no mpi4py for an example with several ranks")
    (folder / "program.py").write_text(text, encoding="utf-8")
    return run([launcher, "-n", "4", sys.executable, "program.py"], folder)


def run_compiled(text: str, folder: Path, language: str) -> str:
    """Return the output of a C or C++ example, compiled against the installed libraries."""
    launcher = find_launcher()
    uses_shared_files = '"sf.h"' in text
    needs_mpi = "plait/mpi.hpp" in text or "plait_mpi.h" in text or uses_shared_files
    plain_name, mpi_name, standard = ("gcc", "mpicc", "c11") if language == "c" else ("g++", "mpicxx", "c++20")
    if needs_mpi and launcher:
        compiler = shutil.which(mpi_name, path=str(Path(launcher).parent))
    else:
        compiler = shutil.which(plain_name)
    if compiler is None or (needs_mpi and launcher is None):
        pytest.skip(f"no compiler, or no MPI, for an example in {language}")
    libraries = Path(plait.__file__).parent
    source = f"example.{language}"
    (folder / source).write_text(text, encoding="utf-8")
    command: list[str | Path] = [
        compiler,
        f"-std={standard}",
        "-Wall",
        *(f"-I{ROOT / folder}" for folder in INCLUDES),
        source,
    ]
    if "int main(" not in text:
        run([*command, "-Werror", "-fsyntax-only"], folder)
        return ""
    names = [
        *(["libplait_sf.so"] if uses_shared_files else []),
        *(["libplait_mpi.so"] if needs_mpi else []),
        "libplait.so",
    ]
    command += [f"-I{ROOT / 'historical/include/plait/ga'}", "-o", "example", *(libraries / name for name in names)]
    run([*command, f"-Wl,-rpath,{libraries}"], folder)
    return run([launcher, "-n", "4", "./example"] if needs_mpi and launcher else ["./example"], folder)


# The names that the shorter examples in C use.
C_NAMES = """#include <plait_mpi.h>
#include <stdio.h>
void example(plait_file* file, plait_comm* comm, plait_layout* layout, plait_layout* target, double* data,
             int64_t bytes);
void example(plait_file* file, plait_comm* comm, plait_layout* layout, plait_layout* target, double* data,
             int64_t bytes) {
"""


def run_c(text: str, folder: Path, where: str) -> str:
    """Return the output of an example in C.  A whole program is one of examples/c; others are only compiled."""
    if "int main(" not in text:
        return run_compiled(C_NAMES + text + "}\n", folder, "c")
    examples = [path.read_text(encoding="utf-8") for path in sorted((ROOT / "examples/c").glob("*.c"))]
    assert text in examples, f"{where} is none of the files in examples/c"
    return run_compiled(text, folder, "c")


def document_parameters() -> Iterator[object]:
    """Yield every document, with a mark for long ones."""
    for path in DOCUMENTS:
        name = str(path.relative_to(ROOT))
        is_long = name.removeprefix("docs/").removesuffix(".md") in LONG_DOCUMENTS
        yield pytest.param(path, id=name, marks=[pytest.mark.long] if is_long else [])


@pytest.mark.parametrize("path", list(document_parameters()))
def test_examples_print_the_output_in_the_document(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "example"}
    checker = doctest.OutputChecker()
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    for block in fenced_blocks(path):
        if block.language not in RUNNABLE_LANGUAGES:
            continue
        where = f"{path.relative_to(ROOT)}:{block.line}"
        if block.language == "python":
            printed = run_python(block.text, tmp_path, names)
        elif block.language == "cpp":
            printed = run_compiled(block.text, tmp_path, "cpp")
        elif block.language == "c":
            printed = run_c(block.text, tmp_path, where)
        else:
            assert block.text.startswith("plait "), (
                f"{where}: a sh block runs plait; use console for what is only shown"
            )
            printed = run(["bash", "-euc", block.text], tmp_path)
        if block.output is not None:
            assert checker.check_output(block.output, printed, flags), f"{where} prints\n{printed}\nnot\n{block.output}"


def all_commands(group: click.Group = main, name: str = "plait") -> Iterator[tuple[str, click.Command]]:
    """Yield every command with its whole name."""
    context = click.Context(group)
    for part in group.list_commands(context):
        command = group.get_command(context, part)
        assert command is not None
        if isinstance(command, click.Group):
            yield from all_commands(command, f"{name} {part}")
        else:
            yield f"{name} {part}", command


def long_options(command: click.Command) -> set[str]:
    """Return the long options of a command."""
    return {text for option in command.params for text in option.opts if text.startswith("--")} | {"--help"}


def test_shown_commands_exist() -> None:
    commands = dict(all_commands())
    for path in DOCUMENTS:
        text = "".join(block.text for block in fenced_blocks(path) if block.language == "console")
        for line in re.findall(r"^\$ (plait .*?)(?:\s+#.*)?$", text, re.MULTILINE):
            name = next((name for name in commands if line.startswith(name)), None)
            if name is None:
                assert line in ("plait --help", "plait --version"), f"{path}: there is no command as in '{line}'"
                continue
            plait_part = line.split(" -- ")[0]  # the words after it belong to another program
            used = {word.split("=")[0] for word in shlex.split(plait_part) if word.startswith("--")}
            assert used <= long_options(commands[name]), f"{path}: '{line}' has options that {name} has not"


def test_every_command_is_documented() -> None:
    text = (ROOT / "docs/reference/cli.md").read_text(encoding="utf-8")
    for name, command in all_commands():
        section = text.partition(f"## `{name}`")[2].partition("\n## ")[0]
        assert section, f"docs/reference/cli.md has no section on {name}"
        missing = [option for option in sorted(long_options(command) - {"--help"}) if f"`{option}" not in section]
        assert not missing, f"docs/reference/cli.md, {name}, lacks {missing}"


def test_every_python_name_is_documented() -> None:
    text = (ROOT / "docs/reference/python.md").read_text(encoding="utf-8")
    missing = [name for name in plait.__all__ if not re.search(rf"\b{name}\b", text)]
    for kind in (
        plait.Layout,
        plait.Conversion,
        plait.Message,
        plait.File,
        plait.Request,
        plait.Redistribution,
        plait.Stream,
    ):
        members = [name for name, _ in inspect.getmembers(kind) if not name.startswith("_")]
        section = text.partition(f"## `{kind.__name__}`")[2].partition("\n## ")[0]
        described = re.findall(r"`(?:[A-Z]\w*\.)?(\w+)", section)
        missing += [f"{kind.__name__}.{name}" for name in members if name not in described]
    assert not missing, f"docs/reference/python.md lacks {missing}"


def test_every_name_of_traces_is_documented() -> None:
    text = (ROOT / "docs/reference/traces.md").read_text(encoding="utf-8")
    missing = [name for name in plait.trace.__all__ if not re.search(rf"`trace\.{name}\b", text)]
    assert not missing, f"docs/reference/traces.md lacks {missing}"


def test_every_name_of_simulations_is_documented() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "docs/reference").glob("simulation*.md"))
    missing = [name for name in plait.simulate.__all__ if not re.search(rf"`(?:simulate\.)?{name}\b", text)]
    assert not missing, f"docs/reference/simulation*.md lack {missing}"


def test_every_name_of_shared_files_is_documented() -> None:
    text = (ROOT / "docs/reference/python.md").read_text(encoding="utf-8")
    section = text.partition("## `plait.shared`")[2].partition("\n## ")[0]
    names = set(plait.shared.__all__) | set(inspect.signature(plait.shared.open).parameters)
    names |= {name for name, _ in inspect.getmembers(plait.shared.SharedFile) if not name.startswith("_")}
    missing = [name for name in sorted(names) if not re.search(rf"`[^`]*\b{name}\b", section)]
    assert not missing, f"docs/reference/python.md lacks {missing} of plait.shared"


def test_every_name_of_patterns_is_documented() -> None:
    text = (ROOT / "docs/reference/patterns.md").read_text(encoding="utf-8")
    members = [name for name, _ in inspect.getmembers(patterns.Pattern) if not name.startswith("_")]
    missing = [name for name in [*patterns.__all__, *members] if not re.search(rf"`{name}\b", text)]
    assert not missing, f"docs/reference/patterns.md lacks {missing}"


def test_every_header_is_documented() -> None:
    text = (ROOT / "docs/reference/cpp.md").read_text(encoding="utf-8")
    headers = [*(ROOT / "include/plait").glob("*.hpp"), *ROOT.glob("*/include/plait/*.hpp")]
    missing = [header.name for header in headers if f"plait/{header.name}" not in text]
    assert not missing, f"docs/reference/cpp.md lacks {missing}"


def test_every_c_name_is_documented() -> None:
    text = (ROOT / "docs/reference/c.md").read_text(encoding="utf-8")
    names: set[str] = set()
    for header in ("plait.h", "plait/types.h", "plait/attributes.h", "plait/steps.h", "plait_mpi.h"):
        declared = re.sub(r"/\*.*?\*/", "", (ROOT / "include" / header).read_text(encoding="utf-8"), flags=re.DOTALL)
        names |= set(re.findall(r"\b(plait_\w+)\(", declared)) | set(re.findall(r"\b(PLAIT_[A-Z_]+)\b", declared))
        names |= set(re.findall(r"^} (plait_\w+);", declared, re.MULTILINE))
    names -= {"PLAIT_H", "PLAIT_TYPES_H", "PLAIT_ATTRIBUTES_H", "PLAIT_STEPS_H", "PLAIT_MPI_H"}
    assert len(names) > 80
    missing = [name for name in sorted(names) if not re.search(rf"`[^`\n]*\b{name}\b", text)]
    assert not missing, f"docs/reference/c.md lacks {missing}"


def test_every_setting_is_documented() -> None:
    text = (ROOT / "docs/reference/settings.md").read_text(encoding="utf-8")
    names: set[str] = set()
    folders = [ROOT / folder for folder in ("src", "python", "bench", "trace/src", "trace/python")]
    for path in [path for folder in folders for path in folder.rglob("*") if path.suffix in (".cpp", ".py")]:
        for line in path.read_text(encoding="utf-8").splitlines():
            names |= set(re.findall(r"""(?:getenv\(|environ\.get\(|environ\[)["'](PLAIT_\w+)["']""", line))
    assert names, "no setting was found in the sources"
    missing = [name for name in sorted(names) if f"`{name}`" not in text]
    assert not missing, f"docs/reference/settings.md lacks {missing}"


def test_figures_agree_with_the_code() -> None:
    result = subprocess.run(
        [sys.executable, ROOT / "scripts/figures.py", "--check"], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
