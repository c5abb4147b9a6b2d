"""Turns the docstrings of Plait into reStructuredText for Sphinx.

They are written for `help()`: paragraphs; tables of parameters, in which a name stands at the left and its text, of one
or more lines, two or more blanks to the right of it; and sections such as `Args:`, whose entries are `name: text`.
"""

from __future__ import annotations

import re
from typing import Any

PARAMETER = re.compile(r"(?P<names>\*{0,2}\w+(?: \d)?(?:, \*{0,2}\w+)*) {2,}(?P<text>\S.*)")
SECTION = re.compile(r"(Args|Raises|Returns|Yields|Attributes):")
ENTRY = re.compile(r"(?P<names>[*\w.]+(?:, [*\w.]+)*): (?P<text>\S.*)")
CALL = re.compile(r"[\w.]+\(.*")
OVERLOAD = re.compile(r"(?:\d+\. )?`*\w+\(.*\) -> .*")
ANYTHING = "*args, **kwargs"
LITERAL = re.compile(r"``[^`]+``|:\w+:`[^`]+`|`([^`]+)`")


def escaped(text: str) -> str:
    """A line of prose whose stars, bars and underscores mean themselves; code in backticks stays code."""
    parts: list[str] = []
    end = 0
    for found in LITERAL.finditer(text):
        parts.append(re.sub(r"([*|\\]|_(?=\W|$))", r"\\\1", text[end : found.start()]))
        parts.append(f"``{found[1]}``" if found[1] else found[0])
        end = found.end()
    parts.append(re.sub(r"([*|\\]|_(?=\W|$))", r"\\\1", text[end:]))
    return "".join(parts)


def blocks(lines: list[str]) -> list[list[str]]:
    """The groups of lines between blank ones."""
    found: list[list[str]] = [[]]
    for line in lines:
        if line.strip():
            found[-1].append(line.expandtabs().rstrip())
        elif found[-1]:
            found.append([])
    return [block for block in found if block]


def table(block: list[str], entry: re.Pattern[str] = PARAMETER) -> list[str]:
    """A definition list of a table of parameters; an indented line goes on with the text above it."""
    out: list[str] = []
    indent = len(block[0]) - len(block[0].lstrip())
    for line in block:
        found = entry.fullmatch(line[indent:])
        if found and not line[indent:].startswith(" "):
            out += ["", f"``{found['names']}``", f"    {escaped(found['text'])}"]
        else:
            out.append(f"    {escaped(line.strip())}")
    return [*out[1:], ""]


def to_rst(lines: list[str]) -> list[str]:
    """The lines of a docstring, as reStructuredText."""
    out: list[str] = []
    for block in blocks(lines):
        first = block[0]
        indent = len(first) - len(first.lstrip())
        if PARAMETER.fullmatch(first.strip()):
            out += table(block)
        elif SECTION.fullmatch(first) and len(block) > 1:
            entries = ENTRY.fullmatch(block[1].strip())
            text = table(block[1:], ENTRY) if entries else [*(escaped(line.strip()) for line in block[1:]), ""]
            out += [f"**{first}**", "", *text]
        elif (CALL.fullmatch(first) and len(block[0]) > len(first.split("(")[0]) + 2) or indent:
            out += ["::", "", *(f"    {line}" for line in block), ""]
        elif re.match(r"[-*] ", first):
            out += [re.sub(r"^(\s*[-*] )?(.*)$", lambda m: (m[1] or "") + escaped(m[2]), line) for line in block]
            out.append("")
        elif first != "Overloaded function.":
            out += [*map(escaped, block), ""]
    return out


def process(_app: Any, _what: str, _name: str, _object: Any, _options: Any, lines: list[str]) -> None:
    """Sphinx's hook: changes the lines of a docstring in their list."""
    kept = [line for line in lines if not (OVERLOAD.fullmatch(line.strip()) and ANYTHING in line)]
    overloads = [line for line in kept if OVERLOAD.fullmatch(line.strip())]
    if len(overloads) == 1:  # it stands above already
        kept.remove(overloads[0])
    lines[:] = to_rst(kept)


def drop_refusals(_app: Any, doctree: Any) -> None:
    """Sphinx's hook: removes second forms of calls, which only refuse arguments in words."""
    from sphinx.addnodes import desc_signature

    for signature in list(doctree.findall(desc_signature)):
        if f"{ANYTHING}) → object" in signature.astext() and len(signature.parent.children) > 2:
            signature.parent.remove(signature)


def setup(app: Any) -> dict[str, bool]:
    """Registers the hook with Sphinx."""
    app.connect("autodoc-process-docstring", process)
    app.connect("doctree-read", drop_refusals)
    return {"parallel_read_safe": True}
