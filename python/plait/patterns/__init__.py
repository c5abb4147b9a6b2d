"""The access patterns of parallel files: the parts of a file that each rank accesses, and in which order.

The names and the meanings are those of section 2.4 of R. Bordawekar, "Issues in Software Support for Parallel I/O"
(Syracuse University, 1993), after Crockett and Kotz. Each class states the definition of the thesis, what it leaves
open and what was chosen here.  A pattern is a small value that computes every request of every rank and stores none: it
takes the same memory for a thousand elements and for 10^15.

>>> from plait.patterns import GSI
>>> list(GSI(elements=10, ranks=2, request=3).requests(1))
[Access(kind='read', offset=3, count=3), Access(kind='read', offset=9, count=1)]

:func:`drive` executes a pattern on an open :class:`plait.File`.
"""

from typing import TYPE_CHECKING

from ._base import Access, Kind, Pattern
from ._partitioned import GDP, GSP, GSPS
from ._random import GDR
from ._scheduled import GSO, GSSA
from ._sequential import GSA, GSI, GSS

if TYPE_CHECKING:
    from ._drive import DriveResult, drive
else:
    from .._base.later import later as _later

    __getattr__, __dir__ = _later(__name__, {"_drive": ["DriveResult", "drive"]})

PATTERNS: dict[str, type[Pattern]] = {kind.__name__: kind for kind in (GSA, GSS, GSP, GSI, GSSA, GSO, GSPS, GDR, GDP)}
"""Every pattern by its name, in the order of the thesis."""

__all__ = [
    "GDP",
    "GDR",
    "GSA",
    "GSI",
    "GSO",
    "GSP",
    "GSPS",
    "GSS",
    "GSSA",
    "PATTERNS",
    "Access",
    "DriveResult",
    "Kind",
    "Pattern",
    "drive",
]
