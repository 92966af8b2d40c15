"""A context over a real stack of local processes, for what concerns the whole memory."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import cast

from chaos.client import InterposerClient
from memqual.v1 import vendor_pb2
from orchestrator.campaign.jobs import StackContext, StackProgress
from orchestrator.campaign.sink import Sink
from orchestrator.plan import VENDOR
from orchestrator.runtimes.base import StackSpec
from orchestrator.runtimes.process_runtime import ProcessRuntime
from orchestrator.session import Session
from orchestrator.suites.integrity.reviewer import Reviewer
from orchestrator.vendors import VendorConfig
from tests.orchestrator.suites.integrity.contexts import Health, Kept, Rig


@contextmanager
def process_rig(
    folder: Path, reviewer: Reviewer, vendor: VendorConfig | None = None
) -> Iterator[Rig]:
    """A whole stack whose memory knows the reviewer; its clock can be set where that works.

    Args:
        folder: Folder for logs and keys.
        reviewer: The run's reviewer.
        vendor: The memory, None for the reference.
    """
    keys = folder / "reviewer-keys.json"
    keys.write_text(reviewer.public_keys_json())
    run_id = f"t{secrets.token_hex(5)}"
    spec = StackSpec(
        run_id=run_id,
        stack_id="s0",
        folder=folder,
        vendor=vendor,
        reviewer_keys=keys,
        clock_skew=True,
    )
    stack = ProcessRuntime().start(spec)
    try:
        session = Session(stack.control_address, stack.control_token, run_id)
        try:
            kept = Kept()
            context = StackContext(
                run_id=run_id,
                subject=VENDOR,
                stack=stack,
                session=session,
                interposer=InterposerClient(session.channel, stack.control_token),
                describe=session.memory.vendor.Describe(vendor_pb2.DescribeRequest(), timeout=10),
                progress=StackProgress(),
                skew=stack.service("memory").clock_folder is not None,
                sink=cast(Sink, kept),
            )
            yield Rig(context, kept, Health())
        finally:
            session.close()
    finally:
        stack.close()
