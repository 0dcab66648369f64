"""The cells of a column to values in a field's unit, each distinct string once.

In: a column of cells and the field that it feeds. Out: floats, dates, codes or flags, with what could not be read.
Start with `string_pool`, `number_cells` and `typed`; `text` has what one text alone says. RE2 reads a text in linear
time, but a few replacements can make it long and read it a dozen times, for each of a million rows. So the loops call
a `checkpoint`, and the service's checkpoint reads the clock.
"""
