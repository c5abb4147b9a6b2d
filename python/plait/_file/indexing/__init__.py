"""NumPy's indexing of an array in a file: converts an index to regions, and their elements to the result."""
