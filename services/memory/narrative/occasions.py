"""Turns of phrase and situations that the language ties to a feeling: a funeral, a passed exam.

A line is a weight and alternatives; a line that begins with a bar goes on with the one before. They
are patterns for texts in lower case with straight apostrophes.
"""

import re

from services.memory.narrative.model import EmotionName

__all__ = ["OCCASIONS"]

_KIN = (
    r"(?:mum|mom|mother|mam|dad|father|papa|nan|nana|gran|granny|grandma|grandmother|grandpa|grandad"
    r"|grandfather|husband|wife|son|daughter|brother|sister|aunt|auntie|uncle|cousin|niece|nephew"
    r"|baby|partner|friend|boyfriend|girlfriend|neighbour|neighbor|teacher)"
)
_PET = r"(?:dog|cat|rabbit|hamster|horse|pony|parrot|budgie|canary|goldfish|tortoise|hen|pet)"
_THEM = r"(?:him|her|them|you)"

_TEXT: dict[EmotionName, str] = {
    EmotionName.GRIEVING: rf"""
5 (?:lost|losing) (?:my|our|his|her) {_KIN}|{_KIN}\b[^.!?]{{0,30}} (?:died|passed away|is dead)
| we lost (?:him|her|grand\w+|nan\w*|mum|dad|mom)
2.5 died|passed away|(?:first|second) \w+ without (?:him|her)|laid (?:him|her) to rest
1.5 the (?:funeral|wake|grave|graveside|burial|coffin)|still (?:expect|hear|see|set
| keep) (?:him|her|a place)
| (?:his|her) (?:chair|coat|glasses|slippers|voice|side of the bed)
""",
    EmotionName.SAD: rf"""
5 {_PET}\b[^.!?]{{0,30}} (?:died|is dead|put down|put to sleep)
2 broke(?:n)? up|split(?:ting)? up|divorc\w+|(?:sat|stood|lay)\b[^.!?]{{0,50}}(?:cried|wept
| howled|sobbed)
| couldn't (?:stop crying|speak|eat)|lump in my throat|heart (?:broke|sank|is heavy)
1.5 (?:he|she|they)(?:'s|'ve| has| have)? (?:left|gone|walked out|moved away)|didn't (?:get
| make) (?:it|in)
| turned (?:me|us) down|said no|not (?:chosen|picked|selected|invited)|won't be (?:back|coming
| there)
| last (?:day|time|night|evening) (?:at|in|on|with|together)|for the last time
0.8 sold|gave away|say(?:ing)? goodbye|used to|no more|is over|closed (?:down|for good)|gone
""",
    EmotionName.LONELY: r"""
3.5 (?:nobody|no one|no-one|not a soul|none of them) (?:to|rang|calls?|called|writes?|came
| talks?|answers?
| visits?|asked|here|else)|talk to (?:some(?:body|one)|a human|you|the walls?|myself)|i miss
| miss(?:ing)? home
2 (?:flat|house|room|place|kitchen)(?:'s| is| feels)? (?:so |too |very )?(?:quiet|empty|silent)
| by myself|on my own|eat(?:ing)? alone|only me|far from (?:home|everyone)|left out|without me
""",
    EmotionName.EMBARRASSED: r"""
3.5 every(?:one|body) (?:saw|stared|laughed|heard|looked|watched|turned|was looking)|laughed at me
| (?:went|turned|go|going|bright|beetroot) (?:bright |all |deep )?red|face (?:was |is )?(?:burn
| hot|on fire)
2.5 could have died|want(?:ed)? to (?:die|hide|disappear)|ground (?:to )?swallow|hid (?:in|behind)
| (?:wrong|whole) (?:person|group|list|room|name|chat)|called (?:him|her) by|forgot (?:his
| her) name
1.5 in front of (?:everyone|everybody|my|the|them|all)|looked at me (?:like|as if)|pretended
| mistook|tripped
1 failed|flunked|stupid|spilled|spilt|dropped it
""",
    EmotionName.GUILTY: rf"""
3 my (?:own )?(?:fault|doing)|because of me|blame myself|bad (?:person|mother|mum|father|dad
| friend|son)
| bad (?:daughter|wife|husband|brother|sister)|can't forgive myself|on my conscience
2.5 i should(?: have|'ve)|i shouldn't have|i could have|i lied|i confess|let {_THEM} down
| i promised
| i (?:snapped|shouted|yelled) at|i (?:forgot|missed) (?:his|her|their|my)|behind (?:his|her
| their) back
1.5 i (?:didn't|never|haven't) (?:tell|told|visit|visited|call|called|rang|ring) {_THEM}
| instead of telling
| said nothing|kept quiet|owe {_THEM} an apology
""",
    EmotionName.FRUSTRATED: r"""
4 fed up|sick (?:and tired )?of|had enough|at my wits|drives? me (?:mad|up|crazy|nuts)
| for the love of
2 hate (?:it|this)|for nothing|back to square|all over again|yet again|once again|(?:third
| fourth|fifth) time
| on hold|sent (?:me|us) (?:back|away)|doesn't work|won't (?:start|budge|work|load|open|answer)
| no answer
| (?:still|not) (?:waiting|nothing|here|fixed|working|arrived|come)|wrong (?:one|form|size|part
| address)
1.5 put (?:back|off)|pushed back|postponed|called off|delayed|broke down|broke again|no[- ]show
| too late
| (?:didn't|never) (?:show|turn(?:ed)? up|answer|work|come|reply)|queue|waited|start over
| of course
0.8 again|form|paperwork|computer says|error|late|nobody
""",
    EmotionName.ANGRY: r"""
3 (?:could|wanted to|want to) (?:scream|throw|bite|kick|punch|strangle|hit|spit)|how dare
| the (?:cheek|nerve)
2.5 (?:thief|crook|liar|coward)s?|without (?:asking|telling|a word to)|behind my back
| nobody (?:told|asked) me
| they (?:lied|cheated|stole)|(?:he|she) (?:lied|cheated|stole)|accused me|blam(?:ed|es) me
| my money
1.5 (?:gave|handed|given) (?:it|my \w+|the (?:job|post)) to|slammed|banged|threw (?:a|the|my)
| hung up
| refus(?:ed|es) to|won't (?:pay|admit|apologi[sz]e|give)|they took|took (?:it|my|our)
| on purpose|not fair
""",
    EmotionName.OVERWHELMED: r"""
3 (?:don't|didn't) know (?:how|where|which|what)[^.!?]{0,40} (?:first|start|begin|cope|turn)
| too much|can't cope
| can't keep up|everything at once|all at once|head (?:is )?(?:spinning|full|bursting)
| up to my (?:neck|ears|eyes)
1.5 on top of (?:it|that|everything)|no time (?:to|for)|not a minute|so many|too many
| three jobs|double shifts?
| the (?:house|flat|room|street)[^.!?]{0,20} (?:flooded|burned|burnt)|(?:don't|can't
| haven't) (?:sleep|slept)
""",
    EmotionName.NERVOUS: r"""
3 (?:hands?|knees?|legs?|voice) (?:was|were|is|are|went)? ?(?:shak|trembl|wet|sweat|jelly)
| stomach\b[^.!?]{0,20} (?:knot|turn|churn|flip)|wish me luck|fingers crossed|rehears\w+ (?:it
| what)
2 what if|(?:exam|interview|test|audition|hearing|results?|viva
| practical)[^.!?]{0,40} (?:tomorrow|tonight|monday|tuesday|wednesday|thursday|friday)
| not sure (?:i|if i) can|i hope i
1 waiting (?:for|to hear)|will they|they'll ask|checked (?:it )?(?:twice|three times)
| don't know (?:if|whether)
""",
    EmotionName.AFRAID: r"""
3 heart (?:stopped|pounding|in my (?:mouth|throat)|racing|sank)|thought (?:i|he|she)(?:'d
| would| was going to) die
| (?:didn't|doesn't|wouldn't|won't) (?:wake|breathe|stop bleeding)|what will happen to
1.8 (?:couldn't|can't) (?:breathe|see|move|swallow|find (?:him|her|them))|smell(?:ed|t)? (?:gas
| smoke)|sirens?
| collapsed|seizure|stroke|biopsy|tumou?r|cancer|bleeding|blood everywhere|deport\w*|evict\w*
1.2 (?:in|to|at) (?:the )?(?:hospital|a&e|intensive care|icu|emergency)|went missing|might lose
| lose (?:my|the|our)
| in the dark|pains?|a lump|police|storm|i keep (?:checking|counting|listening|thinking)
""",
    EmotionName.EXCITED: r"""
4 can(?:'t|not) wait|guess what|counting (?:the )?(?:days|sleeps)|it's happening|best news
| big news
2.5 (?:i|we)(?:'ve)? got (?:it|in|the (?:job|place|part|keys|grant|visa|tickets?))
| i'm going to (?:be|see|meet)
2 approved|accepted|(?:she|he|they) said yes|it's official|on the list|we're (?:getting|going
| moving|having)
| twins|pregnant|engaged|getting married|first time (?:ever|in my life)|offered me
1 booked|signed up|entered|chosen|picked|tickets?|new (?:flat|house|bike|car|job|phone)
| starts? on|yes!|finally
""",
    EmotionName.PROUD: r"""
2.5 (?:came|finished) (?:first|second|third)|(?:first|second) (?:place|prize)|personal best
| top (?:of|marks?)
| first try|all by myself|feet tall|well done|shook my hand|clapped|applau\w+|standing ovation
| beat (?:my|the)
| in the (?:paper|newspaper)|my name (?:on|in)|framed|best (?:in|of) (?:the|my)|out of (?:ten
| twenty|a hundred)
2 passed|won|promoted|aced|nailed|full marks|(?:they|she|he) asked me to|made me (?:head
| captain|chief)|let me
| i (?:did|made|built|wrote|fixed|finished|baked|sewed|swam|ran|spotted|caught) (?:it|the|a|my
| all)|myself
""",
    EmotionName.HAPPY: r"""
4 over the moon|cloud nine|best (?:day|thing|moment|evening|week|news)|made my (?:day|week)
| happy tears
| cried (?:with|for) joy|never (?:been )?(?:so|this) happy|couldn't stop (?:smiling|laughing)
2 (?:we|i|they|she|he|all) (?:both |all )?(?:laughed|danced|sang|hugged)|it's a (?:girl|boy)
| born|they're here
| married|reunited|made (?:it )?up|together again|came home|is home|are home|so good|went well
| it worked
1 passed|it's done|we did it|made it|the whole (?:day|evening|family)|all of us|cake|party
| like a child|both
""",
    EmotionName.GRATEFUL: rf"""
3.5 couldn't have (?:done|managed|made)|owe {_THEM}|bless {_THEM}|thanks to {_THEM}
| don't know what i'd
| saved (?:my|our|me|us)|good people|an angel
2 for free|free of charge|wouldn't (?:take|hear of)|without being asked|own pocket|lent (?:me
| us)|held my hand
| stayed (?:with|up)|sat with (?:me|us)|looked after (?:me|us)|took (?:me|us) in|brought (?:me
| us)|drove (?:me|us)
| (?:cooked|fetched|carried|fixed|knitted|covered) (?:it )?(?:for )?(?:me|us|my|our)|gave (?:me
| us)|helped (?:me|us)
""",
    EmotionName.RELIEVED: r"""
4 all clear|weight off|load off|false alarm|off the hook|out of (?:danger|the woods)
| could (?:finally )?breathe
| came back (?:clean|clear|negative|fine|normal)|slept (?:like|seven|eight|nine|ten|through)
3 thank (?:god|goodness|heavens?|the lord)|thanks be|god is (?:good|great|generous)
| at (?:long )?last|phew
2 (?:is|was|are|'s) (?:clean|clear|benign|negative|fine now|nothing|normal|safe|over|found)
| turned up|all along
| (?:not|never|isn't|wasn't) (?:cancer|broken|serious|allergic|dying|true|cancelled|pregnant
| lost|stolen|a stroke)
| (?:found|got) (?:it|him|her|them|my \w+) (?:back|again|in)|back to normal|dropped the
| paid off|it's paid
1 after all|no more|any ?more|no longer|over with|cleared|stopped|settled|went (?:well|fine)
| sorted|fixed|only a
""",
    EmotionName.HOPEFUL: r"""
3 looking up|second chance|(?:new|fresh) start|turned a corner|light at the end
| might (?:just )?work
| getting (?:better|there)|starting (?:again|over)|if (?:all|everything) goes|looks (?:good
| promising)|one day
2 (?:would|will|'ll|'d) (?:take|try|let|consider|think about|give) (?:me|us|it)
| another (?:chance|go|try)
| there's (?:a )?(?:chance|hope)|begins? (?:on|in|next)|applied|on the waiting list|try again
| in the spring
1 maybe|perhaps|soon|plan|next (?:month|year|spring)|learning|slowly|small step|waiting list
""",
    EmotionName.CALM: r"""
2.5 at peace|made my peace|at ease|(?:i'm|i am|we're) (?:all right|alright|fine|okay|ok)
| don't mind|no hurry
| as it should be|used to it|it is what it is|not bothered|can live with|quiet (?:evening|day
| life|week)
1 cup of tea|in the garden|slept well|routine|regular|every morning|so be it|good enough|reads?
| listened
""",
}


def _parsed(text: str) -> list[tuple[float, str]]:
    entries: list[tuple[float, str]] = []
    for line in text.strip().splitlines():
        if line.startswith("|"):
            weight, pattern = entries.pop()
            entries.append((weight, f"{pattern}|{line[1:].strip()}"))
        else:
            told, _, pattern = line.partition(" ")
            entries.append((float(told), pattern))
    return entries


OCCASIONS = tuple(
    (re.compile(rf"\b(?:{pattern})(?!\w)"), name, weight)
    for name, text in _TEXT.items()
    for weight, pattern in _parsed(text)
)
