"""What a question asks for (CP5), by its form: how it opens, its verbs, whose matter it is."""

import re
from typing import TYPE_CHECKING

from services.memory.narrative.model import QueryClass

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

__all__ = ["asks_world", "query_class"]

# A question is short; what is far behind its beginning does not tell its class.
_CHARACTERS_MAX = 600
_TOKENS_MAX = 80


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


_OWN = frozenset(
    ("i", "me", "my", "mine", "myself", "we", "us", "our", "ours", "ourselves", "im", "ive")
)
_EMOTIONAL = _compiled(
    r"\b(?:feel|feels|felt|feeling|feelings|mood|emotions?|emotional(?:ly)?|(?:state"
    r"|frame) of mind|spirits)\b"
    r"|^\W*how (?:was|were|am|are) (?:i|we) (?:when|after|that|on|during|in|at|about|over|by"
    r"|doing|coping)\b"
    r"|\b(?:go|went|going) through (?:me|my)\b|\bhow (?:hard|badly|well) did\b.*\b(?:hit|take"
    r"|affect)\b"
    r"|\bhow (?:did|do) (?:i|we) (?:react|respond|(?:take|greet|bear|handle|find) (?:it|that"
    r"|this|the news))\b"
    r"|\bwhat was (?:my|our) (?:first |own )?(?:reaction|response|heart)\b"
    r"|\b(?:was|am|were) (?:i|we) (?:happy|sad|angry|afraid|scared|proud|nervous|relieved|lonely"
    r"|upset)\b"
    r"|\bhow (?:happy|sad|angry|afraid|scared|proud|nervous|upset|worried) (?:was|am|were) (?:i"
    r"|we)\b"
    r"|\bwhat (?:frightened|scared|worried|upset|pleased|saddened|angered) me\b"
)
_CHANGE = _compiled(
    r"\b(?:chang(?:e|es|ed|ing)|alter(?:ed|s|ation)?|evolv\w+|develop(?:ed|s|ment)?|shift(?:ed"
    r"|s)?"
    r"|differ(?:s|ed|ent|ently|ence)?|compared?|progress(?:ed)?|transform\w*)\b"
    r"|\bhow (?:has|have|['\u2019]s|['\u2019]ve)\b(?!.*\bturned out\b)"
    r"|\bhow (?:did|does|do)\b.*\b(?:swing|swung|vary|grow|shrink|drop|rise|fall|turn round"
    r"|turn around"
    r"|go up|go down|go back and forth|move on|get (?:shorter|longer|better|worse|bigger|smaller)"
    r"|go round|step by step|over the (?:weeks|months|year|summer|winter|spring|autumn|time))\b"
    r"|\bhow (?:was|were)\b.*\b(?:cut down|moved|raised|lowered|reduced|shuffled|extended"
    r"|swapped)\b"
    r"|\b(?:before and after|then and now|from .{2,40} to (?:now|today)|back and forth"
    r"|in (?:whose|its) stead"
    r"|used to .{2,60} and now)\b|\bwhat (?:happened to|is happening to|became different)\b"
    r"|^\W*how did (?!(?:it|that|this|things|everything|i|we) (?:all )?(?:go|move)\b)[^?]*"
    r"\b(?:go|move|grow|slip|slide|climb|switch|waver)\b|^\W*tell me how\b"
)
_TEMPORAL = _compiled(
    r"^\W*(?:and |so |then )?(?:when|since when|until when|till when|by when|from when"
    r"|(?:(?:on|by|at|in|from|to|until|till|since|for|before|after|around|about|as of) )?(?:what"
    r"|which)"
    r" (?:exact |very )?(?:date|day|night|evening|morning|afternoon|week|weekend|month|season"
    r"|year|weekday|hour"
    r"|time)|at what hour|how soon|how long ago"
    r"|what time|what['\u2019]s the date|what (?:is|was) the (?:exact )?(?:date|day|time))\b"
    r"|^what (?:is|was|are|were)\b[^?]*\b(?:date of\b|(?:date|deadline|birthday)\W*$)"
)
_SITUATION = _compiled(
    r"\b(?:going on|what went (?:on|wrong)|whole (?:story|deal|thing|picture)|full (?:story|tale"
    r"|picture)"
    r"|(?:how|where) (?:do|did) things (?:stand|go|get)|how (?:are|were) things"
    r"|what(?:['\u2019]s| is| was) the"
    r" (?:situation|state|story|deal|matter|position|background|plan with)|what (?:became"
    r"|has become) of"
    r"|what (?:happened|has happened|is happening) (?:with|between|about|at|in|on|when|after)"
    r"|what do (?:i|we) know about|what (?:is|was) (?:that|the|my|our) .{2,40} about"
    r"|tell me (?:all|everything|the story|what happened|about)|sum(?:marise|marize| up)|overview"
    r"|bring me up to date|what comes next|how (?:has|did) (?:it|that|things|everything) (?:turn"
    r"|go|gone|work|end|come)(?:ed)?"
    r"|how did (?:i|we) (?:go|get|come) from|what(?:['\u2019]s| is) up with|what is arranged"
    r"|been through"
    r"|set up between|all in all|what are the (?:plans|arrangements|facts))\b"
    r"|\b(?:and|,) (?:what|why|how) (?:did|was|is|has|have|do|were|are|came)\b[^?]*\?$"
    r"|\band (?:why|how|did|does|do|has|have)\b|\bwhy (?:does|do|did)\b[^?]*\b(?:matter"
    r"|mean so much)\b"
)
_NEGATION = _compiled(
    r"^\W*(?:(?:on|in|at|to|for|from|about|with) )?(?:what|which|whatever"
    r"|tell me what)\b(?:[^?]*\b(?:not|never|no longer|nothing|nobody|none|nowhere|without"
    r"|neither|any ?more|any longer)\b"
    r"|[^?]*n['\u2019]t\b|[^?]*\b(?:refus\w+|forbid\w*|forbidden|bann?(?:ed)?|declin\w+"
    r"|turn(?:ed)? down|reject\w*|avoid\w*"
    r"|give(?:n)? up|gave up|quit|stop(?:ped)?|cancel\w*|drop(?:ped)?|throw out|threw out"
    r"|lack\w*|den(?:y|ied)|rule(?:d)? out|skip(?:ped)?|exclude[sd]?)\b"
    r"| did (?:i|we) (?:say|answer|tell \w+) (?:to|about|when)\b)"
)
_YES_NO = _compiled(
    r"^\W*(?:(?:and|so|but|then|well|wait|hey|quick one|remind me)[, :]+)*"
    r"(?:did|do|does|am|is|are|was|were|have|has|had|can|could|will|would|should|may|must|shall"
    r"|isn|aren|wasn"
    r"|weren|don|didn|doesn|haven|hasn|hadn|won|can|couldn)\b"
)
_STORY_MARKS = _compiled(
    r"\b(?:in the end|after all|now|nowadays|finally|at (?:last|first|present|the moment)"
    r"|these days|still|again"
    r"|really|truly|actually|originally|eventually|so far|this time|that (?:day|night|time|one)"
    r"|last (?:time|week"
    r"|month|year|night)|yesterday|today|tomorrow|any ?more|here|remind me|did i say|told you"
    r"|the (?:second|first"
    r"|third) time|this (?:week|month|year|spring|summer|autumn|winter|season))\b"
)
_WORLD_VERBS = _compiled(
    r"\b(?:invent(?:ed|or)?|discover(?:ed)?|compos(?:ed|er)|found(?:ed|er) (?:of|the)|put up"
    r"|capital|largest"
    r"|longest|highest|tallest|deepest|coldest|hottest|fastest|oldest|youngest|biggest|smallest"
    r"|population"
    r"|altitude|boiling|melting|freezing|distance|how far is|by law|legally|usually|normally"
    r"|in general"
    r"|on average|world (?:champion|record|war)|president|prime minister|king of|queen of|human"
    r"|earth|planet"
    r"|equator|ocean|century|species|vitamin|organ|element|symbol|formula|language family"
    r"|stand for|mean in"
    r"|wrote|written by|painted|sank|erupt(?:ed)?|abolished|independence|stave|anthem|currency"
    r"|teaspoon"
    r"|cubic|square|fahrenheit|celsius|ever (?:measured|recorded|built|made))\b"
)


