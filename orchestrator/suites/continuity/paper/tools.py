"""The retail tools as function schemas, as a model is offered them (DESIGN §10).

Names and arguments are the destination's; the descriptions are our own.
"""

from __future__ import annotations

import json
from functools import cache

from orchestrator.model import Frozen

__all__ = ["tools_json"]

_LISTS = frozenset({"item_ids", "new_item_ids"})
_ARGUMENTS = {
    "address1": "First line of the address.",
    "address2": "Second line of the address; may be empty.",
    "city": "City.",
    "country": "Country, such as USA.",
    "email": "E-mail address.",
    "expression": "Numbers, + - * / and brackets.",
    "first_name": "First name.",
    "item_id": "Id of one variant of a product, ten digits.",
    "item_ids": "Ids of the items in the order that it is about, one entry for each piece.",
    "last_name": "Last name.",
    "new_item_ids": "Ids of the variants in their place, in the same order.",
    "order_id": "Id of the order with its leading #, such as #W0000000.",
    "payment_method_id": "Id of one of the customer's payment methods.",
    "product_id": "Id of a product; an item's id is another one.",
    "reason": "Either 'no longer needed' or 'ordered by mistake'.",
    "state": "State, two letters.",
    "summary": "What the customer wants and what was done so far.",
    "user_id": "Id of the customer.",
    "zip": "Zip code.",
}
_ADDRESS = ("address1", "address2", "city", "state", "country", "zip")


class _Tool(Frozen):
    name: str
    text: str
    arguments: tuple[str, ...] = ()


_TOOLS = (
    _Tool(name="calculate", text="Work out an amount.", arguments=("expression",)),
    _Tool(
        name="cancel_pending_order",
        text="Cancel an order that is pending and refund it. The customer must have agreed.",
        arguments=("order_id", "reason"),
    ),
    _Tool(
        name="exchange_delivered_order_items",
        text="Exchange items of a delivered order for other variants of the same products, once "
        "for an order. The customer must have agreed to the whole exchange.",
        arguments=("order_id", "item_ids", "new_item_ids", "payment_method_id"),
    ),
    _Tool(
        name="find_user_id_by_email",
        text="Find a customer by e-mail address.",
        arguments=("email",),
    ),
    _Tool(
        name="find_user_id_by_name_zip",
        text="Find a customer by name and zip code.",
        arguments=("first_name", "last_name", "zip"),
    ),
    _Tool(
        name="get_item_details",
        text="Look up one variant: options, price, whether it is available.",
        arguments=("item_id",),
    ),
    _Tool(
        name="get_order_details",
        text="Look up an order: status, items, payments.",
        arguments=("order_id",),
    ),
    _Tool(
        name="get_product_details",
        text="Look up a product and all of its variants.",
        arguments=("product_id",),
    ),
    _Tool(
        name="get_user_details",
        text="Look up a customer: address, payment methods, orders.",
        arguments=("user_id",),
    ),
    _Tool(name="list_all_product_types", text="List the products by name with their ids."),
    _Tool(
        name="modify_pending_order_address",
        text="Send a pending order elsewhere. The customer must have agreed.",
        arguments=("order_id", *_ADDRESS),
    ),
    _Tool(
        name="modify_pending_order_items",
        text="Change items of a pending order to other variants of the same products, once for an "
        "order. The customer must have agreed.",
        arguments=("order_id", "item_ids", "new_item_ids", "payment_method_id"),
    ),
    _Tool(
        name="modify_pending_order_payment",
        text="Pay a pending order in another way. The customer must have agreed.",
        arguments=("order_id", "payment_method_id"),
    ),
    _Tool(
        name="modify_user_address",
        text="Change a customer's own address. The customer must have agreed.",
        arguments=("user_id", *_ADDRESS),
    ),
    _Tool(
        name="return_delivered_order_items",
        text="Take items of a delivered order back. The customer must have agreed.",
        arguments=("order_id", "item_ids", "payment_method_id"),
    ),
    _Tool(
        name="transfer_to_human_agents",
        text="Hand the customer over to a person, where no other tool can help.",
        arguments=("summary",),
    ),
)


@cache
def tools_json() -> str:
    """All 16 as a JSON array of OpenAI-compatible function schemas."""
    return json.dumps([_schema(tool) for tool in _TOOLS])


def _schema(tool: _Tool) -> dict[str, object]:
    properties = {name: {"description": _ARGUMENTS[name], **_type(name)} for name in tool.arguments}
    return {
        "type": "function",
        "function": {
            "name": tool.name,
            "description": tool.text,
            "parameters": {
                "type": "object",
                "properties": properties,
                "required": list(tool.arguments),
                "additionalProperties": False,
            },
        },
    }


def _type(name: str) -> dict[str, object]:
    if name in _LISTS:
        return {"type": "array", "items": {"type": "string"}}
    return {"type": "string"}
