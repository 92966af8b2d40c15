"""The readers of requests that one memory uses; a memory that is wrong on purpose replaces one."""

from collections.abc import Callable
from dataclasses import dataclass

from memqual.v1 import continuity_pb2
from services.memory.messages import binding_from, receipt_from, settled_from
from services.memory.model import OperationBinding, Receipt

__all__ = ["Formats"]


@dataclass(frozen=True)
class Formats:
    """How requests become the memory's values, with every format checked.

    Attributes:
        binding: reads a specification.
        receipt: reads the receipt of a RecordReceipt.
        settled: reads what a host says of its past.
    """

    binding: Callable[[continuity_pb2.OperationSpec], OperationBinding] = binding_from
    receipt: Callable[[continuity_pb2.Receipt], Receipt] = receipt_from
    settled: Callable[
        [continuity_pb2.BeginRequest | continuity_pb2.PeekRequest], frozenset[str] | None
    ] = settled_from
