import datetime as dt

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from services.memory.narrative.dates import find_times
from services.memory.narrative.language import parse

# A Wednesday.
AT = dt.datetime(2026, 3, 4, 18, 30)


def times(text: str, at: dt.datetime = AT) -> list[tuple[str, str, str]]:
    return [(it.text, it.resolves_to, str(it.status)) for it in find_times(parse(text), at)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I hand in the keys today.", ("today", "2026-03-04", "active")),
        ("The roof leaked this morning.", ("this morning", "2026-03-04", "active")),
        ("We argued last night.", ("last night", "2026-03-03", "past")),
        ("They left yesterday evening.", ("yesterday evening", "2026-03-03", "past")),
        ("I see the notary tomorrow.", ("tomorrow", "2026-03-05", "upcoming")),
        ("We sail the day after tomorrow.", ("the day after tomorrow", "2026-03-06", "upcoming")),
        ("It rang the day before yesterday.", ("the day before yesterday", "2026-03-02", "past")),
        ("See you tommorow then!", ("tommorow", "2026-03-05", "upcoming")),
        # Weekdays
        ("I start this coming Monday.", ("this coming Monday", "2026-03-09", "upcoming")),
        ("We meet next Tuesday.", ("next Tuesday", "2026-03-10", "upcoming")),
        ("The hearing is next Friday.", ("next Friday", "2026-03-13", "upcoming")),
        ("He came last Friday.", ("last Friday", "2026-02-27", "past")),
        ("He came this past Sunday.", ("this past Sunday", "2026-03-01", "past")),
        ("She rang Tuesday gone.", ("Tuesday gone", "2026-03-03", "past")),
        ("She sings on Saturday.", ("Saturday", "2026-03-07", "upcoming")),
        ("She sang on Saturday.", ("Saturday", "2026-02-28", "past")),
        ("I've got the dentist on Friday.", ("Friday", "2026-03-06", "upcoming")),
        ("They moved the trial to Friday.", ("Friday", "2026-03-06", "upcoming")),
        ("I have been ill since Sunday.", ("Sunday", "2026-03-01", "past")),
        ("It came in Monday's post.", ("Monday's", "2026-03-02", "past")),
        ("The vet is on Friday week.", ("Friday week", "2026-03-13", "upcoming")),
        ("I fly a week on Friday.", ("a week on Friday", "2026-03-13", "upcoming")),
        ("It ends a fortnight on Monday.", ("a fortnight on Monday", "2026-03-23", "upcoming")),
        ("We move a week tomorrow.", ("a week tomorrow", "2026-03-12", "upcoming")),
        ("The fair is Wednesday next week.", ("Wednesday next week", "2026-03-11", "upcoming")),
        ("I saw her a week ago on Sunday.", ("a week ago on Sunday", "2026-02-22", "past")),
        ("The Friday after next is free.", ("The Friday after next", "2026-03-20", "upcoming")),
        # Spans
        ("It opens in three days.", ("in three days", "2026-03-07", "upcoming")),
        ("It opens in 10 days.", ("in 10 days", "2026-03-14", "upcoming")),
        ("The baby is due in a fortnight.", ("in a fortnight", "2026-03-18", "upcoming")),
        ("We leave in a couple of weeks.", ("in a couple of weeks", "2026-03-18", "upcoming")),
        ("My visa ends in two months.", ("in two months", "2026-05-04", "upcoming")),
        ("I bought it two weeks ago.", ("two weeks ago", "2026-02-18", "past")),
        ("She died twenty-five years ago.", ("twenty-five years ago", "2001-03-04", "past")),
        ("He rang an hour ago.", ("an hour ago", "2026-03-04T17:30", "past")),
        ("The taxi comes in half an hour.", ("in half an hour", "2026-03-04T19:00", "upcoming")),
        ("The court sits six weeks from now.", ("six weeks from now", "2026-04-15", "upcoming")),
        # Dates
        ("The lease ends on 4 April.", ("4 April", "2026-04-04", "upcoming")),
        ("The lease ends on the 4th of April.", ("the 4th of April", "2026-04-04", "upcoming")),
        ("The lease ends on April 4th.", ("April 4th", "2026-04-04", "upcoming")),
        ("The lease ends April 4, 2027.", ("April 4, 2027", "2027-04-04", "upcoming")),
        ("the lease ends on 4 april", ("4 april", "2026-04-04", "upcoming")),
        ("It ends on the first of May.", ("the first of May", "2026-05-01", "upcoming")),
        ("It ends on 2026-04-04.", ("2026-04-04", "2026-04-04", "upcoming")),
        ("It ends on 04/05/2026.", ("04/05/2026", "2026-05-04", "upcoming")),
        ("It ends on 4/5.", ("4/5", "2026-05-04", "upcoming")),
        ("It ended on 12/25.", ("12/25", "2025-12-25", "past")),
        ("It ended on 14.01.2026.", ("14.01.2026", "2026-01-14", "past")),
        ("I was hired on 20 December.", ("20 December", "2025-12-20", "past")),
        ("We fly on 2 January.", ("2 January", "2027-01-02", "upcoming")),
        ("He is coming on the 24th.", ("the 24th", "2026-03-24", "upcoming")),
        ("He came on the 24th.", ("the 24th", "2026-02-24", "past")),
        ("He is coming on the 2nd.", ("the 2nd", "2026-04-02", "upcoming")),
        ("It is on Monday the 9th.", ("Monday the 9th", "2026-03-09", "upcoming")),
        ("It is on Saturday 18 July.", ("Saturday 18 July", "2026-07-18", "upcoming")),
        ("The fair runs 7 to 10 May.", ("7 to 10 May", "2026-05-07", "upcoming")),
        ("The fair runs May 7-10.", ("May 7-10", "2026-05-07", "upcoming")),
        ("The leap party is on 29 February 2028.", ("29 February 2028", "2028-02-29", "upcoming")),
        # Stretches
        ("We are away this weekend.", ("this weekend", "2026-03-07", "upcoming")),
        ("We were away last weekend.", ("last weekend", "2026-02-28", "past")),
        ("It closes next month.", ("next month", "2026-04-01", "upcoming")),
        ("I moved here last year.", ("last year", "2025-01-01", "past")),
        ("I moved here in 2011.", ("2011", "2011-01-01", "past")),
        ("She marries in June.", ("June", "2026-06-01", "upcoming")),
        ("She married in June.", ("June", "2025-06-01", "past")),
        ("She married in October 2024.", ("October 2024", "2024-10-01", "past")),
        ("I leave at the end of March.", ("the end of March", "2026-03-31", "upcoming")),
        ("Pay by the end of the month.", ("the end of the month", "2026-03-31", "upcoming")),
        # Feasts
        ("He asked her on New Year's Eve.", ("New Year's Eve", "2025-12-31", "past")),
        ("The shop reopens on Easter Monday.", ("Easter Monday", "2026-04-06", "upcoming")),
        ("We eat carp on Good Friday.", ("Good Friday", "2026-04-03", "upcoming")),
        ("I have had it since Christmas.", ("Christmas", "2025-12-25", "past")),
        ("We host Thanksgiving this time.", ("Thanksgiving", "2026-11-26", "upcoming")),
    ],
)
def test_resolves(text: str, expected: tuple[str, str, str]) -> None:
    assert expected in times(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I sit it tomorrow at half six.", ("tomorrow at half six", "2026-03-05T18:30")),
        (
            "I sit it on Friday at quarter past 7.",
            ("on Friday at quarter past 7", "2026-03-06T07:15"),
        ),
        ("It is on 11 May at two.", ("on 11 May at two", "2026-05-11T14:00")),
        ("It is on 11 May, 9:40.", ("on 11 May, 9:40", "2026-05-11T09:40")),
        ("It is on 11 May at 7 pm.", ("on 11 May at 7 pm", "2026-05-11T19:00")),
        ("The train left at 23:50 last night.", ("23:50 last night", "2026-03-03T23:50")),
        ("It burst at four this morning.", ("four this morning", "2026-03-04T04:00")),
        ("She lands at 00:40 on 5 April.", ("00:40 on 5 April", "2026-04-05T00:40")),
        ("Come tomorrow at noon.", ("tomorrow at noon", "2026-03-05T12:00")),
        ("Come on Friday at ten to nine.", ("on Friday at ten to nine", "2026-03-06T08:50")),
        ("The 24th, same place, 14:10.", ("The 24th", "2026-03-24T14:10")),
        ("It starts tonight at eight.", ("tonight at eight", "2026-03-04T20:00")),
    ],
)
def test_clock_times(text: str, expected: tuple[str, str]) -> None:
    assert expected in [(said, when) for said, when, _ in times(text)]


