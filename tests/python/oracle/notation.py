"""Writes a Spec as the text and as the keyword arguments of the library's notation."""

from __future__ import annotations

from typing import Any

from .spec import Expression, Spec, Stage


def tuple_text(values: tuple[object, ...]) -> str:
    """Return values in parentheses, such as `(1, 2)`."""
    return f"({', '.join(map(str, values))})"


def stage_text(stage: Stage, named: bool) -> str:
    """Return the text of one distribution, with its axes if they are named."""
    text = stage.kind
    if stage.kind in ("block", "cyclic") and stage.block is not None:
        text += f"({stage.block})"
    elif stage.kind == "gen_block":
        text += tuple_text(stage.sizes)
    elif stage.kind == "indirect":
        owners = [str(owner) if count == 1 else f"{owner}*{count}" for owner, count in stage.owners]
        text += tuple_text((*owners, "...") if stage.repeats else tuple(owners))
    if not named:
        return text
    return f"{text}@{stage.axes[0]}" if len(stage.axes) == 1 else f"{text}@{tuple_text(stage.axes)}"


def list_dist_texts(spec: Spec) -> list[str]:
    """Return the distribution of each template dimension."""
    return ["/".join(stage_text(stage, spec.named) for stage in stages) or "*" for stages in spec.dist]


def expression_text(expression: Expression) -> str:
    """Return the text of an expression, such as `2*d1+1`, `7` or `*`."""
    if expression.star:
        return "*"
    if expression.dimension is None:
        return str(expression.shift)
    scale = {1: "", -1: "-"}.get(expression.scale, f"{expression.scale}*")
    shift = f"{expression.shift:+d}" if expression.shift else ""
    return f"{scale}d{expression.dimension}{shift}"


def shape_text(shape: tuple[int, ...]) -> str:
    """Return the text of a shape, such as `8x12`."""
    return "x".join(map(str, shape)) or "scalar"


def ranks_text(ranks: tuple[int, ...]) -> str:
    """Return the text of a rank map; consecutive ranks are a range, such as `(4:7, 0)`."""
    items: list[list[int]] = []
    for rank in ranks:
        if items and items[-1][1] == rank:
            items[-1][1] += 1
        else:
            items.append([rank, rank + 1])
    return tuple_text(tuple(f"{first}:{end}" if end > first + 1 else str(first) for first, end in items))


def list_option_texts(spec: Spec) -> dict[str, str]:
    """Return the text of each option that is not at its default."""
    options: dict[str, str] = {}
    if spec.ranks != "C":
        options["ranks"] = spec.ranks if isinstance(spec.ranks, str) else ranks_text(spec.ranks)
    if spec.order != "C":
        options["order"] = spec.order if isinstance(spec.order, str) else tuple_text(spec.order)
    for name in ("replicate", "source", "offset", "reverse", "periodic"):
        if value := getattr(spec, name):
            options[name] = tuple_text(value)
    if spec.halo:
        options["halo"] = tuple_text(tuple(str(a) if a == b else f"{a}:{b}" for a, b in spec.halo))
    if spec.align:
        template = f"template={shape_text(spec.template)}"
        options["align"] = f"{tuple_text(tuple(map(expression_text, spec.align)))} {template}"
    return options


def to_text(spec: Spec, shape: bool = True, backwards: bool = False) -> str:
    """Return a layout as text.

    shape      whether the text begins with the shape
    backwards  whether the options have the reverse order
    """
    text = f"{shape_text(spec.shape)} " if shape else ""
    text += tuple_text(tuple(list_dist_texts(spec)))
    if spec.grid:
        text += f" onto {tuple_text(spec.grid)}"
    options = list(list_option_texts(spec).items())
    return " ".join([text, *(f"{name}={value}" for name, value in (options[::-1] if backwards else options))])


def to_keywords(spec: Spec) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the positional and the keyword arguments of plait.Layout."""
    keywords: dict[str, Any] = {}
    if spec.grid:
        keywords["grid"] = spec.grid
    for name in ("ranks", "order"):
        if (value := getattr(spec, name)) != "C":
            keywords[name] = value
    for name in ("replicate", "source", "offset", "reverse", "periodic"):
        if value := getattr(spec, name):
            keywords[name] = value
    if spec.halo:
        keywords["halo"] = tuple(a if a == b else (a, b) for a, b in spec.halo)
    if spec.align:
        keywords["template"] = spec.template
        keywords["align"] = tuple(map(expression_text, spec.align))
    return (spec.shape, list_dist_texts(spec)), keywords
