"""Reads a turn's feeling (CP10).

Words that say a feeling outright count most, and most of all where the speaker is the one who has
it; hints, and situations that the language ties to a feeling (a funeral, a passed exam), count
less. What is negated does not count, what others feel counts little. The warmth of an answer rises
with distress and shared joy, falls where somebody wants it brief or is cross with the listener,
and stays where a turn is composed.
"""

import math
import re
from collections import defaultdict
from typing import TYPE_CHECKING

from services.memory.narrative.feelings import WORDS
from services.memory.narrative.model import Emotion, EmotionName, Warmth
from services.memory.narrative.occasions import OCCASIONS

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

__all__ = ["feel"]

# A turn's beginning and end tell its feeling; what is between them in a very long one is left out.
_TOKENS_MAX = 1_200
_CHARACTERS_MAX = 6_000
_ENOUGH = 0.8
# How common feelings are among those that people tell: what decides between weak signs.
_PRIOR = {
    EmotionName.HAPPY: 0.35,
    EmotionName.SAD: 0.25,
    EmotionName.RELIEVED: 0.2,
    EmotionName.FRUSTRATED: 0.15,
    EmotionName.EXCITED: 0.15,
}
_STRONG = 4.0
_DENIAL_REACH = 8
_OWN = frozenset(("i", "me", "my", "we", "us", "our", "myself", "mine", "im"))
_OTHERS = frozenset(
    ("he", "she", "they", "you", "him", "her", "them", "his", "their", "it", "who", "people")
)
_NEGATIONS = frozenset(
    ("not", "n't", "n\u2019t", "never", "no", "nor", "without", "neither", "hardly", "nt", "stop")
)
_MORE = frozenset(("so", "very", "really", "too", "extremely", "absolutely", "incredibly", "more"))
_POSITIVE = frozenset(
    (EmotionName.HAPPY, EmotionName.EXCITED, EmotionName.PROUD, EmotionName.GRATEFUL)
)
_BRIEF = re.compile(
    r"\bno (?:small talk|chit[- ]?chat|chat|fuss|commentary|pep talk|sympathy|speech|waffle"
    r"|hugs)\b"
    r"|\bwithout (?:commentary|comment|fuss|the chat|sympathy)\b"
    r"|\b(?:keep|make) (?:it|this|that) (?:short|brief|quick)\b|\b(?:be|briefly|just) (?:brief"
    r"|quick|short)\b"
    r"|\bjust (?:the facts|note|log|keep|save|store|record|file) ?(?:it|this|that)?\b[.!]"
    r"|\bjust keep it\b|\bfor the record\b|\bno need to (?:reply|answer|comment|console)\b"
    r"|\bspare me\b|\bstraight answer\b|\bbusiness ?like\b|\bjust (?:answer|tell me)\b"
    r"|(?:^|[.!?,]\s+)(?:please )?(?:don't|do not) (?:console|comfort|cheer|fuss|lecture|comment)\b"
    r"|\b(?:short|quick) (?:answer|one|note)[,: ]+(?:please|no)\b|^(?:quick|note|memo|log)\s*:",
    re.IGNORECASE,
)
_AT_LISTENER = re.compile(
    r"\byou(?:['\u2019]re| are| were)? (?:useless|wrong|not listening|no help|never listen|mixed"
    r"|muddled"
    r"|hopeless|a stupid)\b|\bi (?:already )?told you (?:already|twice|that)\b|\bstupid (?:bot"
    r"|machine|thing)\b"
    r"|\bstop (?:asking|repeating|telling|saying)\b|\byou got (?:it|that) wrong\b",
    re.IGNORECASE,
)
_IRONY = re.compile(
    r"(?:^|[.!?]\s+)(?:oh\s+)?(?:great|wonderful|brilliant|fantastic|lovely|perfect|marvellous"
    r"|super"
    r"|just great|just what i needed|well done|thanks a lot)\b[,.!]",
    re.IGNORECASE,
)
_SORE = re.compile(
    r"\b(?:not|n['\u2019]t|never|no|nobody|again|lost|broke|broken|failed|cancel\w*|late|wrong"
    r"|dead|stuck"
    r"|leak\w*|missed|refused|old pay|bill)\b|n['\u2019]t\b",
    re.IGNORECASE,
)
_SHOUT = re.compile(r"!{2,}|\b[A-Z]{4,}\b")
_EMOJI: dict[str, EmotionName] = {
    "😀😃😄😁😊🙂😆😅😂🤣😍🥳❤💛💚💙": EmotionName.HAPPY,
    "🥰😇": EmotionName.HAPPY,
    "🎉🤩🚀🙌": EmotionName.EXCITED,
    "😢😭💔😞😔🥺": EmotionName.SAD,
    "😡🤬😠": EmotionName.ANGRY,
    "😱😨😰": EmotionName.AFRAID,
    "😳🙈": EmotionName.EMBARRASSED,
    "😤🙄😩😫": EmotionName.FRUSTRATED,
    "🙏": EmotionName.GRATEFUL,
    "😌": EmotionName.RELIEVED,
    "🏅🏆💪": EmotionName.PROUD,
}
_FACES = {face: name for faces, name in _EMOJI.items() for face in faces}
_FACE = re.compile("[" + "".join(_FACES) + "]")


