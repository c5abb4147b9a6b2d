"""NumPy's indexing of an array in a file: from an index to regions, and from what they hold to the result."""
