"""Joins of many files into one, and arrays of texts, by Plait and by other libraries and programs."""
