"""Schemas: what requests contain and what responses contain."""
