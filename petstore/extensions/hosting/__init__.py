"""A project's own hosts: names, DNS records, certificates, and what a proxy asks."""

from petstore.extensions.hosting.routing import init_app as init_app
