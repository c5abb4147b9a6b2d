"""`plait copy` in parts: begins, copies a part, finishes, discards, and prints the script of a job array."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from plait._arguments.presence import is_given
from plait._base.amounts import count, seconds, shown, size
from plait.cli.support import UserError, output

if TYPE_CHECKING:
    from plait._copying.parts.folder import PartsFolder
    from plait._copying.parts.plan import PartsPlan, Phase

_Function = TypeVar("_Function", bound=Callable[..., Any])

_OPTIONS = ("parts", "intermediate", "begin", "part", "finish", "discard", "slurm")
_ACTIONS = ("begin", "part", "finish", "discard", "slurm", "dry_run")
_UNSUPPORTED_OPTIONS = ("ranks", "layout", "steps", "raw", "resume")
"""Options of plait copy that copies in parts do not have."""
_LIBRARY_MEMORY = 512
"""Memory in MiB that a process needs besides windows, staging and chunks: for Python and the libraries."""


def parts_options(function: _Function) -> _Function:
    """Add the options of copies in parts to a command."""
    for option in reversed(
        [
            click.option(
                "--parts",
                type=click.IntRange(min=1),
                metavar="N",
                help="Divide the copy into N parts, which independent processes copy.",
            ),
            click.option(
                "--intermediate",
                is_flag=True,
                help="Write an intermediate array in a first phase, if parts would read SOURCE repeatedly.",
            ),
            click.option("--begin", is_flag=True, help="Begin a copy in parts: make the unfinished TARGET."),
            click.option("--part", type=int, metavar="K", help="Copy this part of a copy that has begun."),
            click.option("--finish", is_flag=True, help="Give TARGET its name when all parts have been copied."),
            click.option("--discard", is_flag=True, help="Remove a copy in parts that is not finished."),
            click.option("--slurm", is_flag=True, help="Print a script that submits this copy in parts to Slurm."),
        ]
    ):
        function = option(function)
    return function


def has_parts(options: dict[str, Any]) -> bool:
    """Return True if an option of copies in parts was given."""
    return any(is_given(name, options.get(name)) for name in _OPTIONS)  # also for part 0, which is an error later


def copy_in_parts(ctx: click.Context, job: dict[str, Any], as_json: bool) -> None:
    """Perform the requested action of a copy in parts, and print its result.  job: the options that were given

    errors  UserError, plait.Error
    """
    from plait._copying.parts.arguments import to_values
    from plait._copying.parts.folder import PartsFolder
    from plait.cli.copying.running import printing_warnings

    action = _find_action(job)
    is_memory_given = ctx.get_parameter_source("memory") == ParameterSource.COMMANDLINE
    options = {name: value for name, value in job.items() if name not in (*_OPTIONS, "source", "target", "dry_run")}
    if not is_memory_given:  # without the option, parts use the memory of the plan, not the default of the option
        del options["memory"]
    values = to_values(job["source"], options)
    folder = PartsFolder(job["target"])
    functions: dict[str, Callable[[PartsFolder, dict[str, Any], dict[str, Any]], dict[str, Any]]] = {
        "begin": _begin,
        "part": _copy_part,
        "finish": _finish,
        "discard": _discard,
        "dry_run": _dry_run,
    }
    if action == "slurm":
        with printing_warnings():
            click.echo(_make_script(ctx, folder, values, job))
        return
    with printing_warnings():
        result = functions[action](folder, values, job)
    line = result.pop("line")
    if as_json:
        click.echo(json.dumps({"source": job["source"], "target": job["target"], **result}))
    else:
        output().print(line, soft_wrap=True, markup=False, highlight=False)


def _find_action(job: dict[str, Any]) -> str:
    """Return the only requested action.  errors  UserError: none or several were requested, or options do not fit"""
    actions = [name for name in _ACTIONS if is_given(name, job.get(name))]
    if len(actions) != 1:
        names = [f"--{name.replace('_', '-')}" for name in actions]
        raise UserError(
            f"{'found ' + ' and '.join(names) if names else '--parts or --intermediate was given alone'}; a copy in "
            "parts needs one of --begin, --part K, --finish, --discard, --slurm and --dry-run"
        )
    action = actions[0]
    for name in _UNSUPPORTED_OPTIONS:
        if is_given(name, job.get(name)):
            raise UserError(f"--{name} was given, but each part of a copy is copied by one process; leave it out")
    if action in ("begin", "dry_run", "slurm") and "parts" not in job:
        raise UserError(f"--{action.replace('_', '-')} needs the number of parts; add --parts N")
    return action


def _begin(folder: PartsFolder, values: dict[str, Any], job: dict[str, Any]) -> dict[str, Any]:
    from plait._copying.parts.beginning import begin_copy

    plan, has_begun = begin_copy(folder, values, job["parts"], intermediate=job.get("intermediate", False))
    recorded = len(folder.recorded_parts(plan))
    state = (
        f"has begun before, {recorded} of {count(plan.parts, 'part')} {'is' if recorded == 1 else 'are'} copied"
        if has_begun
        else f"{describe_plan(plan)}; the copy has begun"
    )
    return {
        **_to_plan_values(plan),
        "done": recorded,
        "line": f"{_format_ends(job)}: {state}; {_describe_next_commands(plan)}",
    }


def _dry_run(folder: PartsFolder, values: dict[str, Any], job: dict[str, Any]) -> dict[str, Any]:
    from plait._copying.parts.beginning import plan_copy

    plan = plan_copy(folder, values, job["parts"], intermediate=job.get("intermediate", False))
    return {**_to_plan_values(plan), "line": f"{_format_ends(job)}: {describe_plan(plan)}; nothing was written"}


def _copy_part(folder: PartsFolder, values: dict[str, Any], job: dict[str, Any]) -> dict[str, Any]:
    from plait._copying.parts.running import PartRequest, copy_part
    from plait.cli.copying.progress import progress_bar

    plan = _check_plan(folder, values, job)
    request = PartRequest(folder.target, job["part"], None, values.get("memory"), bool(values.get("verify")))
    with progress_bar(is_total_known=True, enabled=True) as progress:
        part_result = copy_part(folder, plan, request, progress)
    if part_result.repeated:
        text = f"part {part_result.part} of {part_result.parts} was copied before; nothing was done"
    else:
        verified = ", verified" if request.verify or plan.values.get("verify") else ""
        copied = f"{size(part_result.bytes)} in {seconds(part_result.seconds)}"
        text = f"part {part_result.part} of {part_result.parts}, {copied}{verified}"
    return {**asdict(part_result), "line": f"{_format_ends(job)}: {text}"}


def _finish(folder: PartsFolder, values: dict[str, Any], job: dict[str, Any]) -> dict[str, Any]:
    from plait._copying.parts.finishing import finish

    plan = _check_plan(folder, values, job)
    totals = finish(folder, plan)
    result = {"bytes": totals.bytes, "seconds": totals.seconds, "windows": totals.windows, "parts": plan.parts}
    text = f"{size(totals.bytes)} in {count(plan.parts, 'part')} that took {seconds(totals.seconds)} in all"
    return {**result, "line": f"{_format_ends(job)}: {text}; the copy is finished"}


def _discard(folder: PartsFolder, values: dict[str, Any], job: dict[str, Any]) -> dict[str, Any]:
    from plait._copying.parts.finishing import discard

    copied = discard(folder)
    text = f"discarded the copy in parts, of which {size(copied)} had been copied"
    return {"bytes": copied, "line": f"{_format_ends(job)}: {text}"}


def _check_plan(folder: PartsFolder, values: dict[str, Any], job: dict[str, Any]) -> PartsPlan:
    """Return the plan, after checking that the given options agree with it; other options are those of the plan."""
    from plait._copying.parts.arguments import check_equal_arguments

    plan = folder.require_plan()
    check_equal_arguments(
        plan.values, values, require_all=False, advice="repeat the options of --begin, or leave them out"
    )
    if job.get("parts") not in (None, plan.count):
        raise UserError(
            f"the copy in parts was begun with --parts {plan.count}, but this command has --parts {job['parts']}; "
            "repeat the options of --begin, or leave them out"
        )
    return plan


def describe_plan(plan: PartsPlan) -> str:
    """Return the parts, their bytes, and how often the source is read."""
    from plait._copying.parts.beginning import describe_reads

    texts = []
    for number, phase in enumerate(plan.phases):
        numbers = plan.numbers(number)
        clause = f"part{'s' if len(numbers) > 1 else ''} {_format_range(numbers)}"
        if len(plan.phases) > 1:
            clause = f"{clause} {'write intermediate arrays' if number == 0 else 'read them'}"
        texts.append(f"{clause}, up to {size(phase.largest)} each{_describe_idle_parts(phase)}")
    reads = describe_reads(plan.phases[0].reads)
    return f"{size(plan.bytes)} in {'; '.join(texts)}; the bytes of the source are read {reads}"


def _describe_idle_parts(phase: Phase) -> str:
    idle = sum(1 for part in phase.parts if not part)
    return f", {idle} of them without work, because the target has few chunks" if idle else ""


def _describe_next_commands(plan: PartsPlan) -> str:
    if len(plan.phases) == 1:
        return f"copy --part {_format_range(plan.numbers(0))} in any order, then --finish"
    first, second = (_format_range(plan.numbers(phase)) for phase in range(2))
    return f"copy --part {first} in any order, after these --part {second}, then --finish"


def _format_range(numbers: range) -> str:
    return f"{numbers[0]}-{numbers[-1]}" if len(numbers) > 1 else str(numbers[0])


def _to_plan_values(plan: PartsPlan) -> dict[str, Any]:
    return {
        "plan": plan.identifier,
        "parts": plan.parts,
        "bytes": plan.bytes,
        "phases": [
            {
                "first": plan.numbers(number)[0],
                "last": plan.numbers(number)[-1],
                "bytes": phase.bytes,
                "largest": phase.largest,
                "reads": phase.reads,
            }
            for number, phase in enumerate(plan.phases)
        ],
    }


def _format_ends(job: dict[str, Any]) -> str:
    source = job["source"]
    name = shown(source) if isinstance(source, str) else f"{shown(source[0])} and {len(source) - 1} more"
    return f"{name} -> {shown(job['target'])}"


def _make_script(ctx: click.Context, folder: PartsFolder, values: dict[str, Any], job: dict[str, Any]) -> str:
    """Return a script that begins the copy, and submits an array of jobs for each phase and a job that finishes it."""
    from plait._arguments.memory import MEMORY
    from plait._copying.parts.arguments import check_equal_arguments
    from plait._copying.parts.beginning import plan_copy

    plan = folder.read_plan()
    if plan is None:
        plan = plan_copy(folder, values, job["parts"], intermediate=job.get("intermediate", False))
    else:
        check_equal_arguments(plan.values, values, require_all=True, advice="repeat the options of --begin")
    command = shlex.join(["plait", "copy", *_command_line(ctx)])
    name = shlex.quote(f"plait-{folder.root.stem}")
    memory = (values.get("memory", MEMORY) >> 20) + _LIBRARY_MEMORY
    lines = [
        "#!/bin/bash",
        f"# Submits a copy in {count(plan.parts, 'part')}; run it on a login node: bash SCRIPT",
        "set -eu",
        f"cd {shlex.quote(os.getcwd())}",
        f"{command} --begin",
    ]
    dependency = ""
    for number in range(len(plan.phases)):
        wrapped = shlex.quote(f"exec {command} --part $SLURM_ARRAY_TASK_ID")
        lines.append(
            f"phase{number + 1}=$(sbatch --parsable --job-name={name} --array={_format_range(plan.numbers(number))} "
            f"--mem={memory}M{dependency} --wrap={wrapped})"
        )
        dependency = f' --dependency=afterok:"$phase{number + 1}"'
    lines.append(f"sbatch --job-name={name}-finish{dependency} --wrap={shlex.quote(f'exec {command} --finish')}")
    return "\n".join(lines)


def _command_line(ctx: click.Context) -> list[str]:
    """Return the options and names of this command, without the action."""
    arguments: list[str] = []
    for parameter in ctx.command.params:
        if not isinstance(parameter, click.Option) or parameter.name in (*_ACTIONS, "json_"):
            continue
        if ctx.get_parameter_source(str(parameter.name)) != ParameterSource.COMMANDLINE:
            continue
        value = ctx.params[str(parameter.name)]
        option = parameter.opts[-1]
        if parameter.is_flag:
            arguments.append(option if value else (parameter.secondary_opts or [option])[-1])
            continue
        for item in value if parameter.multiple else [value]:
            arguments += [option, _option_text(item)]
    ends = [*ctx.params["sources"], ctx.params["target"]]
    return [*ends, *arguments]


def _option_text(value: Any) -> str:
    """Return the value of an option as a user writes it.  value: if a tuple, a pattern of array names and the value"""
    if isinstance(value, tuple):
        pattern, text = value
        return f"{pattern}:{_option_text(text)}" if pattern else _option_text(text)
    if isinstance(value, dict):
        return ",".join(f"{name}={extent}" for name, extent in value.items())
    if isinstance(value, list):
        return ",".join(map(str, value)) or "scalar"
    return str(value)
