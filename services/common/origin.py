"""Tells where this process has its code from (origin.proto; DESIGN §5, installed acceptance).

What is told is what the interpreter has loaded and what it can find, looked up at the call.
"""

import importlib.metadata
import importlib.util
import sys
from pathlib import Path

import grpc

from memqual.v1 import origin_pb2, origin_pb2_grpc

__all__ = ["SERVICE_NAME", "TELL_VARIABLE", "read_origin", "register"]

SERVICE_NAME = origin_pb2.DESCRIPTOR.services_by_name["OriginService"].full_name
TELL_VARIABLE = "MEMQUAL_TELL_ORIGIN"
_OWN_PACKAGES = ("memqual", "services")
# The testbed: what no part of the product may need, or even find.
_TESTBED_PACKAGES = ("chaos", "orchestrator", "tests", "tools")


def read_origin() -> origin_pb2.ReadOriginResponse:
    """The origin of this process's code."""
    answer = origin_pb2.ReadOriginResponse(
        search_path=sys.path,
        working_folder=str(Path.cwd()),
        distribution=_distribution(),
    )
    for name in sorted(sys.modules):
        top = name.partition(".")[0]
        file = getattr(sys.modules[name], "__file__", None)
        if top in (*_OWN_PACKAGES, *_TESTBED_PACKAGES) and file:
            answer.modules.add(name=name, file=file)
    for name in _TESTBED_PACKAGES:
        found = importlib.util.find_spec(name)
        if found is None:
            answer.absent.append(name)
        else:
            places = [found.origin, *(found.submodule_search_locations or ())]
            answer.present.add(name=name, file=str(next((one for one in places if one), "")))
    return answer


def register(server: grpc.Server) -> None:
    """Adds OriginService."""
    origin_pb2_grpc.add_OriginServiceServicer_to_server(_Handlers(), server)


class _Handlers(origin_pb2_grpc.OriginServiceServicer):
    def ReadOrigin(
        self, request: origin_pb2.ReadOriginRequest, context: grpc.ServicerContext
    ) -> origin_pb2.ReadOriginResponse:
        """Where this process has its code from."""
        return read_origin()


def _distribution() -> str:
    """Name and version of the installed distribution that this very file belongs to."""
    here = Path(__file__).resolve()
    for found in importlib.metadata.distributions():
        for file in found.files or ():
            if file.name == here.name and Path(str(found.locate_file(file))).resolve() == here:
                return f"{found.name}=={found.version}"
    return ""
