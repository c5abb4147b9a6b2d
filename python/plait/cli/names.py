"""Names of stores as arguments, which a shell completes."""

from __future__ import annotations

import contextlib
from typing import Any

import click
from click.shell_completion import CompletionItem

import plait
from plait.cli.lists import ParamType


class StoreName(ParamType):
    """The type of an argument that plait.open accepts as a name."""

    name = "store"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the text unchanged."""
        return str(value)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Complete pipes that have a writer, and names of files."""
        from plait._file.location import PIPE_PREFIX

        pipes = []
        if incomplete and (PIPE_PREFIX.startswith(incomplete) or incomplete.startswith(PIPE_PREFIX)):
            with contextlib.suppress(plait.Error):
                pipes = [PIPE_PREFIX + name for name in plait.pipe_names()]
        return [
            *(CompletionItem(name) for name in pipes if name.startswith(incomplete)),
            CompletionItem(incomplete, type="file"),
        ]
