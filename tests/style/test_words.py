"""Words of our own that the field's have replaced (docs/decisions/0025-words.md) do not come back."""

import re
from pathlib import Path

import pytest
from sources import files_with, read

GONE = re.compile(
    r"\b(Deal|Dealer|Dealing|Dealt|DealPtr|make_deal|deal_out|Wish|Flight|Lane|Guest|Doorbells?|Approach|Reaching|During"
    r"|JointStore|JointScheme|JointOpener)\b"
)


@pytest.mark.parametrize("path", files_with({".cpp", ".hpp", ".c", ".h"}, "src", "include", "bindings"), ids=str)
def test_replaced_words_are_gone(path: Path) -> None:
    code = [line.split("//")[0] for line in read(path).splitlines()]
    found = [f"{number}: {line.strip()}" for number, line in enumerate(code, start=1) if GONE.search(line)]
    assert not found, f"{path} has words that docs/decisions/0025-words.md replaces: {found}"
