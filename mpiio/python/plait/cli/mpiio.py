"""`plait mpiio`: runs MPI programs so that Plait carries out their collective accesses to files."""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path

import click

import plait
from plait.cli.support import Commands

_EXAMPLES = """
\b
Examples:
  plait mpiio run -- mpiexec -n 8 ./simulate
  plait mpiio run --explain -- mpiexec -n 4 python analyse.py
  eval "$(plait mpiio env)"; srun -n 512 ./simulate
"""

_FAMILIES = ("mpich", "openmpi", "abi")
_FOLDER = Path(__file__).parents[1]
_FORWARDED = "OMPI_MCA_mca_base_env_list"
_LAUNCHERS = ("mpiexec", "mpirun", "mpiexec.hydra", "orterun", "prterun")

_family = click.option(
    "--family",
    type=click.Choice(_FAMILIES),
    help="The family of the program's MPI; abi is the standard interface of MPI 5.  [default: that of the launcher]",
)
_explain = click.option(
    "--explain", is_flag=True, help="Rank 0 prints for each file what Plait carried out, and why the MPI did the rest."
)
_always = click.option("--always", is_flag=True, help="Plait also carries out accesses that are as fast in the MPI.")
_strict = click.option("--strict", is_flag=True, help="A collective access that Plait cannot carry out is an error.")


@click.group("mpiio", cls=Commands)
def mpiio_command() -> None:
    """Run MPI programs, unchanged, so that Plait carries out their collective accesses to files."""


@mpiio_command.command("run", epilog=_EXAMPLES, context_settings={"allow_interspersed_args": False})
@_family
@_explain
@_always
@_strict
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- COMMAND [ARGUMENTS]...")
def run_command(family: str | None, explain: bool, always: bool, strict: bool, command: tuple[str, ...]) -> None:
    """Run a command so that its MPI programs use Plait.

    Nothing needs to be compiled or changed. The program calls MPI-IO; Plait carries out collective accesses to
    distributed arrays, and the MPI everything else. The exit status is that of the command, or 127 if it does not
    exist.
    """
    variables = make_variables(family, make_mode(explain=explain, always=always, strict=strict), command[0])
    if "-x" in command:  # mpirun of Open MPI before version 5 rejects the option beside the variable
        variables.pop(_FORWARDED, None)
    try:
        os.execvpe(command[0], list(command), {**os.environ, **variables})
    except OSError as error:
        click.echo(f"plait: {command[0]}: {error.strerror}", err=True)
        raise SystemExit(126 if isinstance(error, PermissionError) else 127) from None


@mpiio_command.command("env")
@_family
@_explain
@_always
@_strict
def env_command(family: str | None, explain: bool, always: bool, strict: bool) -> None:
    """Print the variables that a job script sets for its MPI programs, as shell commands."""
    for name, value in make_variables(family, make_mode(explain=explain, always=always, strict=strict)).items():
        click.echo(f"export {name}={shlex.quote(value)}")


def make_mode(**chosen: bool) -> str:
    """Return the value of PLAIT_MPIIO for the options that were chosen."""
    return ",".join(word for word, is_chosen in chosen.items() if is_chosen) or "on"


def make_variables(family: str | None = None, mode: str = "on", launcher: str = "mpiexec") -> dict[str, str]:
    """Return the variables of the environment with which MPI programs use Plait.

    Those for Open MPI contain a list of the others, which its launchers pass to other hosts only by name. Raises
    ArgumentError if this Plait has no library for the MPI.
    """
    preloaded = [str(find_library(family, launcher)), *os.environ.get("LD_PRELOAD", "").split()]
    variables = {"LD_PRELOAD": ":".join(preloaded), "PLAIT_MPIIO": mode}
    if (family or find_family(launcher)) == "openmpi":
        listed = [name for name in os.environ.get(_FORWARDED, "").split(";") if name and name not in variables]
        variables[_FORWARDED] = ";".join([*listed, *variables])
    return variables


def find_library(family: str | None, launcher: str = "", folder: Path = _FOLDER) -> Path:
    """Return the library to preload for a family of MPI libraries, by default for that of the launcher."""
    single = folder / "libplait_mpiio.so"
    built = {name: path for name in _FAMILIES if (path := folder / f"libplait_mpiio_{name}.so").exists()}
    if single.exists() and not built:
        return single
    if not built:
        raise plait.ArgumentError(
            "this Plait was built without the libraries for MPI-IO; build it where an MPI is found"
        )
    chosen = family or find_family(launcher)
    if chosen is None:
        raise plait.ArgumentError(
            f"the MPI of '{launcher}' is unknown; name its family with --family: {', '.join(sorted(built))}"
        )
    if chosen not in built:
        raise plait.ArgumentError(
            f"this Plait has no library for the family {chosen}, only for {', '.join(sorted(built))}; build Plait for "
            "the program's MPI, with MPICC set to its compiler wrapper"
        )
    return built[chosen]


def find_family(launcher: str) -> str | None:
    """Return the family of MPI libraries that a launcher belongs to, by its version; None if it is unknown."""
    if os.path.basename(launcher) not in _LAUNCHERS:
        return None
    try:
        shown = subprocess.run([launcher, "--version"], capture_output=True, text=True, check=False, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return None
    text = (shown.stdout + shown.stderr).lower()
    if any(word in text for word in ("open mpi", "openrte", "prrte")):
        return "openmpi"
    return "mpich" if any(word in text for word in ("hydra", "mpich", "intel")) else None
