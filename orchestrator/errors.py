"""Every error that memqual raises on purpose, as one tree.

    MemqualError                 exit 4: this could not be evaluated; never the vendor's FAIL
     ├── UsageError              exit 2: the command, a flag or a file of the user's is wrong
     │    ├── StoryError         a story of the narrative axis has errors
     │    ├── VendorConfigError  vendor.yaml does not say what it must
     │    └── RunDirectoryError  a run directory exists, is missing, or is in use
     ├── EngineError             the container engine does not answer, or refused
     ├── ImageError              an image, its base or its wheels cannot be had
     ├── StackError              a service did not start, did not become healthy, or ended early
     ├── PreflightError          the testbed does not hold what it assumes (isolation, skew, limits)
     └── EvidenceError           exit 3: a bundle is incomplete, altered or contradicts itself

Each error says what is wrong (``diagnosis``) and what a person can do about it (``next_step``).
Exit codes are those of DESIGN §7.
"""

from typing import ClassVar

__all__ = [
    "EngineError",
    "EvidenceError",
    "ImageError",
    "MemqualError",
    "PreflightError",
    "RunDirectoryError",
    "StackError",
    "StoryError",
    "UsageError",
    "VendorConfigError",
]


class MemqualError(Exception):
    """Base of the tree; catch this one at the command line.

    Attributes:
        diagnosis: What is wrong, in a sentence that names the thing concerned.
        next_step: What to do about it, in a sentence.
        exit_code: Exit code of a command that ends with this error (DESIGN §7).
    """

    exit_code: ClassVar[int] = 4

    def __init__(self, diagnosis: str, *, next_step: str) -> None:
        super().__init__(diagnosis)
        self.diagnosis = diagnosis
        self.next_step = next_step

    def __str__(self) -> str:
        return f"{self.diagnosis}\nNext step: {self.next_step}"


class UsageError(MemqualError):
    """The command line, a variable or a file that the user gave is wrong."""

    exit_code = 2


class StoryError(UsageError):
    """A story of the narrative axis has errors, so that nothing can be asked of it."""


class VendorConfigError(UsageError):
    """A vendor.yaml cannot be read, has an unknown key, or asks for what does not exist."""


class RunDirectoryError(UsageError):
    """A run directory exists already, is missing, or belongs to a run that still goes on."""


class EngineError(MemqualError):
    """The container engine does not answer, answers too late, or refused a request."""


class ImageError(MemqualError):
    """An image cannot be built, found or started: base, wheels, architecture or recipe."""


class StackError(MemqualError):
    """A service of the topology did not start, never became healthy, or ended by itself."""


class PreflightError(MemqualError):
    """An assumption of the testbed does not hold here, so no trial can be trusted."""


class EvidenceError(MemqualError):
    """Evidence is missing, was changed, or contradicts itself."""

    exit_code = 3
