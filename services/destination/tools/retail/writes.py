"""The tools that change orders and users, with their business rules (DESIGN §10).

A rule of an order's status is the guard: without it, what was done can be done again. All else is
checked always. Amounts are floats, rounded exactly where the benchmark rounds them: its state
hashes depend on it.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from services.common.canonical import JsonObject, JsonValue
from services.destination.tools.base import ToolRefusal, text_argument
from services.destination.tools.retail.store import View

__all__ = ["WRITES", "Write"]

Write = Callable[[View, JsonObject, bool], JsonValue]
"""(store, arguments, whether the status rules hold) → the document that was changed."""

CANCEL_REASONS = ("no longer needed", "ordered by mistake")
ADDRESS_FIELDS = ("address1", "address2", "city", "state", "country", "zip")
_CENTS = 2
_GIFT_CARD = "gift_card"


def _cancel_pending_order(view: View, arguments: JsonObject, guard: bool) -> JsonValue:
    order = view.change("orders", text_argument(arguments, "order_id"))
    _require_status(order, guard, exactly="pending")
    reason = text_argument(arguments, "reason")
    if reason not in CANCEL_REASONS:
        raise ToolRefusal("bad_reason", f"a reason is one of: {', '.join(CANCEL_REASONS)}")
    user = view.change("users", order["user_id"])
    refunds = []
    for payment in order["payment_history"]:
        method_id, amount = payment["payment_method_id"], payment["amount"]
        refunds.append(_transaction("refund", amount, method_id))
        method = _method(user, method_id)
        if method["source"] == _GIFT_CARD:
            method["balance"] = round(method["balance"] + amount, _CENTS)
    order["status"] = "cancelled"
    order["cancel_reason"] = reason
    order["payment_history"].extend(refunds)
    return order


def _exchange_delivered_order_items(view: View, arguments: JsonObject, guard: bool) -> JsonValue:
    order = view.change("orders", text_argument(arguments, "order_id"))
    _require_status(order, guard, exactly="delivered")
    old_ids, new_ids = _texts(arguments, "item_ids"), _texts(arguments, "new_item_ids")
    _require_items(order, old_ids)
    _require_pairs(old_ids, new_ids)
    difference = 0.0
    for old_id, new_id in zip(old_ids, new_ids, strict=True):
        item = _item(order, old_id)
        difference += _variant(view, item, new_id)["price"] - item["price"]
    difference = round(difference, _CENTS)
    method_id = text_argument(arguments, "payment_method_id")
    method = _method(view.find("users", order["user_id"]), method_id)
    _require_balance(method, difference)
    order["status"] = "exchange requested"
    order["exchange_items"] = sorted(old_ids)
    order["exchange_new_items"] = sorted(new_ids)
    order["exchange_payment_method_id"] = method_id
    order["exchange_price_difference"] = difference
    return order


def _return_delivered_order_items(view: View, arguments: JsonObject, guard: bool) -> JsonValue:
    order = view.change("orders", text_argument(arguments, "order_id"))
    _require_status(order, guard, exactly="delivered")
    method_id = text_argument(arguments, "payment_method_id")
    method = _method(view.find("users", order["user_id"]), method_id)
    original_id = order["payment_history"][0]["payment_method_id"]
    if method["source"] != _GIFT_CARD and method_id != original_id:
        raise ToolRefusal("bad_payment_method", "a return goes to the original method or a card")
    item_ids = _texts(arguments, "item_ids")
    _require_items(order, item_ids)
    order["status"] = "return requested"
    order["return_items"] = sorted(item_ids)
    order["return_payment_method_id"] = method_id
    return order


def _modify_pending_order_items(view: View, arguments: JsonObject, guard: bool) -> JsonValue:
    order = view.change("orders", text_argument(arguments, "order_id"))
    _require_status(order, guard, exactly="pending")
    old_ids, new_ids = _texts(arguments, "item_ids"), _texts(arguments, "new_item_ids")
    _require_items(order, old_ids)
    _require_pairs(old_ids, new_ids)
    difference = 0.0
    variant: Mapping[str, Any] = {}
    for old_id, new_id in zip(old_ids, new_ids, strict=True):
        if old_id == new_id:
            raise ToolRefusal("same_item", "an item is modified into another one")
        item = _item(order, old_id)
        variant = _variant(view, item, new_id)
        difference += variant["price"] - item["price"]
    method_id = text_argument(arguments, "payment_method_id")
    method = _method(view.change("users", order["user_id"]), method_id)
    _require_balance(method, difference)
    kind = "payment" if difference > 0 else "refund"
    order["payment_history"].append(_transaction(kind, abs(difference), method_id))
    if method["source"] == _GIFT_CARD:
        method["balance"] = round(method["balance"] - difference, _CENTS)
    for old_id, new_id in zip(old_ids, new_ids, strict=True):
        item = _item(order, old_id)
        # As the benchmark does it: every item takes the last variant's price and options.
        item.update(item_id=new_id, price=variant["price"], options=variant["options"])
    order["status"] = "pending (item modified)"
    return order


def _modify_pending_order_payment(view: View, arguments: JsonObject, guard: bool) -> JsonValue:
    order = view.change("orders", text_argument(arguments, "order_id"))
    _require_status(order, guard, containing="pending")
    method_id = text_argument(arguments, "payment_method_id")
    user = view.change("users", order["user_id"])
    method = _method(user, method_id)
    history = order["payment_history"]
    if len(history) != 1 or history[0]["transaction_type"] != "payment":
        raise ToolRefusal("several_payments", "the order must have exactly one payment")
    old_id, amount = history[0]["payment_method_id"], history[0]["amount"]
    if old_id == method_id:
        raise ToolRefusal("same_payment_method", "the order is paid with this method already")
    _require_balance(method, amount)
    history.append(_transaction("payment", amount, method_id))
    history.append(_transaction("refund", amount, old_id))
    if method["source"] == _GIFT_CARD:
        method["balance"] = round(method["balance"] - amount, _CENTS)
    old = _method(user, old_id)
    if old["source"] == _GIFT_CARD:
        old["balance"] = round(old["balance"] + amount, _CENTS)
    return order


def _modify_pending_order_address(view: View, arguments: JsonObject, guard: bool) -> JsonValue:
    order = view.change("orders", text_argument(arguments, "order_id"))
    _require_status(order, guard, containing="pending")
    order["address"] = _address(arguments)
    return order


def _modify_user_address(view: View, arguments: JsonObject, guard: bool) -> JsonValue:
    user = view.change("users", text_argument(arguments, "user_id"))
    user["address"] = _address(arguments)
    return user


WRITES: Mapping[str, Write] = {
    "cancel_pending_order": _cancel_pending_order,
    "exchange_delivered_order_items": _exchange_delivered_order_items,
    "modify_pending_order_address": _modify_pending_order_address,
    "modify_pending_order_items": _modify_pending_order_items,
    "modify_pending_order_payment": _modify_pending_order_payment,
    "modify_user_address": _modify_user_address,
    "return_delivered_order_items": _return_delivered_order_items,
}
"""Every tool that changes something, by name."""


def _require_status(
    order: Mapping[str, Any], guard: bool, *, exactly: str = "", containing: str = ""
) -> None:
    """The guard: whether the order is in the state that the tool is for."""
    fits = order["status"] == exactly if exactly else containing in order["status"]
    if guard and not fits:
        raise ToolRefusal("bad_status", f"the order is not {exactly or containing}")


def _require_items(order: Mapping[str, Any], item_ids: Sequence[str]) -> None:
    there = Counter(item["item_id"] for item in order["items"])
    if Counter(item_ids) - there:
        raise ToolRefusal("no_such_item", "the order has not so many of these items")


def _require_pairs(old_ids: Sequence[str], new_ids: Sequence[str]) -> None:
    if len(old_ids) != len(new_ids):
        raise ToolRefusal("bad_arguments", "as many new items as old ones are wanted")


def _require_balance(method: Mapping[str, Any], amount: float) -> None:
    if method["source"] == _GIFT_CARD and method["balance"] < amount:
        raise ToolRefusal("balance_too_low", "the gift card does not cover it")


def _item(order: Mapping[str, Any], item_id: str) -> dict[str, Any]:
    """The first of the order's items with an id."""
    for item in order["items"]:
        if item["item_id"] == item_id:
            found: dict[str, Any] = item
            return found
    raise ToolRefusal("no_such_item", "the order has no such item")


