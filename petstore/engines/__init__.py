"""The two engines behind the one interface of Peewee."""
