"""The Fortran documents: the examples run and print the output in the text, and every name is described."""

import re

import pytest
from fortran import ROOT, compile_program, needs_fortran, run

# The document of the primitives is tested together with the primitives.
EXAMPLES = sorted(
    path for path in (ROOT / "examples/fortran").glob("*.f90") if "array_map" not in path.read_text(encoding="utf-8")
)
GUIDES = [path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs/guides").glob("*.md"))]


@needs_fortran
@pytest.mark.sampled(2)
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
@pytest.mark.parametrize("kind", [4, 8])
def test_examples_print_what_the_guide_says(tmp_path, path, kind):
    text = path.read_text(encoding="utf-8")
    matches = [parts for guide in GUIDES if (parts := guide.partition(f"```fortran\n{text}```\n"))[1]]
    assert len(matches) == 1, f"{len(matches)} guides contain {path.name} unchanged"
    before, _, after = matches[0]
    assert f"examples/fortran/{path.name}" in before.rstrip().split("\n\n")[-1]
    printed, errors = run(compile_program(path, tmp_path, kind), 4, tmp_path)
    assert errors == ""
    assert [line.split() for line in printed.splitlines()] == [
        line.split() for line in after.split("```text\n")[1].split("```")[0].splitlines()
    ]


def test_every_fortran_name_is_documented():
    text = (ROOT / "docs/reference/fortran.md").read_text(encoding="utf-8")
    names = set()
    for source in (ROOT / "bindings/fortran").glob("plait_*.f90"):
        for line in re.findall(r"^  public :: (.*?)[ &]*$", source.read_text(encoding="utf-8"), re.MULTILINE):
            names |= set(re.split(r",\s*", line.strip()))
    # Names that the parts of the module use among themselves, and that programs do not need.
    names -= {"report", "c_text", "to_int64s", "plait_to_text", "found_comm", "found_layout"}
    names -= {"found_file", "found_request", "check_slices", "not_collective"}
    assert len(names) > 20
    missing = [name for name in sorted(names) if not re.search(rf"\b{name}\b", text)]
    assert not missing, f"docs/reference/fortran.md lacks {missing}"
