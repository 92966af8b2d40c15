"""Countries and large cities whose names are hardly anybody's own; words in lower case."""

__all__ = ["PLACES"]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


PLACES = _words("""
accra addis afghanistan africa albania algeria america amsterdam angola ankara argentina armenia
asia athens auckland australia austria azerbaijan baghdad bahrain bangkok bangladesh barcelona
beijing beirut belarus belfast belgium belgrade belize benin berlin bhutan birmingham bogotá
bolivia bosnia boston botswana bratislava brazil brisbane bristol britain brussels bucharest
budapest bulgaria burundi cairo calgary cambodia cameroon canada canberra caracas casablanca
chennai chicago chile china cologne colombia colombo congo copenhagen croatia cuba cyprus dakar
dallas damascus delhi denmark denver detroit dhaka dubai dublin durban ecuador edinburgh egypt
england eritrea estonia ethiopia europe fiji finland france frankfurt gabon gambia geneva germany
ghana glasgow greece greenland guatemala guinea guyana haiti hamburg hanoi harare havana helsinki
honduras hungary iceland india indonesia iran iraq istanbul italy jakarta jamaica japan jerusalem
johannesburg kabul kampala karachi kathmandu kazakhstan khartoum kiev kolkata kosovo kraków kuwait
kyiv kyoto kyrgyzstan lahore laos latvia lebanon lesotho liberia libya lima lisbon lithuania
liverpool ljubljana london luxembourg lyon madagascar madrid malawi malaysia maldives malta
managua manchester manila marseille mauritius medellín melbourne mexico miami minsk moldova
mombasa mongolia montenegro montevideo montreal morocco moscow mozambique mumbai munich myanmar
nairobi namibia naples nepal netherlands newcastle nicaragua nigeria norway nottingham oman osaka
oslo ottawa pakistan panama paraguay paris perth peru philadelphia philippines poland portugal
prague pretoria qatar quito rabat reykjavik riga romania rome rotterdam russia rwanda samoa
sarajevo scotland seattle senegal seoul serbia seville shanghai sheffield singapore skopje
slovakia slovenia somalia spain stockholm stuttgart sudan suriname sweden switzerland sydney syria
taiwan tajikistan tallinn tanzania tashkent tbilisi tehran thailand tirana togo tokyo tonga
toronto tripoli tunis tunisia turin turkey turkmenistan uganda uk ukraine ulaanbaatar uruguay usa
uzbekistan vancouver venezuela vienna vietnam vilnius wales warsaw wellington windhoek winnipeg
yangon yemen yerevan zagreb zambia zimbabwe zurich zürich
""")
