"""Each engine stores alike."""

from tests.harness.databases import each_engine

database_url = each_engine
