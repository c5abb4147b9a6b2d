"""The simulations of E. L. Miller, "Input/Output Behavior of Supercomputing Applications" (1992), section 6, redone.

One number is fitted to one of the paper's results; the others are predicted and compared with the paper's.
"""

from plait.simulate.paper1992._claims import Claim
from plait.simulate.paper1992._redo import Paper, redo

__all__ = ["Claim", "Paper", "redo"]
