"""What each level plays, and what derived stories are."""

from datetime import datetime, timedelta
from pathlib import Path

import pytest

from orchestrator.errors import StoryError, UsageError
from orchestrator.suites.narrative.distractors import derive
from orchestrator.suites.narrative.levels import (
    Half,
    LevelName,
    load_folder,
    plan_level,
)
from orchestrator.suites.narrative.stories import Form, Story
from orchestrator.suites.narrative.vocabulary import Category, TagType
from tests.orchestrator.suites.narrative.small_stories import good, write_story

_NAMES = ("Ada Umber", "Bo Veld", "Cy Wick", "Di Xanadu", "Ed Yarrow")
_SELLERS = ("Otterly", "Penrose Vane", "Quimby", "Rusk", "Sorrel")


def _story(index: int, story_id: str) -> Story:
    data = good() | {"story_id": story_id, "narrator": f"{_NAMES[index % 5]}-{index}"}
    seller = _SELLERS[index % 5]
    first = data["batches"][0]
    first["user_input"] = first["user_input"].replace("Otterly", seller) + f" {seller} said hi."
    first["expected_stores"] = [seller]
    first["expected_tags"] = {seller: "PERSON"}
    return Story(**data, form=Form.SUPERSET)


def _moment(story: Story) -> datetime:
    return datetime.fromisoformat(story.batches[0].time)


def _corpus() -> tuple[Story, ...]:
    """Two stories a round, and one of the service desk."""
    told = [_story(index, f"r{index // 2 + 1}-{index:02d}") for index in range(10)]
    desk = _story(10, "desk-00").model_copy(update={"category": Category.SERVICE_DESK})
    return (*told, desk)


@pytest.mark.parametrize(
    ("level", "stories", "isolated", "wanted"),
    [
        (LevelName.CORE, 2, True, 50),
        (LevelName.STRESS, 10, True, 250),
        (LevelName.CUMULATIVE, 2, False, 50),
        (LevelName.SCALE, 10, False, 250),
        (LevelName.SCALE_1000, 10, False, 1000),
    ],
)
def test_levels_play_what_the_standard_says(
    level: LevelName, stories: int, isolated: bool, wanted: int
) -> None:
    plan = plan_level(level, _corpus())
    assert (len(plan.stories), plan.isolated, plan.wanted) == (stories, isolated, wanted)
    assert plan.questions == 5 * stories
    assert all(story.category is not Category.SERVICE_DESK for story in plan.stories)
    assert plan.complete is (level is LevelName.SCALE_1000)
    assert len(plan.distractors) == (990 if level is LevelName.SCALE_1000 else 0)


def test_each_level_requires_the_one_before() -> None:
    levels = list(LevelName)
    assert [level.requires for level in levels] == [None, *levels[:-1]]


def test_without_rounds_the_first_fifty_are_the_core() -> None:
    stories = tuple(_story(index, f"own-{index:03d}") for index in range(60))
    plan = plan_level(LevelName.CORE, stories)
    assert (plan.stories, plan.complete) == (stories[:50], True)


def test_no_stories_make_empty_plans() -> None:
    for level in LevelName:
        plan = plan_level(level, ())
        assert (plan.stories, plan.distractors, plan.complete) == ((), (), False)


def test_derived_stories_are_other_people_at_other_times_and_nothing_is_asked() -> None:
    stories = _corpus()[:10]
    derived = derive(stories, 25)
    assert len(derived) == 25
    assert len({each.story_id for each in (*stories, *derived)}) == 35
    assert len({each.speaker for each in (*stories, *derived)}) == 35
    for each in derived:
        origin = next(it for it in stories if each.story_id.startswith(f"{it.story_id}~"))
        copy = int(each.story_id.rpartition("~")[2])
        assert each.questions == ()
        moved = _moment(each) - _moment(origin)
        assert moved == copy * timedelta(weeks=52)
        (seller,) = origin.batches[0].expected_tags
        assert seller not in each.batches[0].user_input
        # The new name stands in each place of the old one.
        words = each.batches[0].user_input
        assert any(words.count(other) == 2 for other in _SELLERS)
        assert each.batches[0].expected_stores == ()


def test_deriving_depends_on_the_stories_alone() -> None:
    assert derive(_corpus(), 30) == derive(_corpus(), 30)
    assert derive(_corpus(), 12) == derive(_corpus(), 30)[:12]
    assert derive((), 5) == ()


def test_one_story_is_derived_from_though_it_has_nobody_to_be_exchanged_for() -> None:
    (only,) = _corpus()[:1]
    derived = derive((only,), 3)
    assert [each.speaker for each in derived] == [f"{only.speaker} {n}" for n in (2, 3, 4)]
    (seller,) = only.batches[0].expected_tags
    assert all(seller in each.batches[0].user_input for each in derived)


def test_what_would_be_told_after_the_last_year_stays_where_it_was() -> None:
    story = Story.model_validate(good())
    last = story.batches[0].model_copy(update={"time": "9999-06-01T10:00"})
    late = story.model_copy(update={"batches": (last,)})
    assert [one.batches[0].time for one in derive([late], 2)] == ["9999-06-01T10:00"] * 2


def test_who_is_named_in_full_is_called_by_the_first_name_afterwards() -> None:
    stories = list(_corpus()[:4])
    turn = (
        stories[0]
        .batches[0]
        .model_copy(
            update={
                "user_input": "Met Una Holt. Una laughed.",
                "expected_tags": {"Una Holt": TagType.PERSON},
            }
        )
    )
    stories[0] = stories[0].model_copy(update={"batches": (turn,)})
    said = derive(stories, 1)[0].batches[0].user_input
    assert "Una" not in said
    first = said.removeprefix("Met ").split()[0].rstrip(".")
    assert said.endswith(f"{first} laughed.")


def test_halves_of_a_folder(tmp_path: Path) -> None:
    for half, story_id, narrator in (("open", "r1-02", "A B"), ("sealed", "r1-01", "C D")):
        (tmp_path / half).mkdir()
        data = good() | {"story_id": story_id, "narrator": narrator}
        for question in data["questions"][:-1]:
            question["question_open"] = f"{narrator}: {question['question']}"
        write_story(tmp_path / half, data)
    assert [it.story_id for it in load_folder(tmp_path)] == ["r1-01", "r1-02"]
    assert [it.story_id for it in load_folder(tmp_path, Half.OPEN)] == ["r1-02"]
    assert [it.story_id for it in load_folder(tmp_path, Half.SEALED)] == ["r1-01"]
    with pytest.raises(UsageError, match="no stories of the open half"):
        load_folder(tmp_path / "sealed", Half.OPEN)
    write_story(tmp_path / "open", good(), "again.yaml")
    (tmp_path / "sealed" / "story.yaml").write_text("a: [", encoding="utf-8")
    with pytest.raises(StoryError, match="no YAML"):
        load_folder(tmp_path)
