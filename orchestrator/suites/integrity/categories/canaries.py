"""Proof that a scan of the memory's surfaces can find something, and the scan itself.

Absence counts only where a scan can find something: a harmless text with a marker is written on
purpose and has to be found in each declared surface first. A surface that is not declared is
absent, and never clean.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass

from memqual.v1 import vendor_pb2
from orchestrator.suites.integrity.calls import Answer, Ask
from orchestrator.suites.integrity.cases import Canary, from_user
from orchestrator.suites.integrity.categories.base import Scene
from orchestrator.suites.integrity.declared import surface_name
from orchestrator.suites.integrity.needles import find
from orchestrator.suites.integrity.steps import derive, export, write
from orchestrator.suites.integrity.variation import Role, Variation, nonce_for

__all__ = ["Scanned", "canary_for", "scan", "write_canary"]

_CANARY = "On Mondays the plants near {marker} get water."
_DERIVED = "Summary: on Mondays the plants near {marker} get water."
_ATTACHED = "A plan of the plants near {marker} is attached."
_ATTACHMENT = "Plan of the plants near {marker}."


@dataclass(frozen=True)
class Scanned:
    """What a scan of every declared surface found.

    Attributes:
        places: For each text that was looked for, the surfaces that it is on, with the forms.
        blind: Surfaces on which the canary is not found.
        surfaces: In words: what was scanned, and what is absent.
    """

    places: Mapping[str, Mapping[str, tuple[str, ...]]]
    blind: tuple[str, ...]
    surfaces: str

    @property
    def words(self) -> str:
        """Where the texts are, in words; empty when they are nowhere."""
        found: dict[str, set[str]] = {}
        for on in self.places.values():
            for name, forms in on.items():
                found.setdefault(name, set()).update(forms)
        return "; ".join(f"{name} ({', '.join(sorted(forms))})" for name, forms in found.items())

    @property
    def on_one_surface(self) -> tuple[str, ...]:
        """Surfaces that all of the texts are on."""
        on = [set(found) for found in self.places.values()]
        return tuple(sorted(set.intersection(*on))) if on else ()

    @property
    def blind_words(self) -> str:
        """Why absence proves nothing; empty when it does."""
        return f"the scan cannot find its canary in: {', '.join(self.blind)}" if self.blind else ""


def canary_for(varied: Variation) -> Canary:
    """Harmless texts of the trial's principal with a marker in every field."""
    marker = nonce_for(varied, Role.CANARY)
    source_id = f"{varied.principal}-{marker}"
    return Canary(
        marker=marker,
        offer=from_user(
            varied.principal,
            _CANARY.format(marker=marker),
            source_id=source_id,
            labels=(marker,),
        ),
        derived=_DERIVED.format(marker=marker),
        attached=from_user(
            varied.principal,
            _ATTACHED.format(marker=marker),
            source_id=source_id,
            media=_ATTACHMENT.format(marker=marker),
        ),
    )


def write_canary(scene: Scene) -> Generator[Ask, Answer, None]:
    """Bring the marker to every declared surface that a harmless text can reach."""
    canary = _canary(scene)
    written = yield from write("canary.write", canary.offer.observation(scene.namespace))
    surfaces = scene.declared.surfaces
    if vendor_pb2.SURFACE_GRAPH in surfaces and written.kept:
        yield from derive(
            "canary.derive",
            canary.offer.scope(scene.namespace),
            [written.record_id],
            canary.derived,
            "summary",
        )
    if vendor_pb2.SURFACE_MEDIA in surfaces:
        yield from write("canary.attach", canary.attached.observation(scene.namespace))


def scan(scene: Scene, step: str, texts: Sequence[str]) -> Generator[Ask, Answer, Scanned]:
    """Look for texts, and for the canary, on every declared surface.

    Args:
        scene: The trial.
        step: Begins the name of each call.
        texts: What is looked for.
    """
    marker = _canary(scene).marker
    places: dict[str, dict[str, tuple[str, ...]]] = {text: {} for text in texts}
    blind: list[str] = []
    for surface in scene.declared.surfaces:
        name = surface_name(surface)
        dump = yield from export(f"{step}.{name}", scene.namespace, surface)
        for text in texts:
            forms = find(text, dump.data)
            if forms:
                places[text][name] = tuple(map(str, forms))
        if not find(marker, dump.data):
            blind.append(name)
    return Scanned(places, tuple(blind), _scanned(scene))


def _scanned(scene: Scene) -> str:
    names = ", ".join(surface_name(surface) for surface in scene.declared.surfaces)
    absent = ", ".join(surface_name(surface) for surface in scene.declared.undeclared_surfaces)
    return f"surfaces {names or 'none'}" + (f" (absent, so not clean: {absent})" if absent else "")


def _canary(scene: Scene) -> Canary:
    assert scene.case.canary is not None  # whoever scans builds its case with one
    return scene.case.canary
