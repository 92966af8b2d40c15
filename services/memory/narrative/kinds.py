"""Nouns by what they name: roles, events, activities, places, organizations; words of names."""

from services.memory.narrative import lexicon
from services.memory.narrative.model import TagType

__all__ = [
    "ANIMALS",
    "CURRENCY",
    "NUMBERED",
    "ORGANIZATION_WORDS",
    "PERSONS",
    "PLACE_FIRST",
    "PLACE_LAST",
    "TITLES",
    "kind_of",
]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


TITLES = _words("""
mr mrs ms miss mx dr doctor prof professor sir madam madame mme monsieur sister brother nurse
coach
pastor father reverend rev imam rabbi captain sergeant constable inspector matron aunt auntie
aunty
uncle grandma granny gran nan nana grandpa grandad granddad nonna oma opa abuela abuelo lola lolo
mama papa mum dad cousin don doña dona señor señora señorita herr frau chef judge lord lady king
queen prince princess pope saint mzee baba teta tante onkel si sheikh
""")
PLACE_FIRST = _words("""
rue rua calle via plaza piazza place avenida avenue lake mount cape fort río rio isla isle monte
puerto villa new north south east west upper lower great little
""")
PLACE_LAST = _words("""
street st road rd lane avenue ave row court close crescent terrace drive way gardens garden park
bridge square pier bay hall river lake island islands beach valley hill hills mountain mountains
house lodge farm station airport harbour harbor port quay market cellar tower castle palace temple
cathedral mosque forest wood woods ocean sea coast city town village county province plaza mall
centre center stadium arena heights end top gate head moor
""")
ORGANIZATION_WORDS = _words("""
co ltd inc plc llc gmbh corp company logistics books lines bank university college school primary
secondary academy hospital clinic choir club radio hotel café cafe restaurant foundation institute
ministry council church team direct mutual press group bureau agency association union airlines
airways railways insurance partners sons brothers bros studio studios theatre theater museum
library
pharmacy bakery brewery records society trust office department federation league orchestra band
solutions systems technologies motors foods services post times herald
""")
ANIMALS = _words("""
dog cat parrot budgie budgerigar hamster rabbit tortoise turtle horse pony donkey goat sheep cow
hen
rooster goldfish canary ferret lizard snake puppy kitten greyhound lurcher beagle spaniel terrier
collie labrador mule camel duck goose pig pet guinea-pig gecko rat mouse bee
""")
CURRENCY = (lexicon.CURRENCIES - _words("k b sol real colon leu lev rand won grand")) | _words("""
rand won reais cents p grosz baht shekel hryvnia boliviano bolívar tögrög tugrik krónur króna
kronur
lempira quetzal gourde balboa denar manat som sum somoni tenge dram kuna lek koruna koruny córdoba
ariary
dalasi metical pataca kip riel kyat vatu tala kina loti leone francs cfa euro dong pesos soles
centavo
""")

# "ward seven", "flat 3": the number belongs to the place.
NUMBERED = _words("bay bed ward room plot flat gate platform desk pitch stand unit block floor"
" lane house berth"
                  " apartment cell cabin dock studio hall table lot pier terminal")  # fmt: skip
PERSONS = lexicon.PERSON_NOUNS | lexicon.KIN

