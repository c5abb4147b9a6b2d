"""Words of our own that the field's have replaced (docs/decisions/0025-words.md) do not come back."""

import re
from pathlib import Path

import pytest
from sources import CODE, TEXT, files_with, read

FOLDERS = ("src", "include", "bindings", "python", "bench", "scripts", "tests", "examples", "docs")
OWN = {Path("docs/decisions/0025-words.md"), Path("tests/style/test_words.py")}
CHECKED = [path for path in files_with(TEXT, *FOLDERS) if path not in OWN]

GONE = re.compile(
    r"\b(Wish|Flight|Lane|Guest|Doorbells?|Approach|Reaching|During|JointStore|JointScheme|JointOpener)\b"
)

FORMS = "deal(?:s|t|er|ers|ing)?"
DEAL = re.compile(rf"(?<![A-Za-z]){FORMS}(?![a-z])|(?<![A-Z])D{FORMS[1:]}(?![a-z])")
#: Ordinary English, and a public parameter of plait.notations.chunks.
DEAL_STAYS = re.compile(r"great deal|deals? with|dealing with|\bdeal\b")

PLACE = re.compile(
    r"(?<![A-Za-z])(?:places?(?![A-Za-z])|Places?(?![a-z]))|(?<=[a-z])Places?(?![a-z])|(?<![A-Za-z])PLACES?(?![A-Za-z])"
)
PLACE_STAYS = re.compile(r"(\b|_)(in|IN)_(place|PLACE)|InPlace|SharedFilePlace")
#: These hand on the option `place` of shared files, or `--place` of scripts/hosts.py; both are public.
OPTION = re.compile(
    r"src/distant/shared/|src/driver/distant/|include/plait/shared_file\.hpp|bindings/python/core_shared\.cpp"
    r"|python/plait/(shared\.py|_core\.pyi)|python/plait/draw/panel\.py|bench/plait_bench/(shared|columbus)/"
    r"|scripts/(hosts\.py|stages\.py|several_hosts/)|examples/python/columbus\.py"
    r"|tests/(mpi|stress|python/(distant|processes)|cpp/(distant|core|store))/"
)
#: What is no identifier: comments, texts, docstrings.
PROSE = {
    ".py": r'"""[\s\S]*?"""|#.*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'',
    ".sh": r"#.*",
    ".f": r"^[cC*].*|!.*|'[^'\n]*'",
    ".f90": r"!.*|'[^'\n]*'|\"[^\"\n]*\"",
    "": r'//.*|/\*[\s\S]*?\*/|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`',
}


def lines_with(text: str, word: re.Pattern[str], stays: re.Pattern[str]) -> list[str]:
    """The lines of a text with a word, apart from where it may stay."""
    lines = ((number, stays.sub("", line)) for number, line in enumerate(text.splitlines(), start=1))
    return [f"{number}: {line.strip()}" for number, line in lines if word.search(line)]


def without_prose(path: Path) -> str:
    """The code of a file, its lines where they were."""
    suffix = ".py" if path.suffix == ".pyi" else path.suffix
    prose = re.compile(PROSE.get(suffix, PROSE[""]), re.MULTILINE)
    return prose.sub(lambda found: "\n" * found[0].count("\n"), read(path))


@pytest.mark.parametrize("path", files_with({".cpp", ".hpp", ".c", ".h"}, "src", "include", "bindings"), ids=str)
def test_replaced_words_are_gone(path: Path) -> None:
    code = [line.split("//")[0] for line in read(path).splitlines()]
    found = [f"{number}: {line.strip()}" for number, line in enumerate(code, start=1) if GONE.search(line)]
    assert not found, f"{path} has words that docs/decisions/0025-words.md replaces: {found}"


@pytest.mark.parametrize("path", CHECKED, ids=str)
def test_arrays_are_distributed(path: Path) -> None:
    found = lines_with(read(path), DEAL, DEAL_STAYS)
    assert not found, f'{path}: say "distribute", as HPF does: {found}'


@pytest.mark.parametrize("path", [path for path in CHECKED if path.suffix in CODE | {".pyi"}], ids=str)
def test_names_say_which_kind_of_place(path: Path) -> None:
    if OPTION.match(str(path)):
        return
    found = lines_with(without_prose(path), PLACE, PLACE_STAYS)
    assert not found, f"{path}: say slot, address, offset, position, location or what else is meant: {found}"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("bool is_dealt(int d);", True),
        ("std::vector<int> dealers_;", True),
        ("class BlockDealer {", True),
        ("the rows are dealt to ranks", True),
        ("const int inner_dealing = 0;", True),
        ("deallocate (array)", False),
        ("an ideal disk deals with a great deal of requests", False),
    ],
)
def test_forms_of_deal_are_found(text: str, found: bool) -> None:
    assert bool(lines_with(text, DEAL, DEAL_STAYS)) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("const int first_place = 0;", True),
        ("struct ChunkPlace {", True),
        ("enum { PLACES = 3 };", True),
        ("place->offset", True),
        ("list.emplace_back(replaced, displacement)", False),
        ("bool in_place() const;", False),
        ("void placeCanvas();", False),
    ],
)
def test_identifiers_with_place_are_found(text: str, found: bool) -> None:
    assert bool(lines_with(text, PLACE, PLACE_STAYS)) == found
