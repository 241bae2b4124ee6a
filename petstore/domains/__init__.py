"""Hosts of a project's own: their names, their DNS, their certificates."""
