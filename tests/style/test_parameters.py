"""No function has many parameters: what belongs together is one value with names of its own.

Which functions may have more, and why, is in docs/decisions/0025-words.md.
"""

import ast
import re
from collections.abc import Iterator

from sources import files_with, read

MOST = 5

# Functions whose parameters others chose, with how many they have.  Commands are not listed: their parameters are
# options of the command line.
KNOWN_PYTHON = {
    "python/plait/notations/mpi.py:from_darray": 7,  # those of MPI_Type_create_darray
}
# Public, with names that stay.
KNOWN_CPP = {
    "include/plait/layout.hpp:Layout": 6,
    "include/plait/redistribute.hpp:redistribute": 7,
    "include/plait/redistribute.hpp:start_redistribute": 7,
    "src/core/redistribution/redistribute.cpp:redistribute": 7,
    "src/core/redistribution/redistribute.cpp:start_redistribute": 7,
    "src/layout/layout.cpp:Layout": 6,
}

COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
# A type and a name, as `const Layout& layout` or `int rank = 0`; an operator of an expression has blanks around it.
PARAMETER = re.compile(
    r"(?!(?:return|new|throw|delete|else|case|co_\w+) )(?:const )?(?:(?:unsigned|signed|struct|long) )*"
    r"[A-Za-z_][\w:]*(?:<.+>)?(?:::\w+)?(?: const)?(?:[&*]+(?: ?const)? ?\w*|\.{0,3} \w+)(?:\[\w*\])*(?: ?=.*)?"
)
C_LINKAGE = re.compile(r'extern "C" *\{')
BOUND = re.compile(r'def\w*\(\s*"\w+",\s*&(\w+)')


def python_functions() -> Iterator[tuple[str, int]]:
    """Positional parameters of functions and methods, but those of commands."""
    for top in ("python", "bench", "scripts"):
        for path in files_with({".py"}, top):
            for node in ast.walk(ast.parse(read(path))):
                if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                    continue
                if any("command" in ast.unparse(one) for one in node.decorator_list):
                    continue
                names = [one.arg for one in (*node.args.posonlyargs, *node.args.args)]
                yield f"{path}:{node.name}", len([name for name in names if name not in ("self", "cls")])


def parameters(text: str, begin: int) -> list[str]:
    """What stands between a parenthesis and its other half, cut at commas that are in no other brackets."""
    parts, depth, start = [], 1, begin
    for at in range(begin, len(text)):
        letter = text[at]
        depth += (letter in "([{<") - (letter in ")]}" or (letter == ">" and text[at - 1] != "-"))
        if depth == 0:
            return [*parts, text[start:at]]
        if letter == "," and depth == 1:
            parts.append(text[start:at])
            start = at + 1
    return []


def c_linkage(text: str) -> list[range]:
    """Where the functions stand that C and Fortran programs call."""
    blocks = []
    for found in C_LINKAGE.finditer(text):
        depth, at = 1, found.end()
        while depth and at < len(text):
            depth += (text[at] == "{") - (text[at] == "}")
            at += 1
        blocks.append(range(found.start(), at))
    return blocks


def named_for_c() -> set[str]:
    """The functions of the public headers for C."""
    return {name for path in files_with({".h"}, "include") for name in re.findall(r"\b(\w+)\(", read(path))}


def functions_in(text: str) -> Iterator[tuple[str, int, int]]:
    """Declarations and definitions by what they look like, where they stand and with how many parameters."""
    for found in re.finditer(r"\b([A-Za-z_]\w*)\(", text):
        parts = [" ".join(part.split()) for part in parameters(text, found.end())]
        if all(PARAMETER.fullmatch(part) for part in parts):
            yield found.group(1), found.start(), len(parts)


def stands_in(text: str, name: str, at: int) -> bool:
    """Whether a function of the recording library has the parameters of a call that is not its own.

    It stands in for a function of the C library (EXPORT) or for a system call (capture_...), or hands on the arguments
    of one, whose number or name is its first parameter; or it is the type of such a function.
    """
    before = text[text.rfind("\n", 0, at) + 1 : at]
    first = text[at + len(name) + 1 :].lstrip()
    return (
        before.startswith(("EXPORT ", "typedef "))
        or name.startswith("capture_")
        or first.startswith(("long number,", "const char* name,"))
    )


def cpp_functions() -> Iterator[tuple[str, int]]:
    """All of C++ and C but kernels, what C and Fortran programs call, what is bound to Python, and what stands in for
    other functions: there the number of parameters is that of the function in the other language or library.  Lambdas
    are not looked at: most are bound in the same way."""
    c_names = named_for_c()
    for path in files_with({".hpp", ".cpp", ".c", ".h"}, "src", "include", "bindings"):
        if path.parts[:2] == ("src", "copy"):
            continue  # kernels
        text = COMMENT.sub("", read(path))
        bound = set(BOUND.findall(text)) if path.parts[:2] == ("bindings", "python") else set()
        exported = c_linkage(text) if path.parts[0] == "bindings" else []
        recording = path.parts[:3] == ("src", "trace", "capture")
        for name, at, count in functions_in(text):
            if recording and stands_in(text, name, at):
                continue
            if name not in bound | c_names and not any(at in block for block in exported):
                yield f"{path}:{name}", count


def check(found: Iterator[tuple[str, int]], known: dict[str, int]) -> None:
    """Neither more than is known, nor entries that are not needed."""
    most: dict[str, int] = {}
    for name, count in found:
        most[name] = max(count, most.get(name, 0))
    many = {name: count for name, count in most.items() if count > known.get(name, MOST)}
    assert not many, f"functions of more than {MOST} parameters; group what belongs together: {many}"
    spare = {name for name, count in known.items() if most.get(name, 0) < count}
    assert not spare, f"no longer so many; lower or drop their entries: {spare}"


def test_python_functions_have_few_parameters() -> None:
    check(python_functions(), KNOWN_PYTHON)


def test_cpp_functions_have_few_parameters() -> None:
    check(cpp_functions(), KNOWN_CPP)


def test_declarations_are_told_from_calls() -> None:
    text = """
    std::vector<Part> dense(const Layout& layout, void* data, double bytes, int steps[7], Find&& find, T a = {1, 2});
    const auto sum = add(a, b * c, "text", d + 1, {e, f}, g);
    """
    found = {name: count for name, at, count in functions_in(text) if count}
    assert found == {"dense": 6}


def test_stand_ins_are_told_from_other_functions() -> None:
    text = """
EXPORT int mmap64(void* address, size_t size, int protection) {
long capture_mmap(void* address, size_t size, int protection) {
static long change(long number, int fd, long first) {
static int spawn(const char* name, pid_t* child) {
typedef int spawn_function(pid_t*, const char*, void*);
static void put_open(const char* path, int flags) {
"""
    found = {name: stands_in(text, name, text.index(f"{name}(")) for name in re.findall(r"(\w+)\(", text)}
    assert [name for name, excused in found.items() if not excused] == ["put_open"]
