"""The reference of the primitives, and the example of README.md."""

import re

import numpy as np
import pytest
from fortran import ROOT, compile_program, needs_fortran, run


def test_every_primitive_is_documented():
    text = (ROOT / "docs/reference/primitives.md").read_text(encoding="utf-8")
    header = (ROOT / "historical/include/plait_primitives.h").read_text(encoding="utf-8")
    header = re.sub(r"/\*.*?\*/", "", header, flags=re.DOTALL)
    names = set(re.findall(r"\b(plait_\w+)\(", header)) | set(re.findall(r"\b(PLAIT_[A-Z_]+) =", header))
    assert len(names) > 20
    # The page describes the six primitives of the thesis under their own names.
    missing = [
        name for name in sorted(names) if f"`{name}" not in text and f"`{name.removeprefix('plait_')}" not in text
    ]
    assert not missing, f"docs/reference/primitives.md lacks {missing}"


@needs_fortran
def test_the_example_runs(tmp_path):
    text = (ROOT / "historical/README.md").read_text(encoding="utf-8")
    source = tmp_path / "columns.f"
    source.write_text(re.findall(r"```fortran\n(.*?)```", text, re.DOTALL)[0], encoding="utf-8")
    assert run(compile_program(source, tmp_path), 2, tmp_path) == ("", "")
    assert np.fromfile(tmp_path / "columns.bin", "i4").tolist() == [7] * 32


@needs_fortran
@pytest.mark.sampled(1)
@pytest.mark.parametrize("kind", [4, 8])
def test_the_example_of_the_guide_prints_the_output_that_the_guide_shows(tmp_path, kind):
    path = ROOT / "examples/fortran/column_cyclic.f90"
    block = f"```fortran\n{path.read_text(encoding='utf-8')}```\n"
    guides = [guide.read_text(encoding="utf-8") for guide in (ROOT / "docs/guides").glob("*.md")]
    (after,) = [guide.partition(block)[2] for guide in guides if block in guide]
    printed, errors = run(compile_program(path, tmp_path, kind), 4, tmp_path)
    assert errors == ""
    shown = after.split("```text\n")[1].split("```")[0]
    assert [line.split() for line in printed.splitlines()] == [line.split() for line in shown.splitlines()]
