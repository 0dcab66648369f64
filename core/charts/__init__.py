"""Charts as SVG from small tables: `drawing` makes the elements, `palette` has the colours, `charts` the kinds."""
