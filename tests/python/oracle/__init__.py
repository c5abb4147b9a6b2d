"""Layouts, conversions and halos computed index by index from the meaning of the notation, and strategies for them.

Nothing here uses the library's own arithmetic. `spec` holds the parts of a layout, `notation` writes them as text,
`model` computes their meaning, `moves` the results of conversions and halos, and `strategies` draws them.
"""
