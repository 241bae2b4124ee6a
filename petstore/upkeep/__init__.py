"""Deletes outdated rows and those of deleted projects, and folds names again."""
