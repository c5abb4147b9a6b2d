"""Files: opening them, access to their arrays, attributes, steps and streams, and where their names lead."""
