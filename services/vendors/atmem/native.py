"""The only module that imports atmem: its public names, as this adapter uses them.

atmem ships no types, so each name is Any here; workflows.py and household.py turn what comes back
into frozen values.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any, Final

from atmem.contracts import (
    AuthorityScope,
    InterpreterIdentity,
    MemoryProposal,
    RecallRequest,
    SourceBinding,
    SourceCaptureRequest,
)
from atmem.evidence.models import EvidencePrincipal, EvidenceRole, EvidenceScope
from atmem.evidence.service import EvidenceService
from atmem.evidence.store import EncryptedEvidenceStore
from atmem.extract.models import (
    ExtractionProposal,
    MemoryClass,
    ProposalAction,
    ProposalEvidence,
    ProposalPrecondition,
)
from atmem.extract.review import ReviewService
from atmem.lifecycle import LifecycleService, LifecycleState, LifecycleTransition
from atmem.memory import Memory
from atmem.retrieve.rank import rank_records

from services.vendors.atmem.model import NativeRefusal, RefusalKind

__all__ = [
    "HAS_CONTINUITY",
    "AuthorityScope",
    "ContinuityService",
    "EncryptedEvidenceStore",
    "EvidencePrincipal",
    "EvidenceRole",
    "EvidenceScope",
    "EvidenceService",
    "ExtractionProposal",
    "InterpreterIdentity",
    "LifecycleService",
    "LifecycleState",
    "LifecycleTransition",
    "Memory",
    "MemoryClass",
    "MemoryProposal",
    "ProposalAction",
    "ProposalEvidence",
    "ProposalPrecondition",
    "RecallRequest",
    "ReviewService",
    "SourceBinding",
    "SourceCaptureRequest",
    "native_call",
    "native_version",
    "rank_records",
]

# 2.3.6 has no continuity package: then nothing of it is served or declared.
HAS_CONTINUITY: Final = find_spec("atmem.continuity") is not None
ContinuityService: Any = (
    import_module("atmem.continuity").ContinuityService if HAS_CONTINUITY else None
)


def native_version() -> str:
    """Version of the installed atmem."""
    return version("atmem")


@contextmanager
def native_call() -> Iterator[None]:
    """Turns the exceptions with which atmem refuses into NativeRefusal; defects pass unchanged."""
    try:
        yield
    except PermissionError as error:
        # atmem raises the bare type; one of the operating system carries a number.
        native = error.errno is None
        kind = RefusalKind.PERMISSION if native else RefusalKind.STORAGE
        raise NativeRefusal(kind, str(error)) from error
    except ValueError as error:
        raise NativeRefusal(RefusalKind.VALUE, str(error)) from error
    except (sqlite3.OperationalError, OSError) as error:
        raise NativeRefusal(RefusalKind.STORAGE, str(error)) from error
