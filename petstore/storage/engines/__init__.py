"""SQLite and PostgreSQL behind Peewee's interface."""
