"""transfer_funds: moves money between accounts; has no guard (DESIGN §10)."""

import sqlite3
from collections.abc import Sequence

from services.common.canonical import JsonObject, JsonValue
from services.common.limits import ID_BYTES
from services.destination.tools.base import Action, Tool, ToolModule, ToolRefusal, text_argument

__all__ = ["AMOUNT_CENTS_MAX", "Funds"]

AMOUNT_CENTS_MAX = 10**12
# What canonical JSON can hold exactly, either way.
BALANCE_CENTS_MAX = 2**53 - 1
ARGUMENTS = frozenset({"from", "to", "amount_cents"})


class Funds(ToolModule):
    """Accounts of each workflow; they spring into existence with balance 0 and may go negative."""

    name = "accounts"

    def tools(self) -> Sequence[Tool]:
        """transfer_funds({"from", "to", "amount_cents"})."""
        return (Tool(name="transfer_funds", read_only=False, prepare=_prepare),)

    def create(self, connection: sqlite3.Connection) -> None:
        """Creates the accounts' table where it is missing."""
        connection.execute(
            "CREATE TABLE IF NOT EXISTS accounts (workflow_id TEXT NOT NULL, account TEXT NOT NULL,"
            " balance_cents INTEGER NOT NULL, PRIMARY KEY (workflow_id, account)) WITHOUT ROWID"
        )

    def state(self, connection: sqlite3.Connection, workflow_id: str | None) -> JsonValue:
        """Balances in cents by workflow and account."""
        rows = connection.execute(
            "SELECT workflow_id, account, balance_cents FROM accounts "
            "WHERE ? IS NULL OR workflow_id = ? ORDER BY workflow_id, account",
            (workflow_id, workflow_id),
        )
        balances: dict[str, dict[str, JsonValue]] = {}
        for workflow, account, balance_cents in rows:
            balances.setdefault(workflow, {})[account] = balance_cents
        return balances


class _Transfer(Action):
    def __init__(self, workflow_id: str, source: str, target: str, amount_cents: int) -> None:
        self._workflow_id = workflow_id
        self._source = source
        self._target = target
        self._amount_cents = amount_cents

    def apply(self, connection: sqlite3.Connection, *, guard: bool) -> JsonObject:
        source_cents = self._balance(connection, self._source) - self._amount_cents
        target_cents = self._balance(connection, self._target) + self._amount_cents
        if max(abs(source_cents), abs(target_cents)) > BALANCE_CENTS_MAX:
            raise ToolRefusal("balance_limit", "a balance would leave the range of exact numbers")
        self._set_balance(connection, self._source, source_cents)
        self._set_balance(connection, self._target, target_cents)
        return {
            "from": self._source,
            "to": self._target,
            "amount_cents": self._amount_cents,
            "from_balance_cents": source_cents,
            "to_balance_cents": target_cents,
        }

    def _balance(self, connection: sqlite3.Connection, account: str) -> int:
        row = connection.execute(
            "SELECT balance_cents FROM accounts WHERE workflow_id = ? AND account = ?",
            (self._workflow_id, account),
        ).fetchone()
        return 0 if row is None else int(row[0])

    def _set_balance(
        self, connection: sqlite3.Connection, account: str, balance_cents: int
    ) -> None:
        connection.execute(
            "INSERT OR REPLACE INTO accounts VALUES (?, ?, ?)",
            (self._workflow_id, account, balance_cents),
        )


def _prepare(workflow_id: str, arguments: JsonObject) -> Action:
    if set(arguments) != ARGUMENTS:
        raise ToolRefusal("bad_arguments", "the arguments are from, to and amount_cents")
    source = text_argument(arguments, "from")
    target = text_argument(arguments, "to")
    for account in (source, target):
        if not 1 <= len(account.encode("utf-8")) <= ID_BYTES:
            raise ToolRefusal("bad_arguments", f"an account has 1 to {ID_BYTES} bytes")
    if source == target:
        raise ToolRefusal("bad_arguments", "from and to are the same account")
    amount_cents = arguments["amount_cents"]
    # bool is an int in Python and none in JSON.
    if isinstance(amount_cents, bool) or not isinstance(amount_cents, int):
        raise ToolRefusal("bad_arguments", "amount_cents must be a whole number")
    if not 1 <= amount_cents <= AMOUNT_CENTS_MAX:
        raise ToolRefusal("bad_arguments", f"amount_cents must be 1 to {AMOUNT_CENTS_MAX}")
    return _Transfer(workflow_id, source, target, amount_cents)