def _variant(view: View, item: Mapping[str, Any], new_id: str) -> Mapping[str, Any]:
    """The new variant, which is of the item's product and available."""
    variants = view.find("products", item["product_id"])["variants"]
    variant: Mapping[str, Any] | None = variants.get(new_id)
    if variant is None or not variant["available"]:
        raise ToolRefusal("not_available", "the new item is not of this product, or not available")
    return variant


def _method(user: Mapping[str, Any], method_id: str) -> dict[str, Any]:
    found: dict[str, Any] | None = user["payment_methods"].get(method_id)
    if found is None:
        raise ToolRefusal("no_such_payment_method", "the user has no such payment method")
    return found


def _transaction(kind: str, amount: float, method_id: str) -> dict[str, Any]:
    return {"transaction_type": kind, "amount": amount, "payment_method_id": method_id}


def _address(arguments: JsonObject) -> dict[str, str]:
    return {name: text_argument(arguments, name) for name in ADDRESS_FIELDS}


def _texts(arguments: JsonObject, name: str) -> list[str]:
    value = arguments.get(name)
    if not isinstance(value, list) or not value:
        raise ToolRefusal("bad_arguments", f"{name} must be a list of ids")
    texts = [entry for entry in value if isinstance(entry, str)]
    if len(texts) != len(value):
        raise ToolRefusal("bad_arguments", f"{name} must be a list of ids")
    return texts
