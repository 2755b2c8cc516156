"""Plans of samples."""

import subprocess

import numpy as np
import pandas as pd
import pytest

import thinfit

RANGES = {
    "thickness": (0.5, 2),
    "v [m/s]": {"low": 1e-3, "high": 1e3, "log": True},
    "holes": {"low": 2, "high": 5, "whole": True},
    "material": ["steel", "brass"],
}


@pytest.mark.parametrize("scheme", ["maximin", "latin", "sobol", "halton"])
def test_a_plan_fills_the_ranges_and_can_grow(scheme):
    plan = pd.DataFrame(thinfit.design(RANGES, 16, scheme=scheme))
    assert list(plan) == list(RANGES)
    assert plan["thickness"].between(0.5, 2).all()
    assert plan["v [m/s]"].between(1e-3, 1e3).all()
    assert set(plan["holes"]) == {2, 3, 4, 5}
    assert plan["material"].value_counts().min() >= 7
    again = pd.DataFrame(thinfit.design(RANGES, 16, scheme=scheme))
    pd.testing.assert_frame_equal(plan, again)
    more = pd.DataFrame(thinfit.design(RANGES, 16, scheme=scheme, add_to=plan))
    assert pd.concat([plan, more]).drop_duplicates().shape == (32, 4)


def test_the_program_plans_the_same(program, tmp_path):
    (tmp_path / "ranges.toml").write_text("a = [0, 1]\nb = [-2, 3]\n")
    words = [program, "design", tmp_path / "ranges.toml", "--rows=9", "--seed=3"]
    text = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    rows = [[float(cell) for cell in line.split(",")] for line in text.splitlines()[1:]]
    plan = thinfit.design({"a": [0, 1], "b": (-2, 3)}, 9, random_state=3)
    np.testing.assert_array_equal(np.column_stack(list(plan.values())), rows)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (({}, 3), "expected ranges of inputs, found none"),
        (({"a": (2, 1)}, 3), "`a`: expected two numbers, the smaller first, found 2 and 1"),
        (({"a": 3}, 3), r"`ranges\[\"a\"\]`: expected `\[low, high\]`"),
        (({"a": (0, np.inf)}, 3), "expected a finite number"),
        (({"a": (0, 1)}, 0), "`rows`: expected a positive int"),
    ],
)
def test_what_is_wrong_is_named(arguments, words):
    with pytest.raises(ValueError, match=words):
        thinfit.design(*arguments)
    ranges = {"a": (0, 1), "b": ["x", "y"]}
    with pytest.raises(ValueError, match="expected maximin, latin, sobol or halton"):
        thinfit.design(ranges, 3, scheme="grid")
    with pytest.raises(ValueError, match="expected a column 'b'"):
        thinfit.design(ranges, 3, add_to={"a": [0.5]})
    with pytest.raises(ValueError, match=r"add_to\[\"b\"\]"):
        thinfit.design(ranges, 3, add_to={"a": [0.5], "b": ["z"]})
    with pytest.raises(ValueError, match="columns of one length"):
        thinfit.design(ranges, 3, add_to={"a": [0.5, 1], "b": ["x"]})
