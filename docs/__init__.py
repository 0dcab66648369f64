"""The guide: pages written by hand beside this file, and in `made` what is told from the code."""
