"""Recording programs, and what a recording says of itself: what it left out, and what ran."""