_ROLES = lexicon.PERSON_NOUNS - lexicon.KIN - _words(
    "person stranger guest opponent rival partner member player man woman guy fella bloke lad"
    " lass"
    " lady gentleman friend mate buddy pal neighbour neighbor client patient customer"
) | _words("""
accountant adviser advisor agronomist allergist anaesthetist apprentice archaeologist auctioneer
baritone soprano tenor alto bassist beekeeper biologist blacksmith bookbinder bookkeeper
bookseller
botanist bricklayer bursar butler cardiologist caretaker carer cashier chambermaid chemist
choirmaster
cobbler comedian composer conductor consul coroner courier curator cutter dealer decorator
dermatologist dietitian dietician diplomat dispatcher diver docker dressmaker
economist embalmer envoy examiner fireman firefighter fisherman fishmonger florist forester
fundraiser gamekeeper geologist glazier goldsmith greengrocer groom guide hairdresser handyman
herder historian illustrator importer interpreter ironmonger janitor jeweller jockey
joiner labourer laborer lecturer lexicographer librarian linguist locksmith logistician lumberjack
magician maid marshal mason masseur mathematician merchant meteorologist miller milkman miner
minister musicologist navigator nanny notary novelist operator optician organist
orderly paramedic partner pathologist percussionist pharmacologist philosopher physicist pilot
planner plasterer playwright podiatrist postman postwoman potter preacher printer producer
proofreader prosecutor psychotherapist publican publisher radiographer radiologist rapper ranger
realtor referee registrar reporter restorer roofer saddler sailor salesman saleswoman sculptor
seamstress sexton shepherd shoemaker signalman skipper sociologist sonographer stonemason steward
stewardess stoker supervisor surveyor tailor tanner taxidermist teller tiler toolmaker dressmaker
watchmaker bookmaker translator
treasurer trucker tuner typist umpire undertaker upholsterer valuer violinist volunteer warden
watchmaker constable cellist flautist guitarist trumpeter violist harpist oboist weaver welder
whaler winemaker zoologist sous-chef chair-person foreman forewoman
""")
_EVENTS = _words("""
wedding marriage funeral wake burial christening baptism ceremony graduation birthday anniversary
party concert recital festival fair match game tournament marathon half-marathon race competition
contest exam examination test interview audition hearing trial verdict operation surgery procedure
transplant appointment meeting conference seminar exhibition opening launch premiere performance
show parade carnival election strike storm flood fire earthquake landslide gale hurricane
typhoon drought accident crash collision explosion robbery burglary divorce breakup engagement
honeymoon holiday vacation trip journey voyage flight crossing harvest sale auction reunion
picnic banquet feast barbecue scan vaccination injection checkup check-up birth death
promotion inauguration pilgrimage regatta derby final semi-final viva defence oath workshop
""")
_ACTIVITIES = _words("""
judo karate yoga pilates volleyball football soccer basketball tennis badminton hockey rugby
cricket
golf chess poker bridge darts snooker swimming running cycling rowing sailing hiking climbing
skiing skating surfing dancing dance singing choir knitting sewing weaving pottery painting
drawing
photography gardening cooking baking fishing hunting reading writing translation studies research
training practice rehearsal lesson lessons course homework meditation therapy physiotherapy rehab
dentistry medicine law engineering accountancy architecture linguistics geography history
physics chemistry biology mathematics maths statistics philosophy economics nursing carpentry
plumbing welding commute laundry housework cleaning shopping work walk run swim ride
""")
_PLACES = lexicon.PLACE_NOUNS - _words(
    "car van box bag pocket shelf drawer cupboard place"
) | _words("""
airport alley apartment arcade aquarium arena attic auditorium backyard balcony ballroom bank
barracks
bathroom bay bedroom border boulevard branch bus-stop cabin canteen canyon capital castle
cathedral
caravan cemetery chapel classroom cliff clearing clubhouse coast corridor cottage courtroom
courtyard
crossroads depot desert district dormitory embassy estate ferry-terminal foyer gallery gate
greenhouse ground grounds hallway headquarters highway hostel hut inn junction laboratory lab
landing
laundromat lighthouse living-room loft lounge marina marsh meadow mill mine monastery mosque
motorway
nursery observatory orchard outback outpost palace parlour pasture pavement peninsula pharmacy
pier plaza playground plot porch port prison promenade quarry reef registry reservoir roof ranch
shore
sidewalk slope south north east west stadium staircase stairwell stall station stable
strait studio suburb surgery swamp tavern terrace tower track trail trench tunnel uni waterfall
wharf wing woods workplace zoo toilet café-bar
""")
_ORGANIZATIONS = _words("""
agency army association authority bank board business chain charity choir club college committee
company cooperative co-op corporation council court department embassy employer faculty federation
firm foundation government guild insurer jury league ministry office orchestra parish parliament
party police post public-house publisher ring society startup syndicate team tribunal union unit
university
""") - _words("party court ring post unit board")
_TIMES = lexicon.PERIODS | _words("morning evening afternoon midnight noon weekend today"
" tomorrow spring summer"
                                  " autumn winter fall")  # fmt: skip
_EMPTY = lexicon.STOP | _words("""
way thing time times part side end piece word number name reason idea point fact kind sort type
story question answer problem matter rest half pair couple dozen hundred thousand million others
anyone everyone somebody people person man woman guy boy girl kid kids baby child children folks
""")
_KINDS: tuple[tuple[frozenset[str], TagType], ...] = (
    (_EVENTS, TagType.EVENT),
    (_ROLES, TagType.ROLE),
    (_ACTIVITIES, TagType.ACTIVITY),
    (_ORGANIZATIONS, TagType.ORGANIZATION),
    (_PLACES, TagType.PLACE),
    (_TIMES, TagType.TIME),
)
_KIND_OF = {word: kind for words, kind in reversed(_KINDS) for word in words}
_ROLE_ENDINGS = ("ologist", "ician", "wright", "smith", "keeper", "grapher", "master")


def kind_of(lemma: str) -> TagType | None:
    """What a common noun names; None for what is no thing of its own (kin, "time", "way")."""
    if lemma in _EMPTY or lemma in lexicon.KIN:
        return None
    known = _KIND_OF.get(lemma)
    if known is not None:
        return known
    if lemma.endswith(_ROLE_ENDINGS) and len(lemma) > 6:
        return TagType.ROLE
    return TagType.OBJECT
