"""A second implementation of layouts, conversions and halos, index by index, that tests compare with the library.

Nothing here uses the library's own arithmetic. A Spec (`spec`) has the parts of a layout as a program would write them;
`notation` writes it as text or keyword arguments. A Model (`model`) computes which elements each rank owns;
`distribution` does so for one dimension. `moves` computes the messages and the results of conversions and halo updates.
`strategies` draws Specs for Hypothesis tests, and `library` makes the library's layout from a Spec.
"""
