"""Common parts of all commands: groups that import commands on demand, errors in one line, consoles, progress bars."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.shell_completion import CompletionItem

import plait

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

Result = TypeVar("Result")


class UserError(click.ClickException):
    """A mistake in the arguments of the user, printed as one line; the exit status is 2."""

    exit_code = 2


class Commands(click.Group):
    """A group of commands. Errors of Plait and of the system are printed in one line, without a traceback.

    later   commands that are imported when they or their help are called: for each name the module, which defines
            `NAME_command`, and the description for the list of commands
    """

    def __init__(self, *args: Any, later: Mapping[str, tuple[str, str]] | None = None, **more: Any) -> None:
        """Pass the arguments on to click, apart from the commands to import later."""
        super().__init__(*args, **more)
        self._later = dict(later or {})

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands."""
        return sorted({*super().list_commands(ctx), *self._later})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of that name, or None."""
        if cmd_name not in self._later:
            return super().get_command(ctx, cmd_name)
        found: click.Command = getattr(import_module(self._later[cmd_name][0]), f"{cmd_name}_command")
        return found

    def command_help(self, name: str) -> str:
        """Return the description of a command in the list of commands."""
        return self._later[name][1] if name in self._later else self.commands[name].get_short_help_str()

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands, without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, self.command_help(name)) for name in self.list_commands(ctx)])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete the options and the names of commands, without importing any."""
        names = [name for name in self.list_commands(ctx) if name.startswith(incomplete)]
        return [
            *(CompletionItem(name, help=self.command_help(name)) for name in names),
            *click.Command.shell_complete(self, ctx, incomplete),
        ]

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the named command; if there is none of that name, fail with the list of commands."""
        # resilient parsing is how click completes
        named = args and not args[0].startswith("-") and not ctx.resilient_parsing
        if named and self.get_command(ctx, args[0]) is None:
            names = ", ".join(self.list_commands(ctx))
            ctx.fail(f"There is no command {args[0]!r}; use one of: {names}.")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except (plait.Error, OSError) as error:
            if isinstance(error, BrokenPipeError) and not isinstance(error, plait.Error):
                raise
            text = str(error)
            if not isinstance(error, plait.Error) and error.filename is not None and error.strerror:
                text = f"{os.fsdecode(error.filename)}: {error.strerror}"
            raise UserError(" ".join(text.split())) from error


_PRODUCTS = {
    "model": ("plait.cli.model", "Predict the time of reading and writing an array."),
    "mpiio": ("plait.cli.mpiio", "Run MPI programs so that Plait accesses their files."),
    "simulate": ("plait.cli.simulate", "Replay traces with another cache, policy or device."),
    "trace": ("plait.cli.trace", "Record the I/O of programs, and show what traces mean."),
}
"""The commands of other products than the array library, which may have been left out when Plait was built."""


def product_commands() -> dict[str, tuple[str, str]]:
    """Return the module and the description of each command of other products that is installed."""
    return {name: command for name, command in _PRODUCTS.items() if find_spec(command[0]) is not None}


@contextlib.contextmanager
def writing_to(target: str) -> Iterator[None]:
    """End without a message, like other programs in a pipe, if `target` is ``-`` and its reader has closed the pipe."""
    try:
        yield
    except plait.StoreError as error:
        if target != "-" or error.errno != errno.EPIPE:
            raise
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE)) from error


def output() -> Console:
    """Return the console for results.  It uses colour only on a terminal, and never if NO_COLOR is set."""
    from rich.console import Console

    width = None if sys.stdout.isatty() else shutil.get_terminal_size((100, 40)).columns
    return Console(width=width, highlight=False, no_color=True if os.environ.get("NO_COLOR") else None)


def messages() -> Console:
    """Return the console for progress and remarks, on standard error."""
    from rich.console import Console

    return Console(stderr=True, highlight=False, no_color=True if os.environ.get("NO_COLOR") else None)


def progress_bar(*, remaining: bool = False) -> Progress:
    """Return a bar on standard error that disappears when it is complete, and that is not shown without a terminal.

    The bar shows the completed share, the elapsed time, and either the description of the task or, with `remaining`,
    the remaining time.
    """
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    console = messages()
    return Progress(
        BarColumn(30),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeElapsedColumn(),
        TimeRemainingColumn() if remaining else TextColumn("{task.description}"),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )


def run_with_bar(work: Callable[[Callable[[str, float], None]], Result], start: str = "starting the ranks") -> Result:
    """Return the result of `work`.

    It is called with a function that shows the current phase and the completed share, 0 to 1, in a bar on standard
    error.
    """
    with progress_bar() as bar:
        task = bar.add_task(start, total=1.0)
        return work(lambda text, share: bar.update(task, description=text, completed=share))
