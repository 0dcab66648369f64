"""Frames on their way in and out; short reprs and tables for notebooks."""
