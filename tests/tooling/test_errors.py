"""The error tree: every error says what to do next and has an exit code of DESIGN §7."""

import pytest

from orchestrator import errors

KINDS = [getattr(errors, name) for name in errors.__all__]


@pytest.mark.parametrize("kind", KINDS)
def test_error_carries_diagnosis_and_next_step(kind: type[errors.MemqualError]) -> None:
    error = kind("The thing broke.", next_step="Mend it.")
    assert issubclass(kind, errors.MemqualError)
    assert (error.diagnosis, error.next_step) == ("The thing broke.", "Mend it.")
    assert str(error) == "The thing broke.\nNext step: Mend it."
    assert error.exit_code in {2, 3, 4}


@pytest.mark.parametrize(
    "kind", [errors.UsageError, errors.VendorConfigError, errors.RunDirectoryError]
)
def test_wrong_usage_exits_with_2(kind: type[errors.MemqualError]) -> None:
    assert kind.exit_code == 2


def test_docstring_draws_the_whole_tree() -> None:
    for kind in KINDS:
        assert kind.__name__ in (errors.__doc__ or "")
