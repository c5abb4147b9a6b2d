"""Private words that were replaced by the usual terms (docs/decisions/0025-words.md) do not come back."""

import re
from pathlib import Path

import pytest
from sources import CODE, TEXT, files_with, path_in_product, read

FOLDERS = ("src", "include", "bindings", "python", "bench", "scripts", "tests", "examples", "docs")
WORD_LISTS = {Path("docs/decisions/0025-words.md"), Path("tests/style/test_words.py")}
CHECKED = [path for path in files_with(TEXT, *FOLDERS) if path not in WORD_LISTS]
PROGRAMS = {path: None for path in CHECKED if path.suffix in CODE | {".pyi"}}  # in their order
NOTHING = re.compile(r"(?!)")

REPLACED_NAMES = re.compile(
    r"\b(Wish|Flight|Lane|Guest|Doorbells?|Approach|Reaching|During|Asked|JointStore|JointScheme|JointOpener)\b"
)

#: Errors are thrown, calls fail, and invalid arguments are rejected.
REFUSE = re.compile(r"(?<![A-Za-z])[rR]efuse(?![a-z])|[a-z]Refuse(?![a-z])")

#: Use the usual terms instead: encode, report, flush, storage, capacity, header.
STORED = re.compile(
    r"(?<![A-Za-z])(?:told|tells?|untold|settled?|settles|kept|rooms?|front)(?![a-z])"
    r"|(?:Told|Tells?|Settled?|Kept|Rooms?|Front)(?![a-z])"
)
#: Functions of the standard library and of other folders.
ALLOWED_STORED = re.compile(r"(?:\.|->|pop_)front\(")
STORING = re.compile(r"src/(?:container|codec|driver)/")

HOME = re.compile(r"(?<![A-Za-z])homes?(?![a-z])|(?<![A-Za-z])Homes?(?![a-z:])|[a-z]Homes?(?![a-z])")
#: Keys of a browser, and home directories.
ALLOWED_HOME = re.compile(r"[:/~]home\b|\"[Hh]ome\"|\(\?:home|\bPath\.home\(")

ENGINE = re.compile(r"(?<![A-Za-z])[Ee]ngines?(?![a-z])|[a-z]Engines?(?![a-z])")
ALLOWED_ENGINE = re.compile(r"[Ll]ayout_?[Ee]ngine|\bengine=")  # terms of Matplotlib and xarray
#: ADIOS2 has engines, and the decision describes a layer that formerly had the name.
HAS_ENGINES = {
    Path("bench/plait_bench/pipe/sst.py"),
    Path("docs/decisions/0031-layers-between-transport-and-files.md"),
}

FORMS = "deal(?:s|t|er|ers|ing)?"
DEAL = re.compile(rf"(?<![A-Za-z]){FORMS}(?![a-z])|(?<![A-Z])D{FORMS[1:]}(?![a-z])")
#: Ordinary English.
ALLOWED_DEAL = re.compile(r"great deal|deals? with|dealing with")

PLACE = re.compile(
    r"(?<![A-Za-z])(?:places?(?![A-Za-z])|Places?(?![a-z]))|(?<=[a-z])Places?(?![a-z])|(?<![A-Za-z])PLACES?(?![A-Za-z])"
)
ALLOWED_PLACE = re.compile(r"(\b|_)(in|IN)_(place|PLACE)|InPlace")
#: Ordinary English in comments.
PLACE_IN_PROSE = re.compile(
    r"\bin(?:to)? (?:\w+ )?places?\b|\bin_place\b|\btakes?\b[^.;]* places?\b|\bfirst place\b"
    r"|\bplaces? (?:of|it|them)\b|--place"
)
#: These files have or pass the option `--place` of scripts/hosts.py.
OPTION = re.compile(r"scripts/(hosts\.py|test\.sh|several_hosts/)|tests/(stress|python/(distant|bench))/|tests/mpi/")
#: Patterns of texts that are not identifiers: comments, strings, docstrings.
PROSE = {
    ".py": r'"""[\s\S]*?"""|#.*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'',
    ".sh": r"#.*",
    ".f": r"^[cC*].*|!.*|'[^'\n]*'",
    ".f90": r"!.*|'[^'\n]*'|\"[^\"\n]*\"",
    "": r'//.*|/\*[\s\S]*?\*/|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`',
}


def find_lines(text: str, word: re.Pattern[str], allowed: re.Pattern[str]) -> list[str]:
    """Return the lines of a text that have a word, except in the expressions `allowed`."""
    lines = ((number, allowed.sub("", line)) for number, line in enumerate(text.splitlines(), start=1))
    return [f"{number}: {line.strip()}" for number, line in lines if word.search(line)]


