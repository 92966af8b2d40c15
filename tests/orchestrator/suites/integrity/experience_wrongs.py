"""Small memories that know circles and descent, and each break one rule."""

import grpc

from memqual.v1 import memory_pb2
from tests.orchestrator.suites.integrity.experience_memories import (
    CircledMemory,
    CountsByPrincipal,
)
from tests.orchestrator.suites.integrity.memories import Kept


class ShowsEveryPrincipal(CountsByPrincipal):
    """The same, and every principal sees all of a namespace."""

    def sees(self, scope: memory_pb2.Scope, kept: Kept) -> bool:
        return kept.observation.scope.namespace == scope.namespace


class KeepsTenTexts(CircledMemory):
    """Knows its last ten texts only."""

    def keep(self, kept: Kept) -> None:
        super().keep(kept)
        own = [one for one in self._of(kept.observation.scope.namespace) if one.authoritative]
        if len(own) > 10:
            own[0].authoritative = False


class AnswersWithEverything(CircledMemory):
    """Whatever is asked, the oldest records are the answer."""

    def answers(self, question: str, kept: Kept) -> bool:
        return True


class LosesEpisodes(CircledMemory):
    """Says that it keeps an episode, and shows it nowhere."""

    def sees(self, scope: memory_pb2.Scope, kept: Kept) -> bool:
        episode = kept.observation.kind == memory_pb2.RECORD_KIND_EPISODE
        return not episode and super().sees(scope, kept)


class FoldsCase(CircledMemory):
    """Takes two principals whose ids differ in case, or in their end, for one."""

    def sees(self, scope: memory_pb2.Scope, kept: Kept) -> bool:
        asked, own = memory_pb2.Scope(), kept.observation.scope
        asked.CopyFrom(scope)
        if scope.principal.lower()[:10] == own.principal.lower()[:10]:
            asked.principal = own.principal
        return super().sees(asked, kept)


class HidesWhatIsShared(CircledMemory):
    """What was written without a purpose is found without one only."""

    def sees(self, scope: memory_pb2.Scope, kept: Kept) -> bool:
        own = kept.observation.scope
        return own.purpose == scope.purpose and super().sees(scope, kept)


class ChangesTakeAll(CircledMemory):
    """Quarantine and Forget lower every record of the namespace."""

    def touched(self, record_id: str) -> list[str]:
        namespace = self.kept[record_id].observation.scope.namespace
        return [kept.record_id for kept in self._of(namespace)]


class RefusesDerivations(CircledMemory):
    """Declares that it tracks descent, and refuses every derivation."""

    def Derive(
        self, request: memory_pb2.DeriveRequest, context: grpc.ServicerContext
    ) -> memory_pb2.DeriveResponse:
        context.abort(grpc.StatusCode.FAILED_PRECONDITION, "no derivations")


class WithoutDerive(CircledMemory):
    """Declares that it tracks descent, and has no Derive."""

    def Derive(
        self, request: memory_pb2.DeriveRequest, context: grpc.ServicerContext
    ) -> memory_pb2.DeriveResponse:
        context.abort(grpc.StatusCode.UNIMPLEMENTED, "no such method")


class WithoutQuarantine(CircledMemory):
    """Has no way to take a record out of authority or to forget it."""

    def Quarantine(
        self, request: memory_pb2.QuarantineRequest, context: grpc.ServicerContext
    ) -> memory_pb2.QuarantineResponse:
        context.abort(grpc.StatusCode.UNIMPLEMENTED, "no such method")

    def Forget(
        self, request: memory_pb2.ForgetRequest, context: grpc.ServicerContext
    ) -> memory_pb2.ForgetResponse:
        context.abort(grpc.StatusCode.PERMISSION_DENIED, "operators only")
