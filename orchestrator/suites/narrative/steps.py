"""The calls of narrative scripts: telling and asking, each held against the contract.

Generators to be used with `yield from`, as those of the integrity axis (`integrity.steps`).
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass

from memqual.v1 import narrative_pb2, vendor_pb2
from orchestrator.suites.integrity.calls import Answer, Ask, ContractBreach
from orchestrator.suites.integrity.steps import call, response_of
from orchestrator.suites.narrative.checkpoints import (
    CANDIDATES_COUNTED,
    Checkpoint,
    answer_points,
    nothing_predicted,
    predicted_point,
    reading_points,
    storage_points,
    writing_points,
)
from orchestrator.suites.narrative.raw_turns import without_raw_turns
from orchestrator.suites.narrative.scene import Scene
from orchestrator.suites.narrative.stories import Batch, Question, Story

__all__ = [
    "Said",
    "answers",
    "ask",
    "ask_question",
    "ask_questions",
    "ingest_request",
    "look_into_storage",
    "note_undisturbed",
    "owe_inside",
    "predicted",
    "request_of",
    "said_of",
    "tell",
]

CANDIDATES_MAX = 100
PREDICTED_FACTS_MAX = 5
PREDICTED_QUERIES_MAX = 3
STORAGE, PREDICTION = "storage", "prediction"


@dataclass(frozen=True)
class Said:
    """An answer as two of them are compared.

    Attributes:
        text: Its text.
        declined: Whether there was none.
        right: Whether it is right by the reading of CP8 that decides for its story.
        found: Whether it holds all that was expected; None where nothing is.
    """

    text: str
    declined: bool
    right: bool
    found: bool | None = None

    def agrees(self, other: Said, *, deterministic: bool) -> bool:
        """Whether two answers are the same; a memory that claims no more need only be as right."""
        if deterministic:
            return (self.text, self.declined) == (other.text, other.declined)
        return self.right == other.right


def ingest_request(namespace: str, story: Story, batch: Batch) -> narrative_pb2.IngestRequest:
    """The request that tells one turn."""
    turn = narrative_pb2.Turn(
        namespace=namespace, speaker=story.speaker, time=batch.time, text=batch.user_input
    )
    return narrative_pb2.IngestRequest(turn=turn)


def tell(
    scene: Scene, story: Story, namespace: str, *, batches: Iterable[Batch] | None = None
) -> Generator[Ask, Answer, tuple[narrative_pb2.StoredFact, ...]]:
    """Tell a story's turns in order; what the memory makes of the trial's own is gauged.

    Args:
        scene: The trial.
        story: The story.
        namespace: Where to.
        batches: Which of its turns; None: all of them.

    Returns:
        The facts that the memory told of.

    Raises:
        ContractBreach: A turn was not taken, or its trace is missing.
    """
    facts: list[narrative_pb2.StoredFact] = []
    gauged = scene.traced and namespace == scene.namespace and story is scene.story
    if gauged:
        for batch in story.batches:
            owed = writing_points(batch, narrative_pb2.WriteTrace())
            scene.gauge.owe(f"turn {batch.batch}", owed)
    for batch in story.batches if batches is None else batches:
        step = f"tell.{namespace[-2:]}.{story.story_id}.{batch.batch}"
        answer = yield from call(step, ingest_request(namespace, story, batch))
        response = response_of(step, answer, narrative_pb2.IngestResponse)
        if not scene.traced:
            continue
        if not response.HasField("trace"):
            raise ContractBreach(step, "declares narrative_traces and gives no trace")
        facts.extend(response.trace.facts)
        scene.facts.add(namespace, response.trace.facts, story.speaker)
        if gauged:
            scene.gauge.note(writing_points(batch, response.trace), f"turn {batch.batch}")
    return tuple(facts)


def ask(
    step: str, scene: Scene, request: narrative_pb2.AskRequest
) -> Generator[Ask, Answer, narrative_pb2.Answer]:
    """Ask one question.

    Args:
        step: Where in the script.
        scene: The trial.
        request: The question.

    Raises:
        ContractBreach: The answer is neither a text nor declined, or is both, or lacks its trace.
    """
    given = yield from call(step, request)
    answer = response_of(step, given, narrative_pb2.AskResponse).answer
    if answer.declined and answer.text:
        raise ContractBreach(step, "an answer that is declined and has a text")
    if not answer.declined and not answer.text.strip():
        raise ContractBreach(step, "an answer that is neither a text nor declined")
    if scene.traced and not answer.HasField("trace"):
        raise ContractBreach(step, "declares narrative_traces and gives no trace")
    if len(answer.trace.candidate_fact_ids) > CANDIDATES_MAX:
        raise ContractBreach(step, f"more than {CANDIDATES_MAX} candidates")
    return answer


def request_of(
    story: Story, namespace: str, question: str, *, scoped: bool = True
) -> narrative_pb2.AskRequest:
    """A question at the time of a story's last turn.

    Args:
        story: Whose narrator asks.
        namespace: Whom.
        question: The question.
        scoped: The speaker is given; else it is asked across all speakers.
    """
    return narrative_pb2.AskRequest(
        namespace=namespace,
        question=question,
        speaker=story.speaker if scoped else "",
        time=story.batches[-1].time,
    )


def ask_question(
    scene: Scene, question: Question, *, scoped: bool = True
) -> Generator[Ask, Answer, narrative_pb2.Answer | None]:
    """Ask one question of the trial's story and gauge the answer.

    Returns:
        The answer; None for a question that cannot be asked without a speaker.
    """
    story = scene.story
    text = question.question if scoped else question.question_open
    if text is None:
        return None
    request = request_of(story, scene.namespace, text, scoped=scoped)
    answer = yield from ask(f"ask.{question.question_id}", scene, request)
    facts = scene.facts.of(scene.namespace)
    own = scene.facts.by(scene.namespace, story.speaker)
    read = reading_points(story, question, answer.trace, facts, own) if scene.traced else ()
    # Asked by the speaker, nothing of others may appear; asked by nobody, it may.
    foreign = scene.speakers.given_away(story, text, answer.text) if scoped else ()
    scene.gauge.asked(question, (*read, *answer_points(question, answer, foreign)))
    return answer


def ask_questions(
    scene: Scene, questions: Sequence[Question], *, scoped: bool = True
) -> Generator[Ask, Answer, None]:
    """Ask several questions and gauge the answers."""
    for question in questions:
        yield from ask_question(scene, question, scoped=scoped)


def answers(phase: str, scene: Scene, namespace: str) -> Generator[Ask, Answer, tuple[Said, ...]]:
    """Ask all questions of the trial's story, for a comparison.

    Args:
        phase: Begins the names of the steps.
        scene: The trial.
        namespace: Whom.
    """
    said: list[Said] = []
    story = scene.story
    for question in story.questions:
        request = request_of(story, namespace, question.question)
        answer = yield from ask(f"{phase}.{question.question_id}", scene, request)
        said.append(said_of(story, question, answer))
    return tuple(said)


def said_of(story: Story, question: Question, answer: narrative_pb2.Answer) -> Said:
    """An answer to a question of a story, as it is compared and counted."""
    held = {point.checkpoint: point.held for point in answer_points(question, answer)}
    found = held[Checkpoint.PUBLISHED] if question.expected_contains else None
    return Said(answer.text, answer.declined, held[story.decided_by], found)


def note_undisturbed(scene: Scene, said: Iterable[Said]) -> None:
    """Count answers that nothing was in the way of, for the check that there are any."""
    for one in said:
        if one.found is not None:
            scene.tally.add(declined=one.declined, found=one.found)


def look_into_storage(scene: Scene) -> Generator[Ask, Answer, None]:
    """CP2: read every scored surface, leave raw turns out, and look for what must be stored."""
    items: list[str] = []
    for surface in scene.declared.surfaces:
        request = vendor_pb2.ExportRequest(namespace=scene.namespace, surface=surface)
        step = f"export.{vendor_pb2.Surface.Name(surface).removeprefix('SURFACE_').lower()}"
        answer = yield from call(step, request)
        if answer.overflow:
            raise ContractBreach(step, f"the stream does not end: {answer.details}")
        items += _items(answer)
    turns = [batch.user_input for batch in scene.story.batches]
    stored = without_raw_turns(items, turns)
    points = (point for batch in scene.story.batches for point in storage_points(batch, stored))
    scene.gauge.note(points, STORAGE)


def owe_inside(scene: Scene) -> None:
    """What a level looks for inside a memory is owed from the first turn on."""
    if not scene.case.together:
        batches = scene.story.batches
        scene.gauge.owe(STORAGE, (one for batch in batches for one in storage_points(batch, ())))
    scene.gauge.owe(PREDICTION, nothing_predicted(scene.story))


def predicted(
    scene: Scene, facts: Sequence[narrative_pb2.StoredFact]
) -> Generator[Ask, Answer, None]:
    """CP3: ask the predicted queries of some facts; one of each has to find its fact.

    The facts are spread evenly over the story; of each the first three queries are asked.
    """
    count = min(len(facts), PREDICTED_FACTS_MAX)
    scene.gauge.note(() if count else nothing_predicted(scene.story), PREDICTION)
    for place in range(count):
        fact = facts[place * len(facts) // count]
        found: list[tuple[str, ...]] = []
        for number, query in enumerate(fact.predicted_queries[:PREDICTED_QUERIES_MAX]):
            request = request_of(scene.story, scene.namespace, query)
            answer = yield from ask(f"predicted.{place}.{number}", scene, request)
            found.append(tuple(answer.trace.candidate_fact_ids[:CANDIDATES_COUNTED]))
            if fact.fact_id in found[-1]:
                break
        scene.gauge.note((predicted_point(fact.fact_id, found),))


def _items(answer: Answer) -> list[str]:
    """The whole items of an export that are not marked as raw turns, as text."""
    contents: dict[str, bytearray] = {}
    for part in answer.responses:
        if isinstance(part, vendor_pb2.ExportResponse):
            if part.kind == vendor_pb2.EXPORT_KIND_RAW_TURN:
                continue
            contents.setdefault(part.item_id, bytearray()).extend(part.content)
    return [bytes(content).decode("utf-8", errors="replace") for content in contents.values()]
