"""Makes layouts of the library from Specs."""

from __future__ import annotations

import plait

from .notation import to_keywords, to_text
from .spec import Spec


def make_layout(spec: Spec) -> plait.Layout:
    """Make a layout by parsing its text."""
    return plait.Layout.parse(to_text(spec))


def make_layout_by_keywords(spec: Spec) -> plait.Layout:
    """Make a layout from keyword arguments."""
    arguments, keywords = to_keywords(spec)
    return plait.Layout(*arguments, **keywords)
