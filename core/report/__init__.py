"""Reports to hand on: a compliance run or a comparison as PDF and .xlsx.

In: a run's results and the pool of loans behind them. Out: `content` (what stands in a report, as plain data), laid
out by `document` and `compliance.typ`, or as a sheet by `tables`. Start with `content`. Steps of a coverage ratio are
those of its result's details, so no figure is computed twice. Templates get data and never source, so a name cannot
be markup; charts hold no names. A ladder is printed in cents and adds up as printed: a cent that rounding leaves is a
line.
"""
