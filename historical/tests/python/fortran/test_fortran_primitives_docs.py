"""The reference of the primitives, and the example of README.md."""

import re

import numpy as np
from fortran import ROOT, compile_program, needs_fortran, run


def test_every_primitive_is_told_of():
    text = (ROOT / "docs/reference/primitives.md").read_text(encoding="utf-8")
    header = (ROOT / "historical/include/plait_primitives.h").read_text(encoding="utf-8")
    header = re.sub(r"/\*.*?\*/", "", header, flags=re.DOTALL)
    names = set(re.findall(r"\b(plait_\w+)\(", header)) | set(re.findall(r"\b(PLAIT_[A-Z_]+) =", header))
    assert len(names) > 20
    # The six of the thesis are told of under their own names.
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
