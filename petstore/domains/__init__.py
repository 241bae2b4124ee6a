"""A project's own hosts: their names, their DNS records, their certificates."""
