"""Word lists of English: closed classes, kin, roles, units and a few families of verbs.

They come from the language, never from stories. What no list knows is left to word vectors.
"""

__all__ = [
    "CALLED",
    "CURRENCIES",
    "FAMILIES",
    "FEELINGS",
    "FEMALE",
    "KIN",
    "KIN_OF_KIN",
    "MALE",
    "MONTHS",
    "NEGATIVES",
    "PERIODS",
    "PERSON_NOUNS",
    "PLACE_NOUNS",
    "PLACE_PREPOSITIONS",
    "REASONS",
    "ROLE_SUFFIXES",
    "STOP",
    "UPDATES",
    "WEEKDAYS",
    "family_of",
]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Function words, and words of talk that say nothing about what is asked.
STOP = _words("""
a an the this that these those some any each every all both either neither such same other another
i me my mine myself we us our ours ourselves you your yours yourself he him his himself she her hers
herself it its itself they them their theirs themselves who whom whose which what when where why how
be am is are was were been being do does did doing done have has had having can could may might must
shall should will would ought 's 'm 're 've 'll 'd n't not no nor and or but so if then than
because as
while though although until unless of at by for with about against between into through during
before
after above below to from up down in out on off over under again further once here there now also
just
only very too quite rather really still yet already even ever never much many more most less least
few
lot lots bit kind sort thing things something anything nothing everything someone anyone one ones
whatever whichever oh ok okay well yes yeah right like get got gets getting go goes going went gone
let say says said tell told know knew think thought mean want call called name named actual actually
currently presently nowadays today eventually finally end exactly at-all please remind
""")

MONTHS = _words(
    "january february march april may june july august september october november december"
    " jan feb mar apr jun jul aug sep sept oct nov dec"
)
WEEKDAYS = _words(
    "monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays"
    " fridays saturdays sundays"
)
PERIODS = _words(
    "second minute hour day night week weekend fortnight month quarter year decade season term"
    " semester min mins hr hrs yr yrs"
)
CURRENCIES = _words(
    "dollar buck euro pound quid pence penny cent grand rupee lakh crore naira yen yuan won peso"
    " real rand krone krona kroner kronor franc shilling zloty lira dirham riyal baht ringgit"
    " rupiah dong cedi forint leu lev ruble rouble hryvnia taka birr kwacha k bob fiver tenner"
    " usd eur gbp inr"
    " lari dinar pula sol guarani colon"
)
NEGATIVES = _words(
    "not n't no never none nothing nobody nowhere neither nor without cannot nope cancel cancelled"
    " canceled refuse refused decline declined drop dropped quit stop stopped"
)
REASONS = _words("because since cause 'cause cos due reason so therefore thanks owing why")
CALLED = _words("call name nickname christen title dub")
UPDATES = _words(
    "now instead actually anymore longer changed moved switched postponed rescheduled cancelled"
    " canceled correction update turns turned scratch dropped swapped replaced new back after-all"
    " no-longer wait sorry rather meant"
)
PLACE_PREPOSITIONS = _words(
    "in at to from near into towards toward outside around by above below off"
)
PLACE_NOUNS = _words("""
town city village country county region district neighbourhood neighborhood suburb street road lane
avenue square house home flat apartment room office school college university hospital clinic church
mosque temple station airport harbour harbor port park garden farm field beach island lake river
mountain hill valley forest shop store market mall cafe café restaurant bar pub hotel hostel gym
pool
library museum theatre theater cinema hall centre center factory warehouse depot yard workshop
studio
kitchen garage attic basement cellar shed barn floor place building campus terminal dock quay bridge
shelf drawer cupboard box bag pocket car van bakery garden allotment cottage cabin ward court
""")

KIN = _words("""
mother mum mom mam mama mamma mummy mommy father dad daddy papa pa parent sister brother sibling
twin
daughter son child kid baby boy girl wife husband spouse partner fiancé fiancée fiance fiancee
boyfriend girlfriend ex grandmother grandma gran granny nan nana grandfather grandpa grandad
granddad
grandparent grandson granddaughter grandchild aunt auntie aunty uncle cousin nephew niece
mother-in-law father-in-law sister-in-law brother-in-law daughter-in-law son-in-law in-law
stepmother
stepfather stepmum stepdad stepson stepdaughter stepsister stepbrother half-brother half-sister
godmother godfather godson goddaughter family widow widower missus hubby
""")
PERSON_NOUNS = KIN | _words("""
friend mate buddy pal neighbour neighbor flatmate roommate housemate colleague coworker workmate
boss
manager supervisor lead leader foreman chief owner landlord landlady tenant lodger teacher tutor
coach
trainer instructor professor lecturer student pupil apprentice intern mentor doctor nurse surgeon
physio physiotherapist dentist midwife therapist counsellor counselor psychologist psychiatrist
consultant specialist gp vet chemist pharmacist lawyer solicitor attorney judge accountant agent
broker banker plumber electrician carpenter builder joiner mechanic engineer driver pilot captain
chef cook baker butcher waiter waitress barista farmer gardener cleaner porter guard officer
policeman
policewoman detective soldier clerk secretary receptionist assistant director president chairman
chair
treasurer editor writer author journalist poet painter artist musician singer drummer pianist
conductor actor actress dancer photographer designer architect programmer developer analyst
scientist
researcher priest vicar pastor imam rabbi nun monk man woman guy fella bloke lad lass lady gentleman
person stranger guest customer client patient opponent rival partner member player teammate captain
mayor minister principal headteacher headmaster recruiter interviewer candidate buyer seller dealer
""")
ROLE_SUFFIXES = (
    "er",
    "or",
    "ist",
    "ian",
    "ant",
    "man",
    "woman",
    "wright",
    "smith",
    "keeper",
    "master",
)
FEMALE = _words("""
mother mum mom mam mama mamma mummy mommy sister daughter girl wife fiancée fiancee girlfriend
grandmother grandma gran granny nan nana granddaughter aunt auntie aunty niece mother-in-law
sister-in-law daughter-in-law stepmother stepmum stepdaughter stepsister half-sister godmother
goddaughter widow missus landlady waitress actress policewoman woman lady lass mrs ms miss madam nun
midwife queen headmistress
""")
MALE = _words("""
father dad daddy papa pa brother son boy husband fiancé boyfriend grandfather grandpa grandad
granddad
grandson uncle nephew father-in-law brother-in-law son-in-law stepfather stepdad stepson stepbrother
half-brother godfather godson widower hubby landlord waiter actor policeman man guy fella bloke lad
gentleman mr sir king priest monk headmaster foreman
""")
# "my brother's wife" is a sister-in-law, and so on: how two relations make a third one.
KIN_OF_KIN = {
    ("brother", "wife"): "sister-in-law",
    ("sister", "husband"): "brother-in-law",
    ("wife", "mother"): "mother-in-law",
    ("husband", "mother"): "mother-in-law",
    ("wife", "father"): "father-in-law",
    ("husband", "father"): "father-in-law",
    ("wife", "sister"): "sister-in-law",
    ("husband", "sister"): "sister-in-law",
    ("wife", "brother"): "brother-in-law",
    ("husband", "brother"): "brother-in-law",
    ("daughter", "husband"): "son-in-law",
    ("son", "wife"): "daughter-in-law",
    ("brother", "son"): "nephew",
    ("sister", "son"): "nephew",
    ("brother", "daughter"): "niece",
    ("sister", "daughter"): "niece",
    ("mother", "sister"): "aunt",
    ("father", "sister"): "aunt",
    ("mother", "brother"): "uncle",
    ("father", "brother"): "uncle",
    ("mother", "mother"): "grandmother",
    ("father", "mother"): "grandmother",
    ("mother", "father"): "grandfather",
    ("father", "father"): "grandfather",
}

