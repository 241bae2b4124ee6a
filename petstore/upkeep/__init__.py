"""Keeps the tables small: deletes outdated rows, and those of deleted projects."""
