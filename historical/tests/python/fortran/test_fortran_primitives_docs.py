"""The reference of the primitives."""

import re

from fortran import ROOT


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
