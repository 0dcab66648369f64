"""The guide: pages by hand in this folder, pages from the code in `generated`."""
