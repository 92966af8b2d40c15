"""Words that tell a feeling, from the language."""

from services.memory.narrative.model import EmotionName

__all__ = ["WORDS", "Feeling"]

Feeling = tuple[EmotionName, float]

# Base forms and, where the base form says something else, forms as they are written.
_WORDS: dict[EmotionName, tuple[str, str]] = {
    # name: (words that say it outright, words that hint at it)
    EmotionName.NERVOUS: (
        "nervous anxious worried apprehensive jittery uneasy edgy antsy butterflies nerves",
        "worry worrying tense tremble trembling fidget fidgety jumpy shaking shaky sweaty unsure"
        " doubt gulp pacing",
    ),
    EmotionName.AFRAID: (
        "afraid scared frightened terrified petrified fearful panicked panicking",
        "fear panic terror dread dreading horror frightening scary terrifying nightmare danger"
        " dangerous ambulance emergency",
    ),
    EmotionName.SAD: (
        "sad sadder saddest unhappy heartbroken gutted miserable depressed devastated"
        " disappointed"
        " crushed dejected tearful downhearted heartsick",
        "cry cried weep wept sob sobbed tear tears howl howled bawl bawled hollow empty hurt"
        " disappointing sadness sorrow heartbreak rejected refused goodbye farewell gloomy",
    ),
    EmotionName.GRIEVING: (
        "grieving grieve mourning mourn bereaved grief bereft",
        "funeral buried bury burial coffin grave graveside hearse ashes cremation obituary widow"
        " widower cemetery condolence condolences mourner mourners eulogy wake",
    ),
    EmotionName.ANGRY: (
        "angry furious livid mad fuming raging outraged seething enraged incensed irate",
        "rage fury anger hate hated resent bitter swear swore insult insulted betray betrayed"
        " cheat"
        " cheated liar lied disgusting unfair outrageous rude stole stolen scream shouted shout"
        " damn bloody hell slam slammed",
    ),
    EmotionName.FRUSTRATED: (
        "frustrated exasperated fed-up annoyed irritated aggravated",
        "frustrating annoying irritating ugh argh grr sigh useless pointless stuck nuisance"
        " hopeless"
        " delayed delay cancelled canceled broken nonsense ridiculous typical bother"
        " hassle waste wasted rejected",
    ),
    EmotionName.OVERWHELMED: (
        "overwhelmed swamped overloaded overstretched snowed-under",
        "drowning overwhelming burnout exhausted chaos stressed stress frazzled hectic deadline"
        " deadlines",
    ),
    EmotionName.LONELY: (
        "lonely lonesome isolated homesick friendless lonelier loneliness",
        "alone solitary abandoned stranded missed",
    ),
    EmotionName.GUILTY: (
        "guilty remorseful contrite guilt",
        "regret blame fault sorry apologise apologize confess confessed forgive conscience lie"
        " wronged",
    ),
    EmotionName.EMBARRASSED: (
        "embarrassed ashamed mortified humiliated sheepish embarrassing",
        "shame blush blushed blushing cringe awkward fool foolish humiliating silly humiliation"
        " stared laughingstock",
    ),
    EmotionName.HAPPY: (
        "happy happier happiest glad delighted joyful overjoyed cheerful joyous merry",
        "joy delight laugh laughed laughing smile smiled smiling giggle giggled grin grinned"
        " lovely"
        " wonderful gorgeous beautiful perfect danced dance sang celebrate celebrated married"
        " pleased"
        " bliss sunshine hug hugged kissed fun",
    ),
    EmotionName.EXCITED: (
        "excited thrilled buzzing stoked hyped ecstatic elated pumped exhilarated giddy",
        "exciting wow yay woohoo hooray eek omg finally amazing brilliant",
    ),
    EmotionName.PROUD: (
        "proud prouder proudest pride",
        "won win medal prize trophy award record achievement achieved promoted certificate"
        " applause"
        " clapped shortlist shortlisted mastered champion",
    ),
    EmotionName.GRATEFUL: (
        "grateful thankful gratitude indebted",
        "thank thanked thanks bless blessed appreciate kindness generous generosity kind saviour",
    ),
    EmotionName.RELIEVED: (
        "relieved relief phew",
        "cleared safe harmless benign painless gone healed recovered fixed settled",
    ),
    EmotionName.HOPEFUL: (
        "hopeful optimistic",
        "hope hoping promising promise chance maybe soon improving better",
    ),
    EmotionName.CALM: (
        "calm peaceful serene content relaxed tranquil",
        "calmly peace quiet quietly rested settled unhurried steady",
    ),
}
_OUTRIGHT, _HINT = 6.0, 1.2


def _table() -> dict[str, tuple[Feeling, ...]]:
    table: dict[str, list[Feeling]] = {}
    for name, (outright, hints) in _WORDS.items():
        for words, weight in ((outright, _OUTRIGHT), (hints, _HINT)):
            for word in words.split():
                table.setdefault(word, []).append((name, weight))
    return {word: tuple(found) for word, found in table.items()}


WORDS = _table()
