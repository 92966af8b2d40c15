"""claims.json: what a reader may conclude from a run, what not, and what nobody may (DESIGN §8)."""

from __future__ import annotations

from orchestrator.evidence.manifest import Manifest
from orchestrator.model import Frozen, RunVerdict
from orchestrator.report.declared import is_assisted
from orchestrator.report.narrative_words import narrative_claims
from orchestrator.scoring.run import Aggregate

__all__ = ["Claims", "claims_of"]


class Claims(Frozen):
    """Sentences, each bounded by what was run."""

    supported: tuple[str, ...]
    not_supported: tuple[str, ...]
    prohibited: tuple[str, ...]


def claims_of(manifest: Manifest, result: Aggregate) -> Claims:
    """Derive the claims of a run from its aggregate."""
    subject = f"{manifest.subject_name} {manifest.subject_version}".strip()
    conclusive = result.verdict in (RunVerdict.QUALIFIED, RunVerdict.QUALIFIED_WITH_GAPS)
    supported: list[str] = []
    not_supported: list[str] = []
    for name, rate in result.rates.items():
        sentence = f"{subject}, {name}, profile {manifest.profile}: {rate.text} trials passed."
        (supported if rate.denominator else not_supported).append(sentence)
    for measured in result.integrity_rates:
        name = f"{measured.name} ({measured.title})"
        sentence = f"{subject}, {name}, profile {manifest.profile}: {measured.words}."
        (supported if measured.evaluated else not_supported).append(sentence)
    assisted = is_assisted(manifest.describe_json)
    for claim in narrative_claims(result.narrative, assisted=assisted):
        carried = claim.carried and not manifest.stories_own
        sentence = f"{subject}, narrative level {claim.sentence}."
        (supported if carried else not_supported).append(sentence)
    verdict = f"{subject} is {result.verdict.value} under profile {manifest.profile}."
    (supported if conclusive else not_supported).append(verdict)
    not_supported += [
        "Durability against loss of power: SIGKILL keeps the page cache.",
        "The authorship of this bundle: it is not signed and claims consistency only.",
    ]
    if result.integrity_rates:
        not_supported.append(
            "That integrity checks labelled vendor-reported are true of what the memory really "
            "holds: they rest on its own answers."
        )
    if result.narrative:
        not_supported.append(
            "Levels of ATANT's own corpus: these are of memqual's, or of the stories that were "
            "given."
        )
        not_supported.append(
            "That checkpoints 1 to 7, 9 and 10 are true of how the memory works: they rest on its "
            "own traces."
        )
    if manifest.runtime == "process":
        not_supported.append("Isolation of the memory: local processes share one machine.")
    return Claims(
        supported=tuple(supported),
        not_supported=tuple(not_supported),
        prohibited=(
            "A confidence interval over operations: those of one kill are not independent.",
            "A sum over different evidence classes or over cells that differ.",
            "A claim about cells that were not scheduled, were N/R, or were ERROR.",
        ),
    )
