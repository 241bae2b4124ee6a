"""How much a caller may ask for, and what is counted of it."""
