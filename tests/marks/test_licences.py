"""licences.md holds what the installed packages say of their licences."""

from tests.marks.licences import GPL, PAGE, PRODUCTION, page, rows_of


def test_page_is_what_the_command_writes():
    assert PAGE.read_text() == page()


def test_production_installs_nothing_under_a_gpl():
    assert not [row for row in rows_of(PRODUCTION) if GPL.search(row[2])]


def test_each_package_names_a_licence():
    assert all(licence for _, _, licence in rows_of(PRODUCTION))