def query_class(doc: "Doc") -> QueryClass:
    """What a question asks for.

    Args:
        doc: the parsed question, its speaker as "I".
    """
    text = doc.text[:_CHARACTERS_MAX].strip()
    if not _is_own(doc) and asks_world(doc):
        return QueryClass.GENERAL_KNOWLEDGE
    for pattern, found in (
        (_EMOTIONAL, QueryClass.EMOTIONAL),
        (_TEMPORAL, QueryClass.TEMPORAL),
        (_YES_NO, QueryClass.NEGATION),
        (_CHANGE, QueryClass.CHANGE),
        (_SITUATION, QueryClass.SITUATION),
        (_NEGATION, QueryClass.NEGATION),
    ):
        if pattern.search(text):
            return found
    return QueryClass.FACTUAL


def _is_own(doc: "Doc") -> bool:
    return any(token.lower_ in _OWN for token in doc[:_TOKENS_MAX])


def asks_world(doc: "Doc") -> bool:
    """True for a question of the world's knowledge, not of anybody's own life.

    Args:
        doc: a parsed question, or the part of a turn that asks.
    """
    text = doc.text[:_CHARACTERS_MAX]
    if _is_own(doc) or _STORY_MARKS.search(text):
        return False
    if _WORLD_VERBS.search(text):
        return True
    tokens = [token for token in doc[:_TOKENS_MAX] if not token.is_space]
    shared = _ANYBODY.sub(" ", text).lower().split()
    if any(token.ent_type_ == "PERSON" for token in tokens) or _PERSONS.intersection(shared):
        return False
    if _WORLD_NOUNS.search(text):
        return True
    certain = any(
        token.tag_ in {"VBD", "VBG"} or (token.pos_ == "PROPN" and token.ent_type_ not in _WORLD)
        for token in tokens
    )
    return not certain and _is_generic(tokens)