def feel(doc: "Doc") -> Emotion | None:
    """The turn's strongest feeling, or None where it shows none.

    Args:
        doc: the parsed turn.
    """
    text = _ends(doc.text).replace("\u2019", "'")
    cross = _AT_LISTENER.search(text) is not None
    if not cross and _BRIEF.search(text) is not None:
        return Emotion(EmotionName.NEUTRAL, Warmth.DECREASE)
    scores = _scores(doc, text)
    if cross:
        scores[EmotionName.ANGRY] += _STRONG
    name = max(scores, key=lambda it: (_rank(it, scores[it]), it.value), default=None)
    if name is None or scores[name] < _ENOUGH:
        return None
    if cross and name in {EmotionName.ANGRY, EmotionName.FRUSTRATED}:
        return Emotion(name, Warmth.DECREASE)
    return Emotion(name, _warmth(name, scores[name], text))


def _rank(name: EmotionName, score: float) -> float:
    return 1.7 * math.log1p(score) + _PRIOR.get(name, 0.0)


def _ends(text: str) -> str:
    if len(text) <= _CHARACTERS_MAX:
        return text
    half = _CHARACTERS_MAX // 2
    return f"{text[:half]}\n{text[-half:]}"


def _scores(doc: "Doc", text: str) -> defaultdict[EmotionName, float]:
    scores: defaultdict[EmotionName, float] = defaultdict(float)
    lowered = text.lower()
    for pattern, name, weight in OCCASIONS:
        if pattern.search(lowered):
            scores[name] += weight
    length = len(doc)
    for token in doc:
        if _TOKENS_MAX // 2 < token.i < length - _TOKENS_MAX // 2:
            continue
        told = WORDS.get(token.lower_) or WORDS.get(token.lemma_.lower())
        if told:
            share = _share(token)
            for name, weight in told:
                scores[name] += weight * share
    for face in _FACE.findall(text):
        scores[_FACES[face]] += 1.5
    if _SHOUT.search(text):
        scores[EmotionName.EXCITED] += 0.9
    if _IRONY.search(text) and _SORE.search(text):
        for name in _POSITIVE:
            scores[name] = 0.0
        scores[EmotionName.FRUSTRATED] += _STRONG
    return scores


def _share(token: "Token") -> float:
    """How much of a word's weight counts: whose feeling it is, and whether it is denied."""
    if _denied(token):
        return 0.0
    share = 1.0
    before = token.doc[token.i - 1].lower_ if token.i else ""
    if before in _MORE:
        share *= 1.3
    owner = _owner(token)
    if owner in _OWN:
        return share * 1.5
    return share * 0.35 if owner in _OTHERS or owner.istitle() else share


def _denied(token: "Token") -> bool:
    """True under a negation, and for what is over or only ought to be felt ("past caring")."""
    node = token
    for _ in range(4):
        if any(c.dep_ == "neg" and abs(c.i - token.i) <= _DENIAL_REACH for c in node.children):
            return True
        if node.dep_ in {"advcl", "ccomp", "relcl", "conj", "parataxis"} or node.head.i == node.i:
            break
        node = node.head
    before = [it.lower_ for it in token.doc[max(0, token.i - 3) : token.i]]
    if any(word in _NEGATIONS for word in before[-2:]) or before[-1:] == ["past"]:
        return True
    if before[-3:-1] == ["ought", "to"] or before[-2:] in (["should", "be"], ["than", "just"]):
        return True
    after = [it.lower_ for it in token.doc[token.i + 1 : token.i + 3]]
    return after == ["any", "more"] or after[:1] == ["anymore"]


def _owner(token: "Token") -> str:
    """The subject of the clause around a word: in lower case, a name as it is written, or ""."""
    node = token
    for _ in range(5):
        for child in node.children:
            if child.dep_ in {"nsubj", "nsubjpass"} and child.i != token.i:
                return child.text if child.pos_ == "PROPN" else child.lower_
        if node.head.i == node.i:
            break
        node = node.head
    return ""


def _warmth(name: EmotionName, score: float, text: str) -> Warmth:
    """Distress and joy want warmth; a composed turn wants none of it."""
    if name in {EmotionName.CALM, EmotionName.NEUTRAL}:
        return Warmth.NEUTRAL
    composed = score < _STRONG and "!" not in text
    if composed and name in {EmotionName.RELIEVED, EmotionName.FRUSTRATED}:
        return Warmth.NEUTRAL
    return Warmth.INCREASE
