"""The tools that change nothing (DESIGN §10)."""

import ast
import operator
from collections.abc import Callable, Mapping

from services.common.canonical import JsonObject, JsonValue
from services.destination.tools.base import ToolRefusal, text_argument
from services.destination.tools.retail.store import View

__all__ = ["READS", "Read"]

Read = Callable[[View, JsonObject], JsonValue]
"""(store, arguments) → what the tool answers."""

EXPRESSION_CHARACTERS = 200
_CENTS = 2
_OPERATORS: Mapping[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


def _find_user_id_by_name_zip(view: View, arguments: JsonObject) -> JsonValue:
    first, last, zip_code = (
        text_argument(arguments, name) for name in ("first_name", "last_name", "zip")
    )
    wanted = (first.lower(), last.lower(), zip_code)
    for user in view.every("users"):
        name = user["name"]
        seen = (name["first_name"].lower(), name["last_name"].lower(), user["address"]["zip"])
        if seen == wanted:
            return str(user["user_id"])
    raise ToolRefusal("not_found", "user not found")


def _find_user_id_by_email(view: View, arguments: JsonObject) -> JsonValue:
    email = text_argument(arguments, "email").lower()
    for user in view.every("users"):
        if user["email"].lower() == email:
            return str(user["user_id"])
    raise ToolRefusal("not_found", "user not found")


def _get_order_details(view: View, arguments: JsonObject) -> JsonValue:
    return view.find("orders", text_argument(arguments, "order_id"))


def _get_product_details(view: View, arguments: JsonObject) -> JsonValue:
    return view.find("products", text_argument(arguments, "product_id"))


def _get_item_details(view: View, arguments: JsonObject) -> JsonValue:
    item_id = text_argument(arguments, "item_id")
    for product in view.every("products"):
        variant: JsonValue = product["variants"].get(item_id)
        if variant is not None:
            return variant
    raise ToolRefusal("not_found", "item not found")


def _get_user_details(view: View, arguments: JsonObject) -> JsonValue:
    return view.find("users", text_argument(arguments, "user_id"))


def _list_all_product_types(view: View, arguments: JsonObject) -> JsonValue:
    return {product["name"]: product["product_id"] for product in view.every("products")}


def _calculate(view: View, arguments: JsonObject) -> JsonValue:
    expression = text_argument(arguments, "expression")
    if len(expression) > EXPRESSION_CHARACTERS:
        raise ToolRefusal("bad_expression", f"at most {EXPRESSION_CHARACTERS} characters")
    try:
        value = _value(ast.parse(expression.strip(), mode="eval").body)
    except (SyntaxError, ValueError, ZeroDivisionError, OverflowError, RecursionError) as error:
        raise ToolRefusal("bad_expression", "numbers, + - * / and brackets only") from error
    return str(round(float(value), _CENTS))


def _value(node: ast.expr) -> float:
    """What an expression of numbers comes to; raises ValueError for anything else."""
    if isinstance(node, ast.Constant) and not isinstance(node.value, bool):
        if isinstance(node.value, int | float):
            return float(node.value)
        raise ValueError("no number")
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.UAdd | ast.USub):
        value = _value(node.operand)
        return -value if isinstance(node.op, ast.USub) else value
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        return _OPERATORS[type(node.op)](_value(node.left), _value(node.right))
    raise ValueError("no arithmetic")


def _transfer_to_human_agents(view: View, arguments: JsonObject) -> JsonValue:
    text_argument(arguments, "summary")
    return "Transfer successful"


READS: Mapping[str, Read] = {
    "calculate": _calculate,
    "find_user_id_by_email": _find_user_id_by_email,
    "find_user_id_by_name_zip": _find_user_id_by_name_zip,
    "get_item_details": _get_item_details,
    "get_order_details": _get_order_details,
    "get_product_details": _get_product_details,
    "get_user_details": _get_user_details,
    "list_all_product_types": _list_all_product_types,
    "transfer_to_human_agents": _transfer_to_human_agents,
}
"""Every tool that changes nothing, by name."""
