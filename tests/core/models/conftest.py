"""Rules of models hold on each engine."""

from tests.harness.databases import each_engine

database_url = each_engine
