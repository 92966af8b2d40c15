"""The faults of the network reach every message and every edge."""

from chaos.network_faults import edges_between
from chaos.windows import REQUEST, WINDOWS
from orchestrator.suites.continuity.families import CASES
from orchestrator.suites.continuity.families.network_points import (
    ALL_POINTS,
    MESSAGES,
    PARTITIONS,
    QUERY_POINTS,
    STANDS,
    point_of,
    rule_id_of,
)


def test_every_message_of_an_operation_is_met_by_every_action() -> None:
    names = {point.name for point in ALL_POINTS}
    assert names == {
        "before_intent",
        "after_lease",
        "in_request",
        "after_commit",
        "after_response",
        "after_receipt",
    }
    everywhere = {fault.action for fault in MESSAGES.values() if fault.points == ALL_POINTS}
    assert everywhere == {"lost", "reset", "delayed", "reordered"}
    asked = {fault.action for fault in MESSAGES.values() if fault.points == QUERY_POINTS}
    assert asked == {"lost", "reset", "delayed", "reordered"}
    renewed = {name.rpartition(".")[2] for name in MESSAGES if ".renew." in name}
    assert renewed == {"lost", "reset", "delayed", "reordered", "duplicated"}


def test_only_requests_are_duplicated() -> None:
    duplicated = [fault for fault in MESSAGES.values() if fault.action == "duplicated"]
    assert duplicated
    assert {point.hold.phase for fault in duplicated for point in fault.points} == {REQUEST}
    assert {fault.direction for fault in duplicated} == {"requests"}


def test_operations_of_a_batch_take_the_messages_in_turn() -> None:
    turns = [point_of(ALL_POINTS, position).name for position in range(len(ALL_POINTS) + 1)]
    assert turns[:-1] == [point.name for point in ALL_POINTS]
    assert turns[-1] == turns[0]
    assert len({rule_id_of("b", point) for point in ALL_POINTS}) == len(ALL_POINTS)


def test_every_edge_of_a_host_is_cut_alone_in_every_direction_at_once_and_silently() -> None:
    edges = {
        ("agent", "memory"),
        ("agent", "destination"),
        ("agent", "observer"),
    }
    for silent in (False, True):
        cuts = [cut for cut in PARTITIONS.values() if cut.silent is silent]
        # Of an observer that is silent on one edge nobody could prove that it is whole again.
        for edge in edges - ({("agent", "observer")} if silent else set()):
            found = {cut.direction for cut in cuts if cut.edges == (edge,)}
            assert found == {"requests", "responses", "both"}
        assert {cut.edges for cut in cuts if len(cut.edges) > 1} == {
            edges_between(service) for service in ("agent", "memory", "observer")
        }


def test_a_batch_of_a_case_meets_each_of_its_messages() -> None:
    for name, fault in MESSAGES.items():
        assert CASES[name].operations >= len(fault.points)
    for name in PARTITIONS:
        assert CASES[name].operations >= len(STANDS)


def test_edges_are_cut_in_every_window() -> None:
    assert sorted(stand.name for stand in STANDS) == sorted(window.name for window in WINDOWS)
    # A batch of a few operations meets those that a message shows.
    assert [stand.name for stand in STANDS][: len(ALL_POINTS)] == [one.name for one in ALL_POINTS]