def test_midnight_is_the_end_of_its_day() -> None:
    assert ("midnight", "2026-03-05T00:00", "upcoming") in times("The gig is tonight at midnight.")


def test_today_stays_active_beside_an_hour_that_is_over() -> None:
    found = times("It burst at four this morning.")
    assert ("this morning", "2026-03-04", "active") in found
    assert ("four this morning", "2026-03-04T04:00", "past") in found


def test_an_hour_since_which_something_lasts_is_active() -> None:
    assert ("eight this morning", "2026-03-04T08:00", "active") in times(
        "The form is in since eight this morning."
    )


def test_the_evening_before_when_told_after_midnight() -> None:
    at = dt.datetime(2026, 1, 1, 0, 20)
    assert ("23:50", "2025-12-31T23:50", "past") in times("We arrived at 23:50.", at)


def test_weekday_of_the_turn_itself() -> None:
    assert ("Wednesday", "2026-03-04", "active") in times("It being Wednesday, I rested.")


def test_anchored_times() -> None:
    text = "The wedding is on 4 April and we fly home the day after the wedding."
    assert ("the day after the wedding", "2026-04-05", "upcoming") in times(text)
    assert ("the day before", "2026-07-15", "upcoming") in times(
        "The oath is on 16 July. Our aunt lands the day before."
    )
    assert times("She packs the day before her journey.") == []