FEELINGS = _words("""
nervous anxious worried worry afraid scared frightened fear terrified dread panic sad unhappy
upset down
blue cry cried crying tears weep wept miserable heartbroken gutted disappointed grief grieving mourn
mourning angry anger furious mad livid rage raging cross annoyed irritated fuming bitter resentful
frustrated frustrating
frustration fed overwhelmed overwhelming swamped stressed stress exhausted drained lonely alone
isolated homesick guilty guilt ashamed shame embarrassed embarrassing mortified humiliated sheepish
happy glad joy joyful delighted pleased cheerful thrilled excited exciting buzzing ecstatic elated
proud pride grateful thankful gratitude relieved relief hopeful hope optimistic calm peaceful peace
serene content jealous envious hurt confused shocked surprised numb bored tired love loved hate
hated
feel felt feeling laugh laughed smile smiled smug silly stupid foolish brave nostalgic sorry regret
""")

# Families of words that ask for and tell the same: any of one meets any other of it.
FAMILIES: tuple[frozenset[str], ...] = tuple(
    _words(line)
    for line in """
work job employ employer employment company firm career occupation profession position role hire
live reside home address flat apartment house move stay based settle
pay salary wage earn income rate make
cost price pay charge fee spend bill pricey cheap expensive quote rent
rent landlord tenancy lease
buy purchase get pick order
sell sale
teach teacher tutor instructor lesson class coach train trainer
study course degree learn class university college major
doctor gp physician surgeon consultant specialist
medicine medication pill tablet drug dose dosage prescription prescribe strength
operation surgery procedure op
ill sick illness disease condition diagnosis diagnose
allergic allergy react reaction
exam test mark score grade result pass fail
married marry wedding wed marriage husband wife spouse
divorce separate split
break-up split dump
date see meet appointment
mother mum mom mama mam mummy mommy
father dad papa daddy pa
grandmother grandma gran granny nan nana
grandfather grandpa grandad granddad
child kid son daughter baby
partner husband wife boyfriend girlfriend fiancé fiancée
flatmate roommate housemate lodger share
boss manager supervisor lead chief foreman
colleague coworker workmate
friend mate buddy pal
neighbour neighbor
pet dog cat puppy kitten parrot budgie hamster rabbit tortoise
car van vehicle drive motor truck lorry
bike bicycle cycle
commute travel ride ferry bus train tram walk cycle drive
trip travel holiday vacation journey fly flight visit
begin start commence first
end finish stop quit leave
resign quit notice leave
fire sack dismiss redundant lay
promote promotion
die death pass funeral lose late
born birth birthday
cancel call-off drop scrap
postpone delay move push put-back reschedule
refuse decline turn-down reject no
accept agree yes take
give gift present hand
receive get arrive
break broken crack smash damage burst
fix repair mend
find discover turn-up
lose lost missing mislay
eat food meal dinner lunch breakfast supper
drink tea coffee beer wine
play instrument game match
team club squad side
win won victory prize award first
compete competition contest tournament race
run runner jog marathon
money cash fund saving save
loan borrow lend debt owe
gift present
phone call ring rang text message
write letter note email
speak talk say tell mention
feel emotion mood feeling
afraid fear scared frightened
colour color paint
weight weigh kilo kg
height tall
size big large
age old birthday year-old
weekday day date when
""".strip().splitlines()
)

_FAMILY_OF: dict[str, frozenset[int]] = {}
for _number, _family in enumerate(FAMILIES):
    for _word in _family:
        _FAMILY_OF[_word] = _FAMILY_OF.get(_word, frozenset()) | {_number}


def family_of(lemma: str) -> frozenset[int]:
    """The families that a base form is in; empty for most words."""
    return _FAMILY_OF.get(lemma, frozenset())
