"""A seeded store of the benchmark's shape: the default, so that no data has to be brought along."""

import random
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from services.destination.tools.retail.store import RetailBase, as_base

__all__ = ["GENERATED_SEED", "generated_base"]

GENERATED_SEED = 20260922

_PRODUCTS = 24
_VARIANTS = 6
_USERS = 80
_ORDERS = 200
_ITEMS_MAX = 4
_STATUSES = ("pending", "pending", "processed", "delivered", "delivered", "cancelled")
_NAMES = (
    *("Amara", "Bruno", "Celia", "Dario", "Elif", "Farid", "Greta", "Hugo", "Ines", "Jonas"),
    *("Karin", "Lior", "Mira", "Nils", "Odile", "Pavel", "Rosa", "Sami", "Tilda", "Ugo"),
)
_SURNAMES = (
    *("Abel", "Brandt", "Costa", "Dahl", "Eder", "Ferro", "Gruber", "Holm", "Ivers", "Juhl"),
    *("Kern", "Lang", "Moser", "Noll", "Ott", "Pohl", "Rau", "Senn", "Thoma", "Urban"),
)
_STREETS = ("Linden Street", "Harbour Road", "Mill Lane", "Station Square", "Garden Row")
_CITIES = (("Northfield", "NO"), ("Easton", "EA"), ("Southport", "SO"), ("Westbury", "WE"))
_GOODS = (
    *("Lamp", "Kettle", "Backpack", "Keyboard", "Jacket", "Bottle", "Desk", "Puzzle"),
    *("Headset", "Tent", "Scarf", "Camera", "Watch", "Blanket", "Speaker", "Boots"),
    *("Monitor", "Vase", "Helmet", "Notebook", "Toaster", "Skates", "Printer", "Rug"),
)
_COLORS = ("black", "white", "blue", "green", "red", "grey")
_SIZES = ("small", "medium", "large")


_Item = TypeVar("_Item")


class _Draw:
    """Draws that are the same in every version of Python: made of `random()` alone."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def number(self, first: int, last: int) -> int:
        """A whole number, both ends included."""
        return first + int(self._random.random() * (last - first + 1))

    def choice(self, items: Sequence[_Item]) -> _Item:
        """One of the items."""
        return items[self.number(0, len(items) - 1)]

    def sample(self, items: Sequence[_Item], count: int) -> list[_Item]:
        """So many of the items, each at most once."""
        left = list(items)
        return [left.pop(self.number(0, len(left) - 1)) for _ in range(count)]

    def digits(self, count: int) -> str:
        """So many digits."""
        return "".join(self.choice("0123456789") for _ in range(count))


def generated_base(seed: int = GENERATED_SEED) -> RetailBase:
    """A store of invented people and goods; the same for the same seed on every machine."""
    draw = _Draw(seed)
    products = {entry["product_id"]: entry for entry in map(_product(draw), _GOODS[:_PRODUCTS])}
    users = {entry["user_id"]: entry for entry in (_user(draw, n) for n in range(_USERS))}
    orders: dict[str, dict[str, Any]] = {}
    for number in range(_ORDERS):
        user = draw.choice(list(users.values()))
        order = _order(draw, number, user, list(products.values()))
        orders[order["order_id"]] = order
        user["orders"].append(order["order_id"])
    return as_base({"products": products, "users": users, "orders": orders})


def _product(draw: _Draw) -> Callable[[str], dict[str, Any]]:
    def make(name: str) -> dict[str, Any]:
        variants = {}
        for _ in range(_VARIANTS):
            item_id = draw.digits(10)
            variants[item_id] = {
                "item_id": item_id,
                "options": {"color": draw.choice(_COLORS), "size": draw.choice(_SIZES)},
                "available": draw.number(1, 5) > 1,
                "price": draw.number(500, 60_000) / 100,
            }
        return {"name": name, "product_id": draw.digits(10), "variants": variants}

    return make


def _user(draw: _Draw, number: int) -> dict[str, Any]:
    first, last = draw.choice(_NAMES), draw.choice(_SURNAMES)
    methods: dict[str, dict[str, Any]] = {}
    for source in draw.sample(("credit_card", "gift_card", "paypal"), draw.number(1, 3)):
        method: dict[str, Any] = {"source": source, "id": f"{source}_{draw.digits(7)}"}
        if source == "gift_card":
            method["balance"] = draw.number(0, 900)
        if source == "credit_card":
            method |= {"brand": draw.choice(("visa", "mastercard")), "last_four": draw.digits(4)}
        methods[method["id"]] = method
    return {
        "user_id": f"{first}_{last}_{number:04}".lower(),
        "name": {"first_name": first, "last_name": last},
        "address": _address(draw),
        "email": f"{first}.{last}{number}@example.com".lower(),
        "payment_methods": methods,
        "orders": [],
    }


def _order(
    draw: _Draw, number: int, user: dict[str, Any], products: list[dict[str, Any]]
) -> dict[str, Any]:
    items = []
    for product in draw.sample(products, draw.number(1, _ITEMS_MAX)):
        variant = draw.choice(list(product["variants"].values()))
        items.append(
            {
                "name": product["name"],
                "product_id": product["product_id"],
                "item_id": variant["item_id"],
                "price": variant["price"],
                "options": variant["options"],
            }
        )
    payment = {
        "transaction_type": "payment",
        "amount": round(sum(item["price"] for item in items), 2),
        "payment_method_id": draw.choice(list(user["payment_methods"])),
    }
    return {
        "order_id": f"#W{number + 1_000_000}",
        "user_id": user["user_id"],
        "address": user["address"],
        "items": items,
        "status": draw.choice(_STATUSES),
        "fulfillments": [],
        "payment_history": [payment],
    }


def _address(draw: _Draw) -> dict[str, str]:
    city, state = draw.choice(_CITIES)
    return {
        "address1": f"{draw.number(1, 199)} {draw.choice(_STREETS)}",
        "address2": f"Flat {draw.number(1, 60)}",
        "city": city,
        "country": "USA",
        "state": state,
        "zip": draw.digits(5),
    }
