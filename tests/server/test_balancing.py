"""Workers know whether another one has fewer connections."""

from petstore.server import balancing


def test_worker_with_fewer_connections_is_waited_for_until_it_ends():
    balancing.publish(1, 5)
    balancing.publish(2, 9)
    assert balancing.others_have_fewer(9)
    assert not balancing.others_have_fewer(5)
    balancing.clear(1)
    assert not balancing.others_have_fewer(9)
    balancing.clear(2)


def test_hundred_workers_have_a_place_each():
    for age in range(100):
        balancing.publish(age, age)
    for age in range(1, 100):
        balancing.clear(age)
    assert balancing.others_have_fewer(1)
    balancing.clear(0)
    assert not balancing.others_have_fewer(1)
