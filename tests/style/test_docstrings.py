"""All public names of the package plait have a docstring.

The linter checks the Python sources; this test checks the names that users see, including those of extension modules.
"""

import inspect
import re

import pytest

plait = pytest.importorskip("plait", reason="plait is not installed; run scripts/build.sh")

PUBLIC = sorted(name for name in getattr(plait, "__all__", dir(plait)) if not name.startswith("_"))
# nanobind puts the signature on the first line.
SIGNATURE = re.compile(r"^\w+\(.*\)(?: -> .*)?$")


def has_docstring(thing: object) -> bool:
    """Return True if a docstring has more than a signature."""
    lines = (inspect.getdoc(thing) or "").splitlines()
    return any(line.strip() and not SIGNATURE.match(line.strip()) for line in lines)


def test_package_is_explained() -> None:
    assert has_docstring(plait)
    assert PUBLIC


@pytest.mark.parametrize("name", PUBLIC)
def test_name_is_explained(name: str) -> None:
    thing = getattr(plait, name)
    if not (inspect.isclass(thing) or inspect.ismodule(thing) or callable(thing)):
        return
    assert has_docstring(thing), f"plait.{name} has no docstring"
    if inspect.isclass(thing) and not issubclass(thing, BaseException):
        members = [member for member in vars(thing) if not member.startswith("_")]
        bare = [member for member in members if not has_docstring(getattr(thing, member))]
        assert not bare, f"plait.{name}: no docstring for {bare}"
