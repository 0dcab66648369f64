"""Give columns their roles by words of headings and by cells."""
