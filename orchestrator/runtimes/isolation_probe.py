"""Runs inside the memory's network namespace and tries what the memory must not be able to do.

The text of this file is handed to a Python in one of memqual's own images, so it needs nothing but
the standard library. Its first argument is a JSON list of attempts, its output a JSON list of what
came of them, in order: ``[["tcp", "10.0.0.1", 7000], ["name", "agent", 0], ["ipv6", "", 0]]`` gives
``["refused", "ECONNREFUSED"]`` and so on.
"""

import errno
import json
import socket
import sys
from concurrent.futures import ThreadPoolExecutor

# Much longer than the kernel tries to find a neighbour (3 s): "no such neighbour" is told from "no
# answer" on a busy machine, too.
CONNECT_TIMEOUT_SECONDS = 10.0
ATTEMPTS_AT_ONCE = 64


def try_tcp(host: str, port: int) -> tuple[str, str]:
    """Connects: connected, refused (something answered), no-route, no-name or silent."""
    try:
        socket.create_connection((host, port), CONNECT_TIMEOUT_SECONDS).close()
    except socket.gaierror as error:
        return "no-name", str(error)
    except ConnectionError as error:
        return "refused", errno.errorcode.get(error.errno or 0, str(error))
    except TimeoutError:
        return "silent", f"no answer within {CONNECT_TIMEOUT_SECONDS:g} s"
    except OSError as error:
        return "no-route", errno.errorcode.get(error.errno or 0, str(error))
    return "connected", "connected"


def try_name(host: str) -> tuple[str, str]:
    """Looks up: resolved, denied (somebody knows that there is none) or no-answer."""
    try:
        found = socket.getaddrinfo(host, None)
    except socket.gaierror as error:
        answered = error.errno in (socket.EAI_NONAME, getattr(socket, "EAI_NODATA", None))
        return ("denied" if answered else "no-answer"), str(error)
    return "resolved", str(found[0][4][0])


def try_ipv6() -> tuple[str, str]:
    """Looks for an IPv6 address beside loopback: present or absent."""
    try:
        with open("/proc/net/if_inet6", encoding="ascii") as file:
            names = {line.split()[-1] for line in file} - {"lo"}
    except OSError:
        names = set()
    return ("present", ", ".join(sorted(names))) if names else ("absent", "loopback only")


def attempt(entry: tuple[str, str, int]) -> tuple[str, str]:
    """Makes one attempt."""
    kind, host, port = entry
    if kind == "tcp":
        return try_tcp(host, port)
    if kind == "name":
        return try_name(host)
    return try_ipv6()


def main() -> None:
    """Prints the results of all attempts."""
    entries = json.loads(sys.argv[1])
    with ThreadPoolExecutor(ATTEMPTS_AT_ONCE) as pool:
        print(json.dumps(list(pool.map(attempt, entries))))


if __name__ == "__main__":
    main()
