"""Plays of `families.paper_acceptance`: the installed product publishes, dies and takes over."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import PurePath

from chaos.installed_receipt import InstalledReceipt, ServiceOrigin, WheelProof
from memqual.v1 import origin_pb2
from orchestrator.errors import StackError
from orchestrator.model import ExpiryMode
from orchestrator.runtimes.product import CONTAINER_FOLDER, Product
from orchestrator.suites.continuity.documents import content_of, document_workflow
from orchestrator.suites.continuity.ingestion import strangers_are_refused, tell_events
from orchestrator.suites.continuity.plays.host_kill import kill_host_at
from orchestrator.suites.continuity.stage import Stage
from services.common.canonical import JsonValue

__all__ = ["DOCUMENTS_MARK", "PLAYS"]

DOCUMENTS_MARK = "published_documents"
_TARGETS = {
    "agent": "agent-audit",
    "standby": "standby-audit",
    "destination": "destination-audit",
    "observer": "observer-audit",
    "memory": "memory",
}
_TESTBED = ("chaos", "orchestrator", "tests", "tools")


def _receipt_durable(stage: Stage) -> None:
    _accept(stage, "before_checkpoint")


def _effect_unreported(stage: Stage) -> None:
    _accept(stage, "after_commit")


def _accept(stage: Stage, window_name: str) -> None:
    # A host that an earlier batch killed may still be on its way up, and must tell, too.
    stage.do("standby", stage.await_standby)
    stage.do("installed", lambda: stage.keep(_installed(stage)))
    stage.do("strangers", lambda: strangers_are_refused(stage))
    killed = kill_host_at(stage, window_name, lambda: _start(stage))
    stage.do("take_over", lambda: stage.take_over(killed))
    stage.do("live", lambda: stage.settle("live"))
    if stage.cell.expiry is not ExpiryMode.NONE:
        stage.do("expire", stage.reach_lease_end)
        stage.do(
            "resume",
            lambda: stage.wake_until_settled("expired", stage.wakes_for_declared_bound()),
        )
    stage.do("documents", lambda: _tell_documents(stage))
    stage.do("events", lambda: tell_events(stage))


def _start(stage: Stage) -> None:
    run_id = stage.context.run_id
    stage.rig.start([document_workflow(member, run_id) for member in stage.batch.members])


def _installed(stage: Stage) -> InstalledReceipt:
    """What each process of the product tells of its own code."""
    product = stage.context.stack.spec.product
    if product is None:
        raise StackError(
            "The stack's services do not run from a wheel.",
            next_step="Play this case on a stack of the variant `installed`.",
        )
    # An adapter of a vendor is the vendor's, and may tell nothing.
    vendor = stage.context.stack.spec.vendor
    own_memory = vendor is None or vendor.recipe in ("memory", "control")
    names = tuple(name for name in _TARGETS if name != "memory" or own_memory)
    origins = tuple(
        _origin(
            name,
            stage.context.session.origin_of(_TARGETS[name]).ReadOrigin(
                origin_pb2.ReadOriginRequest()
            ),
            product,
        )
        for name in names
    )
    wheel = WheelProof(
        name=product.wheel.name, version=product.wheel.version, sha256=product.wheel.sha256
    )
    return InstalledReceipt(wheel=wheel, expected=names, forbidden=_TESTBED, origins=origins)


def _origin(name: str, told: origin_pb2.ReadOriginResponse, product: Product) -> ServiceOrigin:
    own = [one for one in told.modules if one.name.partition(".")[0] not in _TESTBED]
    loaded = [one for one in told.modules if one.name.partition(".")[0] in _TESTBED]
    roots = (PurePath(product.code), PurePath(CONTAINER_FOLDER))
    return ServiceOrigin(
        service=name,
        distribution=told.distribution,
        modules=len(own),
        elsewhere=tuple(
            one.file
            for one in own
            if not any(PurePath(one.file).is_relative_to(root) for root in roots)
        ),
        testbed_found=tuple(f"{one.name} in {one.file}" for one in (*told.present, *loaded)),
        testbed_refused=tuple(told.absent),
        search_path=tuple(told.search_path),
        working_folder=told.working_folder,
    )


def _tell_documents(stage: Stage) -> None:
    """How often each document's bytes lie on the destination's volume now."""
    volume = b"".join(stage.context.stack.volume_bytes("destination"))
    found: dict[str, JsonValue] = {
        member.workflow_id: volume.count(content_of(member).encode())
        for member in stage.batch.members
    }
    stage.interposer.mark({"kind": DOCUMENTS_MARK, "copies": found})


PLAYS: Mapping[str, Callable[[Stage], None]] = {
    "paper_acceptance.receipt_durable": _receipt_durable,
    "paper_acceptance.effect_unreported": _effect_unreported,
}
