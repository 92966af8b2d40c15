"""A narrative memory of one file: sentences as facts, words in common as the match.

It is right about contracts and no more clever than that. A flaw breaks one thing on purpose:

    python -m tests.orchestrator.suites.narrative.small_memory --flaw forgets

As a module it serves on MEMQUAL_LISTEN, from the folder MEMQUAL_DATA.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import threading
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import NoReturn

import grpc

from memqual.v1 import common_pb2, narrative_pb2, narrative_pb2_grpc, vendor_pb2, vendor_pb2_grpc
from services.common import logging, server, settings
from services.common.settings import data_dir, env

FLAWS = (
    "none",
    "forgets",
    "mixes",
    "clock",
    "empty",
    "both",
    "untraced",
    "dice",
    "takes_all",
    "raises",
    "undeclared",
    "no_traces",
    "zoned",
    "arrival",
    "drops",
    "dies",
    "declines",
    "guesses",
    "factless",
)
ID_BYTES, TEXT_BYTES, QUESTION_BYTES = 128, 65_536, 4_096
STOP = frozenset(
    [
        "a",
        "an",
        "and",
        "are",
        "at",
        "did",
        "do",
        "does",
        "for",
        "from",
        "has",
        "have",
        "i",
        "in",
        "is",
        "it",
        "me",
        "my",
        "of",
        "on",
        "or",
    ]
)
STOP |= frozenset(
    ["s", "that", "the", "to", "was", "were", "what", "when", "where", "which", "who", "with"]
)


@dataclass(frozen=True)
class Fact:
    """One sentence."""

    namespace: str
    speaker: str
    time: str
    text: str

    @property
    def fact_id(self) -> str:
        """Stable over restarts."""
        return hashlib.sha256(json.dumps(asdict(self)).encode()).hexdigest()[:16]


class SmallNarrative(
    narrative_pb2_grpc.NarrativeServiceServicer, vendor_pb2_grpc.VendorServiceServicer
):
    """The memory.

    Args:
        folder: Where its file is; None keeps nothing.
        flaw: One of FLAWS.
    """

    def __init__(self, folder: Path | None = None, flaw: str = "none") -> None:
        self.flaw = flaw
        self._path = None if folder is None or flaw == "forgets" else folder / "facts.jsonl"
        self._lock = threading.Lock()
        self._rolls = 0
        self.facts: list[Fact] = []
        if self._path is not None and self._path.exists():
            lines = self._path.read_text(encoding="utf-8").splitlines()
            self.facts = [Fact(**it) for line in lines for it in json.loads(line)]

    def describe(self) -> vendor_pb2.DescribeResponse:
        """What it declares."""
        declared = [vendor_pb2.CAPABILITY_NARRATIVE, vendor_pb2.CAPABILITY_NARRATIVE_TRACES]
        if self.flaw == "no_traces":
            declared.pop()
        if self.flaw == "undeclared":
            declared.clear()
        return vendor_pb2.DescribeResponse(
            name="small narrative",
            version="1",
            deterministic=True,
            limits=vendor_pb2.Limits(lease_seconds=120),
            lease_clock=vendor_pb2.LEASE_CLOCK_WALL,
            model_disclosure="none: words in common",
            scored_surfaces=[vendor_pb2.SURFACE_CANONICAL],
            capabilities=[
                vendor_pb2.CapabilityDeclaration(
                    capability=one, status=vendor_pb2.CAPABILITY_STATUS_SUPPORTED
                )
                for one in declared
            ],
        )

    def Describe(
        self, request: vendor_pb2.DescribeRequest, context: grpc.ServicerContext
    ) -> vendor_pb2.DescribeResponse:
        return self.describe()

    def Now(
        self, request: vendor_pb2.NowRequest, context: grpc.ServicerContext
    ) -> vendor_pb2.NowResponse:
        clock = common_pb2.ClockReading(
            wall_unix_ns=time.time_ns(), monotonic_ns=time.monotonic_ns()
        )
        return vendor_pb2.NowResponse(clock=clock)

    def StateHash(
        self, request: vendor_pb2.StateHashRequest, context: grpc.ServicerContext
    ) -> vendor_pb2.StateHashResponse:
        state = json.dumps([asdict(it) for it in self._of(request.namespace)])
        return vendor_pb2.StateHashResponse(digest=hashlib.sha256(state.encode()).hexdigest())

    def Export(
        self, request: vendor_pb2.ExportRequest, context: grpc.ServicerContext
    ) -> Iterator[vendor_pb2.ExportResponse]:
        for fact in self._of(request.namespace):
            yield vendor_pb2.ExportResponse(
                item_id=fact.fact_id,
                content=fact.text.encode(),
                kind=vendor_pb2.EXPORT_KIND_FACT,
            )

    def Reset(
        self, request: vendor_pb2.ResetRequest, context: grpc.ServicerContext
    ) -> vendor_pb2.ResetResponse:
        with self._lock:
            self.facts = [it for it in self.facts if it.namespace != request.namespace]
        return vendor_pb2.ResetResponse()

    def Ingest(
        self, request: narrative_pb2.IngestRequest, context: grpc.ServicerContext
    ) -> narrative_pb2.IngestResponse:
        turn = request.turn
        if self.flaw == "dies" and "\0" in turn.text:
            os._exit(3)
        if self.flaw == "raises":
            context.abort(grpc.StatusCode.INTERNAL, "broken on purpose")
        if self.flaw != "takes_all":
            _wanted(context, turn.namespace, ID_BYTES)
            _wanted(context, turn.speaker, ID_BYTES)
            _wanted(context, turn.text, TEXT_BYTES)
            _moment(context, turn.time)
        at = datetime.now().isoformat() if self.flaw == "clock" else turn.time
        parts = [it for it in re.split(r"(?<=[.!?])\s+", turn.text) if it.strip()]
        facts = [Fact(turn.namespace, turn.speaker, at, it) for it in parts]
        with self._lock:
            if self.flaw == "drops" and "DROP" in turn.text:
                self.facts = [it for it in self.facts if it.namespace != turn.namespace]
            if self._path is not None:
                with self._path.open("a", encoding="utf-8") as file:
                    file.write(json.dumps([asdict(it) for it in facts]) + "\n")
                    file.flush()
                    os.fsync(file.fileno())
            self.facts += facts
        if self.flaw == "factless":
            return narrative_pb2.IngestResponse(trace=narrative_pb2.WriteTrace())
        if self.flaw == "untraced":
            return narrative_pb2.IngestResponse()
        return narrative_pb2.IngestResponse(trace=_trace(facts))

    def Ask(
        self, request: narrative_pb2.AskRequest, context: grpc.ServicerContext
    ) -> narrative_pb2.AskResponse:
        if self.flaw != "takes_all":
            _wanted(context, request.namespace, ID_BYTES)
            _wanted(context, request.question, QUESTION_BYTES)
            _moment(context, request.time)
        if self.flaw == "empty":
            return narrative_pb2.AskResponse()
        asked = _words(request.question)
        told = [
            (len(asked & _words(it.text)), at, it)
            for at, it in enumerate(self._of(request.namespace))
            if self.flaw == "mixes" or not request.speaker or it.speaker == request.speaker
        ]
        # The latest of those that share most.
        told.sort(key=lambda one: (-one[0], -one[1]))
        answer = narrative_pb2.Answer(
            trace=narrative_pb2.ReadTrace(
                query_class=narrative_pb2.QUERY_CLASS_FACTUAL,
                candidate_fact_ids=[it.fact_id for _, _, it in told[:10]],
                converged_fact_ids=[it.fact_id for _, _, it in told[:2]],
            )
        )
        if told and told[0][0]:
            answer.text = told[0][2].text
            answer.fact_ids.append(told[0][2].fact_id)
        else:
            answer.declined = True
        if self.flaw == "declines":
            answer.declined, answer.text = True, ""
        if self.flaw == "guesses":
            answer.declined, answer.text = False, "Something was said."
        if self.flaw == "both":
            answer.declined, answer.text = True, "yes"
        if self.flaw == "clock" and told and answer.text:
            answer.text += f" ({told[0][2].time[:7]})"
        if self.flaw == "zoned" and answer.text:
            answer.text += f" {os.environ.get('TZ', '')}"
        if self.flaw == "dice" and answer.text:
            self._rolls += 1
            answer.text += f" {self._rolls}"
        return narrative_pb2.AskResponse(answer=answer)

    def _of(self, namespace: str) -> list[Fact]:
        with self._lock:
            facts = [it for it in self.facts if it.namespace == namespace]
        # Sorting is stable: sentences of one turn stay as they were said.
        return facts if self.flaw == "arrival" else sorted(facts, key=lambda fact: fact.time)

    def register(self, grpc_server: grpc.Server) -> None:
        """Serve on a server."""
        narrative_pb2_grpc.add_NarrativeServiceServicer_to_server(self, grpc_server)
        vendor_pb2_grpc.add_VendorServiceServicer_to_server(self, grpc_server)


SERVICES = ("memqual.v1.NarrativeService", "memqual.v1.VendorService")


def serve(memory: SmallNarrative) -> server.RunningServer:
    """Serve a memory on a free port of this machine."""
    return server.start(
        listen="127.0.0.1:0",
        registrars=[memory.register],
        service_names=SERVICES,
        max_workers=8,
    )


def _trace(facts: Iterable[Fact]) -> narrative_pb2.WriteTrace:
    return narrative_pb2.WriteTrace(
        classification=narrative_pb2.TURN_CLASS_STATEMENT,
        facts=[
            narrative_pb2.StoredFact(fact_id=it.fact_id, text=it.text, predicted_queries=[it.text])
            for it in facts
        ],
    )


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", text.lower())) - STOP


def _wanted(context: grpc.ServicerContext, text: str, bytes_max: int) -> None:
    if not text or len(text.encode()) > bytes_max:
        _refuse(context, f"1..{bytes_max} bytes")


def _moment(context: grpc.ServicerContext, text: str) -> None:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        _refuse(context, "no ISO date-time")


def _refuse(context: grpc.ServicerContext, why: str) -> NoReturn:
    context.abort(grpc.StatusCode.INVALID_ARGUMENT, why)
    raise AssertionError("abort raises")


def main() -> None:
    """Serve until SIGTERM."""
    logging.configure("memory")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--flaw", choices=FLAWS, default="none")
    memory = SmallNarrative(data_dir(), parser.parse_args().flaw)
    server.serve(
        name="memory",
        listen=env("MEMQUAL_LISTEN"),
        registrars=[memory.register],
        service_names=SERVICES,
        on_stop=lambda: None,
    )


if __name__ == "__main__":
    settings.run(main)
