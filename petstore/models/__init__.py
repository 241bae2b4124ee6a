"""Tables and their rules."""
