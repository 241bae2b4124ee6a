"""Deletes outdated rows, and those of deleted projects."""
