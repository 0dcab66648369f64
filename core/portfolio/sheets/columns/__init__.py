"""Give the columns under a header their roles, by the words of the headings and by what the cells hold."""
