"""What the service offers beside its core; each may be switched off, or deleted.

An extension is the package of its name, whose `init_app` sets it up. The core imports
none of them: it knows their names from here, and PETSTORE_EXTENSIONS chooses.
"""

# In the order in which they are set up.
EXTENSIONS = ("openapi",)
