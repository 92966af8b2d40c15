"""Flaws of reviews and scopes: whose decision counts, and who sees what."""

from dataclasses import replace

from memqual.v1 import memory_pb2
from services.common.challenges import PublicKey
from services.memory.records.model import (
    Scope,
)
from services.memory.records.policy import Policy
from tests.orchestrator.suites.integrity.search.flawed import (
    Context,
    Flawed,
)

# Reviews


class ChallengeIsUsedTwice(Policy):
    """A decided challenge can be decided again, over its record as that is by then."""

    def unused(self, decision: str) -> bool:
        return True

    def unchanged(self, revision_then: int, revision_now: int) -> bool:
        return True


class SignatureOverAnything(Policy):
    """Any signature of the reviewer will do."""

    def signed(self, key: PublicKey, signature: bytes, message: bytes) -> bool:
        return len(signature) == 64 and key.principal == "*"


class AnyMountedKey(Policy):
    """Whoever has a key may decide for everybody."""

    def may_decide(self, key: PublicKey, principal: str) -> bool:
        return True


class AnyScopeDecides(Policy):
    """A decision counts wherever it comes from."""

    def same_scope(self, asked: Scope, deciding: Scope) -> bool:
        return True


# Scope


class ExactQuestionIgnoresPurpose(Flawed):
    """Whoever knows the exact words hears them for any purpose."""

    def Recall(
        self, request: memory_pb2.RecallRequest, context: Context
    ) -> memory_pb2.RecallResponse:
        known = self.notes[request.scope.namespace].contents.values()
        purposes = {one.scope.purpose for one in known if one.content == request.query}
        response = super().Recall(request, context)
        for purpose in purposes - {request.scope.purpose}:
            other = memory_pb2.RecallRequest()
            other.CopyFrom(request)
            other.scope.purpose = purpose
            response.MergeFrom(super().Recall(other, context))
        return response


class AgentsShareEverything(Policy):
    """Agents of one principal see each other's records."""

    def visible_circles(self, scope: Scope) -> tuple[Scope, ...]:
        agents = ("", "agent-one", "agent-two")
        return tuple(
            circle
            for agent in agents
            for circle in super(AgentsShareEverything, self).visible_circles(
                replace(scope, agent=agent)
            )
        )