def prose_pattern(path: Path) -> re.Pattern[str]:
    """Return the pattern of comments and strings in a file."""
    suffix = ".py" if path.suffix == ".pyi" else path.suffix
    return re.compile(PROSE.get(suffix, PROSE[""]), re.MULTILINE)


def without_prose(path: Path) -> str:
    """Return the code of a file without comments and strings; line numbers do not change."""
    return prose_pattern(path).sub(lambda found: "\n" * found[0].count("\n"), read(path))


def extract_comments(path: Path) -> str:
    """Return the comments and docstrings of a file, without other strings."""
    texts = (match[0] for match in prose_pattern(path).finditer(read(path)))
    return "\n".join(text for text in texts if text[0] not in "\"'`" or text.startswith('"""'))


@pytest.mark.parametrize("path", CHECKED, ids=str)
def test_replaced_words_are_gone(path: Path) -> None:
    found = [] if path in HAS_ENGINES else find_lines(read(path), ENGINE, ALLOWED_ENGINE)
    if path in PROGRAMS:
        found += find_lines(without_prose(path), REPLACED_NAMES, NOTHING)
        found += find_lines(without_prose(path), REFUSE, NOTHING)
        found += find_lines(read(path), HOME, ALLOWED_HOME)
    assert not found, f"{path} has words that docs/decisions/0025-words.md replaces: {found}"


@pytest.mark.parametrize("path", CHECKED, ids=str)
def test_arrays_are_distributed(path: Path) -> None:
    found = find_lines(read(path), DEAL, ALLOWED_DEAL)
    assert not found, f'{path}: say "distribute", as HPF does: {found}'


@pytest.mark.parametrize("path", PROGRAMS, ids=str)
def test_names_say_which_kind_of_place(path: Path) -> None:
    if OPTION.match(str(path_in_product(path))):
        return
    found = find_lines(without_prose(path), PLACE, ALLOWED_PLACE)
    found += find_lines(extract_comments(path), PLACE, PLACE_IN_PROSE)
    assert not found, f"{path}: say slot, address, offset, position, location or what else is meant: {found}"


@pytest.mark.parametrize("path", [path for path in PROGRAMS if STORING.match(str(path))], ids=str)
def test_stores_and_formats_have_the_words_of_the_field(path: Path) -> None:
    found = find_lines(without_prose(path), STORED, ALLOWED_STORED) + find_lines(
        extract_comments(path), STORED, ALLOWED_STORED
    )
    assert not found, f"{path}: say encode, report, flush, storage, capacity or header: {found}"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("std::string told() const;", True),
        ("std::int64_t address_told_in(int head);", True),
        ("struct Told {", True),
        ("void settle() override;", True),
        ("codec::Room room;", True),
        ("constexpr int kFrontBytes = 8;", True),
        ("// What is kept of a chunk.", True),
        ("chunks.front().offset + list.pop_front();", False),
        ("const core::Untold by_the_array;", False),
        ("constexpr auto kFrontier = 1;", False),
    ],
)
def test_words_for_what_is_stored_are_found(text: str, found: bool) -> None:
    assert bool(find_lines(text, STORED, ALLOWED_STORED)) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("int refuse_open(int code);", True),
        ("struct Refuse {", True),
        ("list.refused", False),
        ("int fail_open(int code);", False),
    ],
)
def test_refuse_is_found(text: str, found: bool) -> None:
    assert bool(find_lines(text, REFUSE, NOTHING)) == found


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
    assert bool(find_lines(text, DEAL, ALLOWED_DEAL)) == found


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
    assert bool(find_lines(text, PLACE, ALLOWED_PLACE)) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("struct Home {", True),
        ("const Home home_;", True),
        ("std::vector<int> homes_of(const Candidate& file);", True),
        ("// The home's buffer.", True),
        ("class DistantHome {", True),
        ("int home() const;", True),
        ("the file is at home on rank 2", True),
        ("{ Home: -Infinity }", False),
    ],
)
def test_homes_are_found(text: str, found: bool) -> None:
    assert bool(find_lines(text, HOME, ALLOWED_HOME)) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("// A place for one socket.", True),
        ("// one place behind the other", True),
        ("// It takes the old file's place.", False),
        ("// changed in place", False),
    ],
)
def test_places_in_comments_are_found(text: str, found: bool) -> None:
    assert bool(find_lines(text, PLACE, PLACE_IN_PROSE)) == found
