"""The storage of each array of a copy: patterns of array names, and shapes of chunks."""
