"""Word lists that decide what a term is worth. English, closed, and not made for any test case."""

__all__ = ["CONFUSABLES", "LOOK_ALIKES", "NEGATIONS", "NEUTRAL_WORDS", "STOP_WORDS", "word_set"]


def word_set(text: str) -> frozenset[str]:
    """The words of a text, as a set."""
    return frozenset(text.split())


# Words that carry no subject: they neither find a record nor tell two apart.
STOP_WORDS = word_set(
    """
    a about above after again all also am an and any are around as at be because been before
    being below between both but by can could did do does doing down during each every few for
    from further get gets give given go goes going got had has have having he her here hers him
    his how i if in into is it its just know knows let like made make makes many may me mean
    might more most much must my need needs now of off on once one only or other our ours out
    over own please put really remember same say says shall she should show so some still such
    take takes tell tells than that the their them then there these they thing things this those
    through to told too under until up upon us use used very was way we were what whatever when
    where which while who whom whose why will with would yes yet you your yours
    """
)

# Small words that turn a statement into its opposite; derived content may not add one of its own.
NEGATIONS = word_set(
    """
    no not never none neither nor without nobody nothing nowhere
    """
)

# What a faithful condensation may add to its parents' words: names of the form, joints, reporting.
NEUTRAL_WORDS = word_set(
    """
    according accordingly additionally altogether brief briefly combined combining concisely
    conclusion derived digest entry extract extracted extraction fact facts finally first follow
    following follows furthermore gist however information item items key list listed main merge
    merged merging moreover namely note noted notes overall overview plus point points question
    recap record recorded records regarding report reported reports second short shortly state
    stated statement statements states summarise summarised summarises summarising summarize
    summarized summarizes summarizing summary synopsis third together total user users whereas
    """
)

# Letters of other scripts that look like Latin ones, so that a text keeps its identity when
# somebody swaps them (Unicode TR 39's idea, reduced to letters that are confused in practice).
CONFUSABLES = {
    0x0430: "a",
    0x0432: "b",
    0x0441: "c",
    0x0501: "d",
    0x0435: "e",
    0x0451: "e",
    0x04BB: "h",
    0x043D: "h",
    0x0456: "i",
    0x0457: "i",
    0x0458: "j",
    0x043A: "k",
    0x04CF: "l",
    0x043C: "m",
    0x043F: "n",
    0x043E: "o",
    0x0440: "p",
    0x051B: "q",
    0x0433: "r",
    0x0455: "s",
    0x0442: "t",
    0x0446: "u",
    0x0475: "v",
    0x051D: "w",
    0x0445: "x",
    0x0443: "y",
    0x04AF: "y",
    0x0437: "3",
    0x0447: "4",
    0x03B1: "a",
    0x03B2: "b",
    0x03F2: "c",
    0x03B5: "e",
    0x03B7: "n",
    0x03B9: "i",
    0x03BA: "k",
    0x03BD: "v",
    0x03BF: "o",
    0x03C1: "p",
    0x03C4: "t",
    0x03C5: "u",
    0x03C7: "x",
    0x03B3: "y",
    0x03C9: "w",
    0x03F3: "j",
    0x0251: "a",
    0x0261: "g",
    0x0131: "i",
    0x0269: "i",
    0x029F: "l",
    0x0578: "n",
    0x0585: "o",
    0x057D: "u",
    0x0570: "h",
    0x0581: "g",
}

# The same with capitals, dashes and colons, case kept: for tokens in which case counts.
LOOK_ALIKES = {
    **CONFUSABLES,
    0x02D0: ":",
    0x037F: "J",
    0x0391: "A",
    0x0392: "B",
    0x0395: "E",
    0x0396: "Z",
    0x0397: "H",
    0x0399: "I",
    0x039A: "K",
    0x039C: "M",
    0x039D: "N",
    0x039F: "O",
    0x03A1: "P",
    0x03A4: "T",
    0x03A5: "Y",
    0x03A7: "X",
    0x03F3: "j",
    0x03F9: "C",
    0x0405: "S",
    0x0406: "I",
    0x0408: "J",
    0x0410: "A",
    0x0412: "B",
    0x0415: "E",
    0x041A: "K",
    0x041C: "M",
    0x041D: "H",
    0x041E: "O",
    0x0420: "P",
    0x0421: "C",
    0x0422: "T",
    0x0423: "Y",
    0x0425: "X",
    0x04AE: "Y",
    0x04C0: "I",
    0x0500: "D",
    0x050C: "G",
    0x051A: "Q",
    0x051C: "W",
    0x053C: "L",
    0x054D: "U",
    0x054F: "S",
    0x0555: "O",
    0x2010: "-",
    0x2011: "-",
    0x2012: "-",
    0x2013: "-",
    0x2014: "-",
    0x2015: "-",
    0x2044: "/",
    0x2212: "-",
    0x2215: "/",
    0x2236: ":",
    0xA789: ":",
    0xFE58: "-",
}
