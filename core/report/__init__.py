"""Reports to hand on: `content` says what stands in one, `compliance` makes that of a run, `document` the PDF of it."""