# "Can you tell me" asks the listener; "at what age can you vote" means anybody.
_ANYBODY = _compiled(
    r"^\W*(?:can|could|would|will|do) you (?:please )?(?:tell me|know|remember)\b"
    r"|\b(?:can|do|should|must|may) (?:you|they)\b"
)
# Asked of the world where nobody is named.
_WORLD_NOUNS = _compiled(
    r"\b(?:difference between|speed of|origin of|battle of|war|solstice|equinox|eclipse"
    r"|leap years?|mount \w+"
    r"|universe|galaxy|atoms?|countr(?:y|ies)|continents?|mammals?|planets?|dinosaurs?|empire"
    r"|ancient"
    r"|medieval|wall fall|titanic|vote in|spoken? in|speak in|percent of|square root)\b"
)
_WORLD = frozenset(("GPE", "LOC", "NORP", "LANGUAGE"))
_PERSONS = frozenset(
    ("he", "she", "him", "her", "his", "they", "them", "their", "this", "that", "those", "you")
)


def _is_generic(tokens: list["Token"]) -> bool:
    """True where no noun is a certain one: "a bee", "twins", but not "the van"."""
    nouns = [token for token in tokens if token.pos_ == "NOUN"]
    does = _DOES.search(" ".join(token.lower_ for token in tokens)) is not None
    text = " ".join(token.lower_ for token in tokens)
    definite = "the" in text.split() and _ONLY_ONE.search(text) is None
    return bool(nouns) and (does or not definite)


# What there is one of, for everybody.
_ONLY_ONE = _compiled(
    r"\bthe (?:sky|moon|sun|earth|universe|sea|world|human|body|heart|brain|liver|atmosphere"
    r"|galaxy|year \d"
    r"|(?:summer|winter) solstice|speed of|origin of|difference between an?|square root|internet"
    r"|alphabet)\b"
)


# What something does is told of its kind: "What does the liver do?"
_DOES = _compiled(
    r"^(?:what|how|why) (?:do|does) (?:the )?\w+(?: \w+)? (?:do|work|mean"
    r"|consist)\b"
)
