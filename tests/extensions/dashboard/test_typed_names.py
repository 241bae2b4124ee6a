"""A new name of a category may be much like one that there is."""

import pytest

from petstore.extensions.dashboard.typed_names import find_similar

ALIKE = (
    "Hund Hunde",
    "dogs Dog",
    "Füchse fuchs",
    "Guinea pig guineapigs",
    "Katzen Katze",
    "Łanie lania",
    "Ｃats cat",
)
ONE_LETTER = ("Rabits Rabbits", "Rabbitt rabbit", "Parrots Parnots", "Horse Norse")
APART = (
    "Cat Rat",
    "Dog Frog",
    "Fish Finch",
    "Rabbits Habit",
    "Dog Cat",
    "Rabbit Rbabit",
)


@pytest.mark.parametrize("names", ALIKE + ONE_LETTER)
def test_names_are_alike(names: str):
    name, _, other = names.rpartition(" ")
    assert find_similar([name], ["Birds", other]) == {name: other}


@pytest.mark.parametrize("names", APART)
def test_names_are_not_alike(names: str):
    name, _, other = names.rpartition(" ")
    assert find_similar([name], ["Birds", other]) == {}
