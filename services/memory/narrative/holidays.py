"""Feasts whose day is fixed or follows from the year, by their English names."""

import datetime as dt
import functools
import re
from collections.abc import Callable

from services.memory.narrative.moments import Moment, Rule, Scene
from services.memory.narrative.timewords import YEAR

__all__ = ["RULES", "holiday_in"]


@functools.cache
def _easter(year: int) -> dt.date:
    """Easter Sunday of the Gregorian calendar (Meeus, Jones and Butcher)."""
    golden, century, rest = year % 19, year // 100, year % 100
    leap, skipped = divmod(century, 4)
    moon = (century - (century + 8) // 25 + 1) // 3
    epact = (19 * golden + century - leap - moon + 15) % 30
    fours, ones = divmod(rest, 4)
    weekday = (32 + 2 * skipped + 2 * fours - epact - ones) % 7
    late = (golden + 11 * epact + 22 * weekday) // 451
    month, day = divmod(epact + weekday - 7 * late + 114, 31)
    return dt.date(year, month, day + 1)


def _fixed(month: int, day: int) -> Callable[[int], dt.date]:
    return lambda year: dt.date(year, month, day)


def _from_easter(days: int) -> Callable[[int], dt.date]:
    return lambda year: _easter(year) + dt.timedelta(days=days)


def _nth(month: int, weekday: int, number: int) -> Callable[[int], dt.date]:
    """The nth weekday of a month; -1 is its last."""

    def of(year: int) -> dt.date:
        if number > 0:
            first = dt.date(year, month, 1)
            return first + dt.timedelta(days=(weekday - first.weekday()) % 7 + 7 * (number - 1))
        last = dt.date(year, month + 1, 1) - dt.timedelta(days=1)
        return last - dt.timedelta(days=(last.weekday() - weekday) % 7)

    return of


_MONDAY, _THURSDAY, _SUNDAY = 0, 3, 6
_RULES: dict[str, Callable[[int], dt.date]] = {
    r"christmas eve": _fixed(12, 24),
    r"(?:christmas|xmas)(?: day)?": _fixed(12, 25),
    r"boxing day|(?:st|saint)\.? stephen's day": _fixed(12, 26),
    r"new year's eve|hogmanay|old year's night": _fixed(12, 31),
    r"new year's(?: day)?|new year": _fixed(1, 1),
    r"epiphany|twelfth night|three kings(?:' day)?": _fixed(1, 6),
    r"burns night": _fixed(1, 25),
    r"australia day": _fixed(1, 26),
    r"waitangi day": _fixed(2, 6),
    r"candlemas|groundhog day": _fixed(2, 2),
    r"(?:st\.? |saint )?valentine's(?: day)?": _fixed(2, 14),
    r"(?:st|saint)\.? david's day": _fixed(3, 1),
    r"international women's day|women's day": _fixed(3, 8),
    r"(?:st|saint)\.? patrick's(?: day)?|paddy's day": _fixed(3, 17),
    r"april fools?'?s?'?(?: day)?": _fixed(4, 1),
    r"(?:st|saint)\.? george's day": _fixed(4, 23),
    r"anzac day": _fixed(4, 25),
    r"may day|labour day": _fixed(5, 1),
    r"cinco de mayo": _fixed(5, 5),
    r"juneteenth": _fixed(6, 19),
    r"midsummer's day|midsummer day": _fixed(6, 24),
    r"canada day": _fixed(7, 1),
    r"bastille day": _fixed(7, 14),
    r"assumption day": _fixed(8, 15),
    r"hallowe'?en": _fixed(10, 31),
    r"all saints'?(?: day)?": _fixed(11, 1),
    r"all souls'?(?: day)?|day of the dead": _fixed(11, 2),
    r"bonfire night|guy fawkes(?: night)?": _fixed(11, 5),
    r"remembrance day|armistice day|veterans'? day": _fixed(11, 11),
    r"(?:st|saint)\.? andrew's day": _fixed(11, 30),
    r"(?:st|saint)\.? nicholas(?:'s)?(?: day)?": _fixed(12, 6),
    r"shrove tuesday|pancake day|mardi gras": _from_easter(-47),
    r"ash wednesday": _from_easter(-46),
    r"palm sunday": _from_easter(-7),
    r"maundy thursday": _from_easter(-3),
    r"good friday": _from_easter(-2),
    r"easter saturday": _from_easter(-1),
    r"easter monday": _from_easter(1),
    r"easter(?: sunday| day)?": _from_easter(0),
    r"ascension day": _from_easter(39),
    r"whit sunday|pentecost|whitsun": _from_easter(49),
    r"whit monday": _from_easter(50),
    r"martin luther king day|mlk day": _nth(1, _MONDAY, 3),
    r"memorial day": _nth(5, _MONDAY, -1),
    r"father's day": _nth(6, _SUNDAY, 3),
    r"labor day": _nth(9, _MONDAY, 1),
    r"columbus day": _nth(10, _MONDAY, 2),
    r"remembrance sunday": _nth(11, _SUNDAY, 2),
    r"thanksgiving(?: day)?": _nth(11, _THURSDAY, 4),
}
_COMPILED = [(re.compile(name), rule) for name, rule in _RULES.items()]
# "Easter" alone comes last, so that "Easter Monday" is not cut short.
_HOLIDAY = (
    "(?:"
    + "|".join(sorted(_RULES, key=lambda name: ("(?: " in name, -len(name)))).replace(
        "'", "['\u2019]"
    )
    + ")"
)


def holiday_in(name: str, year: int) -> dt.date:
    """The day of a feast, in a year."""
    plain = " ".join(name.lower().replace("\u2019", "'").split())
    return next(rule for pattern, rule in _COMPILED if pattern.fullmatch(plain))(year)


_YEARS = (-1, 0, 1)


def _holiday(scene: Scene, match: "re.Match[str]") -> Moment | None:
    name = match["name"]
    # "Christmas cake", "New Year resolution": the feast describes something else.
    if name[:1].islower() or scene.noun_follows(*match.span("name")):
        return None
    year = match["year"]
    which = (match["which"] or "").lower()
    if year:
        exact: dt.date | None = holiday_in(name, int(year))
    else:
        days = [holiday_in(name, scene.today.year + shift) for shift in _YEARS]
        past = [day for day in days if day < scene.today]
        coming = [day for day in days if day >= scene.today]
        if which in {"last", "this past"} or match["gone"]:
            exact = past[-1]
        elif which in {"next", "this coming"}:
            exact = coming[0]
        else:
            exact = scene.chosen(days, match)
    if exact is None or match["before"]:
        # "the Christmas before last" is a year earlier.
        exact = holiday_in(name, exact.year - 1) if exact else None
    return None if exact is None else Moment(match.start(), match.end(), exact)


# What a turn must hold before the long pattern is worth a search.
_NEEDS = re.compile(
    r"\b(?:christ|xmas|box|new y|old y|easter|epi|three k|twelf|hallow|all s|guy|fawkes|hogm|june"
    r"|cand|ground|mid|mardi|shrove|pancake|ash|palm|maundy|good f|ascen|assum|whit|pent|rem|armi"
    r"|thank|valen|st|saint|paddy|bonf|bast|cinco|burns|aus|wait|inter|wom|april|anzac|may d|lab"
    r"|can|day of|vet|mart|mlk|memo|fath|col)",
    re.IGNORECASE,
)
RULES: tuple[Rule, ...] = (
    Rule(
        re.compile(
            r"\b(?:(?P<which>last|next|this past|this coming|this)\s+)?"
            rf"(?P<name>{_HOLIDAY})(?![\w-])(?:\s+(?P<year>{YEAR})\b)?"
            r"(?P<before> before last)?(?P<gone> gone| just gone)?",
            re.IGNORECASE,
        ),
        _holiday,
        _NEEDS,
    ),
)
