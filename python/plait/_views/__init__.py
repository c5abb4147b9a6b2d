"""Views of arrays in files: several as one, elements decoded by their attributes, and data sets of xarray."""
