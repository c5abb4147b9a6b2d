"""Layouts, conversions and halos worked out index by index from the notation's meaning, and strategies that draw them.

Nothing here uses the library's own arithmetic. `spec` holds the parts of a layout, `notation` spells them, `model` says
what they mean, `moves` what a conversion and a halo do, `strategies` draws them.
"""