def test_month_first_where_the_turn_writes_so() -> None:
    assert ("4/5", "2026-04-05", "upcoming") in times("Rent is due April 1 and again by 4/5.")


@pytest.mark.parametrize(
    "text",
    [
        "You may go on.",
        "They march on the town hall.",
        "I sat in the sun for a second.",
        "We train every Monday.",
        "The choir meets on Fridays.",
        "I work Monday to Friday.",
        "Her niece May is eleven.",
        "He is 24 and pays 12.50 an hour.",
        "It was our second try, on the 2nd floor.",
        "The Sunday roast was dry.",
        "I finished it in three days.",
        "I get up at 5:30 every day.",
        "It is open 24/7.",
        "We won 3 to 1.",
        "One in ten people may sneeze.",
        "First rain in seven years.",
        "On the sixth stair I sat down.",
        "It sells at 9.25 a pound.",
        "",
        "🙂🙂🙂",
        "   \n\t ",
    ],
)
def test_no_time(text: str) -> None:
    assert times(text) == []


@pytest.mark.parametrize(
    "text", ["31 June 2026", "on 30/02/2026", "9999 years ago", "in 4000 years", "the 31st of June"]
)
def test_days_that_no_calendar_has(text: str) -> None:
    found = times(f"It was {text}.", dt.datetime(9990, 1, 31))
    assert all(len(when) >= 10 for _, when, _ in found)


PIECES = st.sampled_from(
    "on the 4th of May at half six past ten to noon 12/05 2026-02-30 last next week Friday ago in 3"
    " days before after midnight end month 31 February a fortnight 23:59 . , ' - Christmas £"
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    text=st.one_of(st.text(max_size=120), st.lists(PIECES, max_size=25).map(" ".join)),
    at=st.datetimes(dt.datetime(1, 1, 1), dt.datetime(9999, 12, 31)),
)
def test_any_text_at_any_time(text: str, at: dt.datetime) -> None:
    for found in find_times(parse(text), at):
        assert text[found.start : found.end] == found.text
        when = dt.datetime.fromisoformat(found.resolves_to)
        assert found.resolves_to.startswith(when.date().isoformat())


def test_long_turns_are_bounded() -> None:
    doc = parse("tomorrow at noon " * 900)
    assert 0 < len(find_times(doc, AT)) <= 1_000
