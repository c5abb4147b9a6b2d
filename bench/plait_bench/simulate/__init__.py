"""How many requests a second the caches of `plait.simulate` take."""
