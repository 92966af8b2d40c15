"""What belongs to what: common members of everyday categories of English ("colour": red, teal, …).

A question that asks "which colour" is answered by a phrase that holds a colour. Members come from
the language; what is missing here is left to word vectors.
"""

__all__ = ["members_of"]

_MEMBERS = {
    "colour color shade": (
        "red blue green yellow orange purple pink brown black white grey gray teal turquoise "
        "violet indigo navy maroon crimson scarlet beige cream ivory gold golden silver "
        "bronze khaki olive lilac lavender magenta cyan amber mustard peach salmon charcoal "
        "mint ochre"
    ),
    "animal pet creature beast": (
        "dog cat puppy kitten rabbit bunny hamster guinea gerbil parrot budgie budgerigar "
        "canary tortoise turtle goldfish fish horse pony donkey mule cow bull calf goat kid "
        "sheep lamb ram pig piglet hen chicken rooster cockerel duck goose turkey fox wolf "
        "bear deer hare squirrel hedgehog mouse rat ferret snake lizard gecko frog toad camel "
        "llama alpaca yak buffalo ox reindeer elephant monkey pigeon dove owl crow magpie "
        "swan bee bees greyhound beagle labrador poodle terrier spaniel collie shepherd husky "
        "mongrel mutt stray dachshund whippet"
    ),
    "dog breed": (
        "greyhound beagle labrador poodle terrier spaniel collie shepherd husky mongrel mutt "
        "dachshund whippet corgi pug bulldog boxer retriever setter pointer lurcher mastiff "
        "rottweiler chihuahua pinscher schnauzer malamute hound"
    ),
    "bird": (
        "parrot budgie budgerigar canary pigeon dove owl crow magpie swan goose duck hen "
        "chicken robin sparrow finch swallow starling gull eagle hawk falcon heron stork "
        "crane turkey peacock"
    ),
    "insect bug": (
        "bee wasp ant mosquito fly hornet moth butterfly beetle flea tick spider cricket bumblebee"
    ),
    "instrument": (
        "piano guitar violin fiddle viola cello bass drum drums flute oboe clarinet saxophone "
        "sax trumpet trombone tuba horn harp organ accordion harmonica banjo mandolin ukulele "
        "lute sitar tabla djembe recorder bagpipes concertina xylophone keyboard cornet "
        "bassoon erhu sarod veena bouzouki balalaika zither dulcimer"
    ),
    "sport game activity exercise hobby": (
        "football soccer rugby cricket tennis badminton squash golf hockey basketball netball "
        "volleyball handball baseball softball swimming rowing sailing surfing cycling "
        "running jogging athletics boxing judo karate taekwondo wrestling fencing archery "
        "climbing bouldering hiking skiing snowboarding skating yoga pilates dancing chess "
        "darts bowls bowling snooker pool ping-pong table-tennis gymnastics triathlon "
        "marathon polo lacrosse diving kayaking knitting pottery weaving painting gardening "
        "baking carpentry fishing angling birdwatching"
    ),
    "drink beverage": (
        "water tea coffee milk juice beer wine whisky whiskey vodka gin rum brandy cider "
        "lemonade cola soda cocoa chai espresso cappuccino latte squash smoothie kefir mead "
        "sake champagne prosecco port sherry tequila cordial"
    ),
    "food dish meal snack": (
        "bread rice pasta noodles soup stew curry salad sandwich pizza pie cake biscuit "
        "cookie pancake waffle omelette egg eggs cheese meat beef pork lamb chicken fish "
        "sausage bacon ham steak burger chips fries potato potatoes beans lentils dumpling "
        "dumplings porridge cereal yogurt chocolate ice-cream pudding casserole risotto "
        "lasagne paella sushi ramen tofu kebab taco burrito jollof fufu biryani dosa samosa "
        "goulash pierogi borscht couscous hummus falafel pho kimchi"
    ),
    "cake pastry dessert sweet bake": (
        "cake tart pie croissant croissants bun buns muffin scone brownie éclair strudel "
        "baklava cheesecake trifle pudding meringue pavlova doughnut donut gingerbread "
        "shortbread macaroon flan custard tiramisu sponge biscuit cookie waffle cupcake "
        "gateau brioche"
    ),
    "fruit flavour flavor": (
        "apple pear plum peach apricot cherry strawberry raspberry blackberry blueberry "
        "currant gooseberry grape melon watermelon banana orange lemon lime grapefruit "
        "mandarin pineapple mango papaya kiwi fig date pomegranate quince rhubarb coconut "
        "guava passionfruit lychee vanilla chocolate caramel cinnamon ginger almond pistachio "
        "hazelnut coffee mint"
    ),
    "vegetable crop plant": (
        "potato tomato carrot onion leek garlic cabbage kale spinach lettuce cucumber "
        "courgette zucchini pumpkin squash marrow aubergine eggplant pepper chilli pea bean "
        "beans beetroot beet turnip swede parsnip radish celery broccoli cauliflower sprout "
        "sprouts sweetcorn corn maize artichoke asparagus okra cassava yam fennel wheat "
        "barley rye oats sunflower rose roses tulip"
    ),
    "tree wood timber": (
        "oak ash beech birch pine spruce fir larch cedar walnut maple cherry elm willow "
        "poplar lime linden chestnut teak mahogany ebony yew holly hazel alder sycamore olive "
        "apple pear bamboo eucalyptus acacia baobab cypress juniper"
    ),
    "metal material fabric cloth": (
        "gold silver copper brass bronze iron steel tin lead zinc aluminium platinum wood "
        "glass plastic leather wool cotton linen silk velvet denim felt clay stone marble "
        "granite concrete brick rubber paper cardboard wax nylon polyester canvas lace tweed"
    ),
    "language": (
        "english french german spanish italian portuguese dutch danish swedish norwegian "
        "finnish icelandic polish czech slovak hungarian romanian bulgarian greek turkish "
        "russian ukrainian serbian croatian arabic hebrew persian farsi hindi urdu bengali "
        "punjabi tamil telugu marathi gujarati nepali chinese mandarin cantonese japanese "
        "korean vietnamese thai malay indonesian tagalog swahili yoruba igbo hausa amharic "
        "somali zulu xhosa afrikaans welsh irish gaelic basque catalan latin quechua maori "
        "georgian armenian lithuanian latvian estonian"
    ),
    "subject course degree minor major field discipline": (
        "maths mathematics physics chemistry biology history geography english literature "
        "economics law medicine nursing engineering architecture philosophy psychology "
        "sociology anthropology linguistics politics accounting accountancy business "
        "marketing finance statistics computing programming informatics art music drama "
        "design education theology astronomy ecology botany zoology pharmacy dentistry "
        "veterinary journalism archaeology agriculture photography welding plumbing carpentry"
    ),
    "vehicle car transport": (
        "car van lorry truck bus coach tram train ferry boat ship barge bicycle bike "
        "motorbike motorcycle scooter moped taxi cab tractor ambulance caravan camper jeep "
        "pickup helicopter plane aeroplane metro underground subway rickshaw sled skis foot"
    ),
    "organ body limb joint place": (
        "heart liver kidney lung stomach bowel gallbladder appendix spleen pancreas bladder "
        "brain eye ear nose throat tongue tooth jaw neck shoulder arm elbow wrist hand finger "
        "thumb chest back spine rib hip leg thigh knee calf shin ankle foot heel toe skin "
        "tonsil tendon ligament"
    ),
    "illness disease condition injury diagnosis problem allergy trouble": (
        "flu cold fever cough asthma bronchitis pneumonia diabetes cancer arthritis gout "
        "migraine headache epilepsy stroke infection chickenpox measles mumps shingles "
        "malaria typhoid dengue tuberculosis covid anaemia anemia eczema psoriasis rash hives "
        "ulcer hernia appendicitis tonsillitis concussion fracture break sprain strain tear "
        "tendon sciatica depression anxiety burnout insomnia dementia parkinson cataract "
        "glaucoma tinnitus vertigo"
    ),
    "allergen nut": (
        "nut nuts almond peanut hazelnut walnut milk egg gluten wheat soy shellfish fish "
        "sesame pollen"
    ),
    "medicine drug tablet pill medication": (
        "aspirin paracetamol ibuprofen penicillin antibiotic insulin amlodipine lisinopril "
        "losartan ramipril metformin statin codeine morphine cortisone steroid inhaler "
        "antihistamine warfarin omeprazole amoxicillin tramadol sertraline"
    ),
    "furniture": (
        "table chair sofa couch bed wardrobe cupboard shelf desk bench stool dresser cabinet "
        "armchair"
    ),
    "clothing clothes garment": (
        "shirt blouse dress skirt trousers jeans jacket coat jumper sweater cardigan hat cap "
        "scarf gloves shoes boots sandals socks suit tie belt shawl veil robe sari apron "
        "uniform slippers trainers"
    ),
    "tool implement": (
        "hammer saw drill plane chisel file screwdriver spanner wrench pliers axe spade "
        "shovel rake hoe knife scissors needle loom anvil lathe trowel ladder vice clamp "
        "brush"
    ),
    "weekday day evening morning": (
        "monday tuesday wednesday thursday friday saturday sunday weekend mondays tuesdays "
        "wednesdays thursdays fridays saturdays sundays"
    ),
    "season": ("spring summer autumn fall winter"),
    "side hand ear eye leg knee foot shoulder": ("left right"),
    "relative relation": (
        "mother father sister brother aunt uncle cousin nephew niece grandmother grandfather "
        "grandma grandpa son daughter"
    ),
    "youngster child kid": ("boy girl lad lass son daughter teenager apprentice"),
    "shape": ("round square oval triangle circle star heart rectangle"),
    "voice part": ("soprano alto tenor baritone bass second first solo descant"),
    "feeling mood emotion mind": (
        "happy sad angry nervous afraid proud relieved grateful lonely calm excited guilty "
        "hopeful frustrated overwhelmed embarrassed furious terrified"
    ),
    "rank title position promotion": (
        "chef manager captain sergeant corporal lieutenant supervisor lead head chief deputy "
        "assistant senior junior partner director foreman apprentice"
    ),
    "weapon": ("gun knife sword rifle pistol bow arrow spear"),
    "game": (
        "chess draughts checkers go poker bridge rummy scrabble monopoly dominoes backgammon ludo"
    ),
}

_OF: dict[str, frozenset[str]] = {}
for _heads, _listed in _MEMBERS.items():
    for _head in _heads.split():
        _OF[_head] = _OF.get(_head, frozenset()) | frozenset(_listed.split())


def members_of(noun: str) -> frozenset[str]:
    """Common members of the category that a noun names; empty where it names none."""
    return _OF.get(noun, frozenset())
