"""Files: opens them, accesses their arrays, attributes, steps and streams, and resolves their names to stores."""
