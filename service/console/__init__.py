"""The console: the page that analysts work in, and what its first screen asks for."""
