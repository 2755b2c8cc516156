"""Summaries of rows on their way between machines: damaged ones and ones that come twice are refused."""

import numpy as np
import pytest

from conftest import LONG, long_samples
from thinfit import AutoRegressor
from thinfit.pieces import Pieces


def test_damaged_messages_and_parts_that_are_merged_twice_are_refused():
    x, y = long_samples()
    pieces = Pieces.of(AutoRegressor(**LONG), (None, None), (x.shape[1], 1))
    halves = [(x[:5000], y[:5000], 0), (x[5000:], y[5000:], 5000)]
    surveys = [pieces.survey(*half) for half in halves]
    survey = pieces.merge_surveys(*surveys)
    learned, draft = pieces.learn(survey)
    parts = [pieces.condense(draft, *half) for half in halves]
    condensed = pieces.merge_condensed(draft, *parts)
    random = np.random.default_rng(0)
    for message, use in [
        (surveys[0], lambda damaged: pieces.merge_surveys(damaged, surveys[1])),
        (surveys[1], lambda damaged: pieces.merge_surveys(surveys[0], damaged)),
        (parts[1], lambda damaged: pieces.merge_condensed(draft, parts[0], damaged)),
        (condensed, lambda damaged: pieces.conclude(survey, learned, damaged)),
        (survey, lambda damaged: pieces.conclude(damaged, learned, condensed)),
    ]:
        assert use(message)
        places = random.choice(len(message), 60, replace=False)
        for place in [*places, *range(24)]:
            damaged = bytearray(message)
            damaged[place] ^= 1 << int(random.integers(8))
            with pytest.raises(ValueError, match="checksum does not match"):
                use(bytes(damaged))
        with pytest.raises(ValueError, match="checksum does not match"):
            use(message[:-8])
    for text, use in [
        (draft, lambda damaged: pieces.condense(damaged, *halves[0])),
        (learned, lambda damaged: pieces.conclude(survey, damaged, condensed)),
    ]:
        digit = max(place for place, letter in enumerate(text) if letter.isdigit())
        with pytest.raises(ValueError, match="damaged on its way"):
            use(text[:digit] + str((int(text[digit]) + 1) % 10) + text[digit + 1 :])
    with pytest.raises(ValueError, match="rows 0 to 4999 are counted twice"):
        pieces.merge_surveys(surveys[0], surveys[0])
    with pytest.raises(ValueError, match=f"rows 5000 to {len(x) - 1} are counted twice"):
        pieces.merge_condensed(draft, condensed, parts[1])
