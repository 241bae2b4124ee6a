"""Copies of the data: into a file, and into another database."""
