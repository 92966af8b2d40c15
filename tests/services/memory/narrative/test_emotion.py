import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from services.memory.narrative.emotion import feel
from services.memory.narrative.language import parse
from services.memory.narrative.model import Emotion, EmotionName, Warmth


def felt(text: str) -> str:
    emotion = feel(parse(text))
    return "none" if emotion is None else emotion.name.value


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("I'm so nervous about the driving test, my knees were shaking.", "nervous"),
        ("I was terrified when the lift stopped.", "afraid"),
        ("I feel sad since they sold the orchard.", "sad"),
        ("We buried my uncle on Monday.", "grieving"),
        ("I'm furious with the landlord.", "angry"),
        ("I'm fed up, the printer broke down yet again.", "frustrated"),
        ("It is too much, I'm overwhelmed.", "overwhelmed"),
        ("Nobody rang all week and the house is so quiet.", "lonely"),
        ("It was my fault, I should have locked the gate.", "guilty"),
        ("I went bright red and everybody laughed.", "embarrassed"),
        ("We laughed and danced, best evening of the year.", "happy"),
        ("I can't wait, we got the tickets!!", "excited"),
        ("I came first in the relay and they clapped.", "proud"),
        ("She brought me soup and looked after me, I owe her.", "grateful"),
        ("The scan came back clean, what a weight off.", "relieved"),
        ("It is looking up, perhaps a fresh start.", "hopeful"),
        ("I feel calm and at peace with it.", "calm"),
    ],
)
def test_names(text: str, name: str) -> None:
    assert felt(text) == name


@pytest.mark.parametrize("text", ["The desk is brown.", "Bus 14 stops here.", "", "¿?", "12"])
def test_what_shows_no_feeling(text: str) -> None:
    assert feel(parse(text)) is None


def test_denied_feelings_do_not_count() -> None:
    assert felt("I'm not angry, I'm relieved.") == "relieved"
    assert felt("I was never afraid of the sea.") != "afraid"


def test_the_speakers_own_feeling_counts_most() -> None:
    assert felt("My brother was angry, but I felt proud.") == "proud"


def test_sarcasm_is_no_joy() -> None:
    assert felt("Great, wonderful, the boiler broke again.") == "frustrated"


@pytest.mark.parametrize(
    "text",
    [
        "No small talk. Note the door code: 4411.",
        "Keep it short please.",
        "For the record, I moved.",
    ],
)
def test_who_wants_it_brief_gets_less_warmth(text: str) -> None:
    assert feel(parse(text)) == Emotion(EmotionName.NEUTRAL, Warmth.DECREASE)


def test_anger_at_the_listener_lowers_warmth() -> None:
    emotion = feel(parse("I told you already, you're useless!"))
    assert emotion == Emotion(EmotionName.ANGRY, Warmth.DECREASE)


def test_distress_raises_warmth_and_calm_leaves_it() -> None:
    assert feel(parse("I'm heartbroken.")) == Emotion(EmotionName.SAD, Warmth.INCREASE)
    assert feel(parse("I feel serene.")) == Emotion(EmotionName.CALM, Warmth.NEUTRAL)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.text(max_size=200))
def test_any_text(text: str) -> None:
    emotion = feel(parse(text))
    assert emotion is None or emotion.name in EmotionName


def test_a_long_turn_is_read_at_its_ends() -> None:
    assert felt("The desk is brown. " * 800 + "I'm furious.") == "angry"
