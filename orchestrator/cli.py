"""The command `memqual`: one subcommand a job of a person (DESIGN §1).

Exit codes are those of DESIGN §7; an error prints what is wrong and what to do next.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from orchestrator.campaign.options import DEFAULT_SEED, QualifyOptions
from orchestrator.errors import MemqualError, UsageError
from orchestrator.model import Profile

__all__ = ["main"]

_SEED_MAX = 2**63 - 1
_STACKS_MAX = 4
_INTERRUPTED = 130
_COUNT_MAX = 1_000_000
_MINUTES_MAX = 24 * 60
# Fields of the measure's limits that a flag can set.
_STORY_LIMITS = {
    "vocabulary": "content words that two stories have in common (Jaccard)",
    "runs": "runs of five words that two stories have in common",
    "shapes": "sentences that are another story's but for content words",
    "question_shapes": "questions that are another story's but for content words",
    "openings": "turns that begin as another story's",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return its exit code.

    Args:
        arguments: Words after `memqual`; None takes the process's own.
    """
    parser = _parser()
    options = parser.parse_args(arguments)
    command: Callable[[argparse.Namespace], int] = options.command
    try:
        return command(options)
    except MemqualError as error:
        print(f"memqual: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("memqual: interrupted", file=sys.stderr)
        return _INTERRUPTED


def _qualify(options: argparse.Namespace) -> int:
    from orchestrator.campaign.runner import qualify

    if options.vendor and options.memory_image:
        raise UsageError(
            "VENDOR and MEMORY_IMAGE both name a memory.",
            next_step="Give one of them: a vendor.yaml, or name:tag of an image.",
        )
    return qualify(
        QualifyOptions(
            profile=Profile(options.profile),
            seed=options.seed,
            runtime=options.runtime,
            vendor=options.vendor,
            memory_image=options.memory_image,
            retail_store=options.retail_store,
            stories=options.stories,
            resume=options.resume,
            runs_folder=options.runs,
            base_image=options.base_image,
            stacks=options.stacks,
            json_progress=options.json_progress,
        )
    )


def _verify(options: argparse.Namespace) -> int:
    from orchestrator.evidence.verify import verify_bundle

    return verify_bundle(options.run)


def _rescore(options: argparse.Namespace) -> int:
    from orchestrator.evidence.rescore import rescore_bundle

    return rescore_bundle(options.run)


def _replay(options: argparse.Namespace) -> int:
    from orchestrator.campaign.replay import replay_trial

    return replay_trial(options.run, options.trial)


def _search(options: argparse.Namespace) -> int:
    from orchestrator.campaign.searching import SearchOptions, run_search

    return run_search(
        SearchOptions(
            vendor=options.vendor,
            memory_image=options.memory_image,
            runtime=options.runtime,
            runs_folder=options.runs,
            base_image=options.base_image,
            seed=options.seed,
            sequences=options.sequences,
            minutes=options.minutes,
            restarts=options.restarts,
            replay=options.replay,
        )
    )


def _explore(options: argparse.Namespace) -> int:
    from orchestrator.campaign.exploring import ExploreOptions, run_explore

    return run_explore(
        ExploreOptions(
            vendor=options.vendor,
            memory_image=options.memory_image,
            runtime=options.runtime,
            runs_folder=options.runs,
            base_image=options.base_image,
            seed=options.seed,
            minutes=options.minutes,
            schedules=options.schedules,
            finds=options.finds,
            replay=options.replay,
        )
    )


def _gc(options: argparse.Namespace) -> int:
    from orchestrator.campaign.housekeeping import collect_garbage

    return collect_garbage(options.run_id)


def _doctor(options: argparse.Namespace) -> int:
    from orchestrator.campaign.doctor import examine

    return examine(json_output=options.json)


def _bench(options: argparse.Namespace) -> int:
    from orchestrator.bench import run_benchmarks

    return run_benchmarks(options.only, large=options.large)


def _stories_lint(options: argparse.Namespace) -> int:
    from orchestrator.suites.narrative.commands import lint_stories

    return lint_stories(options.path, counts_only=options.counts_only, json_output=options.json)


def _stories_schema(_: argparse.Namespace) -> int:
    from orchestrator.suites.narrative.commands import print_schema

    return print_schema()


def _stories_measure(options: argparse.Namespace) -> int:
    from orchestrator.suites.narrative.commands import measure_stories
    from orchestrator.suites.narrative.measure import Limits

    given = {name: getattr(options, f"max_{name}") for name in _STORY_LIMITS}
    limits = Limits(**{name: value for name, value in given.items() if value is not None})
    return measure_stories(
        options.path, limits, counts_only=options.counts_only, json_output=options.json
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="memqual",
        description="Qualifies the persistent memory of tool-using agents.",
        epilog="Exit codes: 0 qualified, 1 not qualified, 2 wrong usage, 3 invalid, 4 incomplete.",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    qualify = commands.add_parser("qualify", help="qualify a memory and write a bundle")
    qualify.add_argument(
        "--profile", choices=[profile.value for profile in Profile], default=Profile.QUICK.value
    )
    qualify.add_argument("--seed", type=_seed, default=DEFAULT_SEED, help="root of all sub-seeds")
    qualify.add_argument("--runtime", choices=["auto", "docker", "process"], default="auto")
    qualify.add_argument("--vendor", type=Path, help="vendor.yaml of the memory")
    qualify.add_argument("--memory-image", help="name:tag of the memory's image")
    qualify.add_argument(
        "--retail-store",
        type=Path,
        default=os.environ.get("MEMQUAL_RETAIL_STORE") or None,
        help="the benchmark's db.json, for the paper profile and the retail tasks' writes "
        "(default: MEMQUAL_RETAIL_STORE)",
    )
    qualify.add_argument(
        "--stories", type=Path, help="folder of your own stories for the narrative cells"
    )
    qualify.add_argument("--resume", help="id of a run that was cut")
    qualify.add_argument("--runs", type=Path, default=Path("runs"), help="where bundles are made")
    qualify.add_argument("--base-image", help="base of our images, in place of Debian packages")
    qualify.add_argument("--stacks", type=int, choices=range(1, _STACKS_MAX + 1), default=2)
    qualify.add_argument("--json-progress", action="store_true", help="log lines, no live display")
    qualify.set_defaults(command=_qualify)

    verify = commands.add_parser("verify", help="check a bundle's hashes and journals offline")
    verify.add_argument("run", type=Path, help="run folder")
    verify.set_defaults(command=_verify)

    rescore = commands.add_parser("rescore", help="recompute every verdict from raw evidence")
    rescore.add_argument("run", type=Path, help="run folder")
    rescore.set_defaults(command=_rescore)

    replay = commands.add_parser("replay", help="repeat one trial's kill batch and compare")
    replay.add_argument("run", type=Path, help="run folder")
    replay.add_argument("--trial", required=True, help="trial id, as the report prints it")
    replay.set_defaults(command=_replay)

    search = commands.add_parser("search", help="hunt for calls that give doubt authority")
    search.add_argument("--vendor", type=Path, help="vendor.yaml of the memory")
    search.add_argument("--memory-image", help="name:tag of the memory's image")
    search.add_argument("--runtime", choices=["auto", "docker", "process"], default="auto")
    search.add_argument("--runs", type=Path, default=Path("runs"), help="where finds are kept")
    search.add_argument("--base-image", help="base of our images, in place of Debian packages")
    search.add_argument("--seed", type=_seed, default=DEFAULT_SEED, help="root of all draws")
    search.add_argument("--sequences", type=_count, default=2_000, help="end after so many")
    search.add_argument("--minutes", type=_minutes, default=10.0, help="end after so long")
    search.add_argument("--restarts", action="store_true", help="kill the memory now and then")
    search.add_argument("--replay", type=Path, help="play this case once, in place of a search")
    search.set_defaults(command=_search)

    _add_explore(commands)
    _add_stories(commands)

    gc = commands.add_parser("gc", help="remove what killed runs left behind")
    gc.add_argument("--run-id", help="everything of this run, alive or not")
    gc.set_defaults(command=_gc)

    doctor = commands.add_parser("doctor", help="say what this machine can run and what it lacks")
    doctor.add_argument("--json", action="store_true", help="as JSON")
    doctor.set_defaults(command=_doctor)

    bench = commands.add_parser("bench", help="measure what DESIGN §11 names")
    bench.add_argument("--only", action="append", default=[], help="one benchmark, repeatable")
    bench.add_argument(
        "--large",
        action="store_true",
        help="also at 100,000 operations and records and 1,000,000 trials; takes many minutes",
    )
    bench.set_defaults(command=_bench)
    return parser


def _add_explore(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    explore = commands.add_parser("explore", help="play random schedules of faults, shrink finds")
    explore.add_argument("--vendor", type=Path, help="vendor.yaml of the memory")
    explore.add_argument("--memory-image", help="name:tag of the memory's image")
    explore.add_argument("--runtime", choices=["auto", "docker", "process"], default="auto")
    explore.add_argument("--runs", type=Path, default=Path("runs"), help="where finds are kept")
    explore.add_argument("--base-image", help="base of our images, in place of Debian packages")
    explore.add_argument("--seed", type=_seed, default=DEFAULT_SEED, help="root of all draws")
    explore.add_argument("--minutes", type=_minutes, default=10.0, help="end after so long")
    explore.add_argument("--schedules", type=_count, help="end after so many schedules")
    explore.add_argument("--finds", type=_count, default=8, help="end after so many finds")
    explore.add_argument("--replay", type=Path, help="play this case once, in place of exploring")
    explore.set_defaults(command=_explore)


def _add_stories(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    stories = commands.add_parser("stories", help="check stories of the narrative axis")
    actions = stories.add_subparsers(required=True, metavar="ACTION")
    lint = actions.add_parser("lint", help="say what is wrong, with file and line")
    lint.set_defaults(command=_stories_lint)
    schema = actions.add_parser("schema", help="print the JSON Schema of a story")
    schema.set_defaults(command=_stories_schema)
    measure = actions.add_parser("measure", help="say how alike stories are, and how sound")
    measure.set_defaults(command=_stories_measure)
    for name, what in _STORY_LIMITS.items():
        flag = f"--max-{name.replace('_', '-')}"
        measure.add_argument(flag, type=_share, metavar="SHARE", help=f"limit: {what}")
    for action in (lint, measure):
        action.add_argument("path", type=Path, nargs="+", help="story files, or folders of them")
        action.add_argument("--json", action="store_true", help="as JSON")
        action.add_argument(
            "--counts-only", action="store_true", help="figures, and nothing of what stories say"
        )


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no number") from None
    if not 0 <= share <= 1:
        raise argparse.ArgumentTypeError("a share is 0..1")
    return share


def _seed(text: str) -> int:
    try:
        seed = int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number") from None
    if not 0 <= seed <= _SEED_MAX:
        raise argparse.ArgumentTypeError(f"a seed is 0..{_SEED_MAX}")
    return seed


def _count(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= _COUNT_MAX:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number of 1..{_COUNT_MAX}")
    return int(text)


def _minutes(text: str) -> float:
    try:
        minutes = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no number") from None
    if not 0 < minutes <= _MINUTES_MAX:
        raise argparse.ArgumentTypeError(f"a search takes more than 0 and {_MINUTES_MAX} at most")
    return minutes


if __name__ == "__main__":
    sys.exit(main())
