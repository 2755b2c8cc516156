"""Minima, fronts and uncertain inputs."""

import json
import subprocess

import numpy as np
import pandas as pd
import pytest

import thinfit


@pytest.fixture(scope="module")
def frame():
    random = np.random.default_rng(0)
    table = pd.DataFrame({"width": 4 * random.random(90), "v [m/s]": 1 + random.random(90)})
    table["kind"] = np.array(["steel", "brass", "lead"])[np.arange(90) % 3]
    dear = table["kind"].map({"steel": 0.0, "brass": 0.5, "lead": 1.0})
    table["cost"] = (table["width"] - 1) ** 2 + table["v [m/s]"] + dear
    table["noise"] = (table["width"] - 3) ** 2 + 2 - table["v [m/s]"] + 0.3 * dear
    return table


@pytest.fixture(scope="module")
def model(frame):
    estimator = thinfit.ARDGaussianProcessRegressor(random_state=0)
    return estimator.fit(frame[["width", "v [m/s]", "kind"]], frame[["cost", "noise"]])


def test_a_minimum_is_a_row_of_the_frame(model):
    best = model.minimise(output="cost")
    assert isinstance(best, thinfit.Optimum) and list(best.point) == ["width", "v [m/s]", "kind"]
    assert best.point["kind"] == "steel" and abs(best.point["width"] - 1) < 0.05
    assert best.borders == ["v [m/s]"] and "take samples there" in str(best)
    assert isinstance(best.X, pd.DataFrame)
    np.testing.assert_allclose(model.predict(best.X)[0, 0], best.value, rtol=1e-12)
    low, high = best.interval
    assert low < best.value < high
    assert model.minimise(output="cost").point == best.point
    held = model.minimise(output=0, fix={"kind": "lead"}, within=["2*width >= 5"])
    assert held.point["kind"] == "lead" and held.held_by == ["2*width >= 5"]
    assert 2.5 - 1e-14 < held.point["width"] < 2.5 + 1e-9
    assert model.minimise(True, output="cost").value > best.value


def test_a_printed_minimum_keeps_to_its_fixed_values_and_constraints():
    random = np.random.default_rng(1)
    n, t = 1_000_000 + np.arange(60) * 37 % 60, 1.7e9 + 600 * random.random(60)
    table = pd.DataFrame({"n": n, "t": t})
    model = thinfit.ARDGaussianProcessRegressor(random_state=0).fit(table, (n - 1e6) / 60 + (t - 1.7e9) / 600)
    best = model.minimise(fix={"n": 1_000_027}, within="t >= 1700000207.3")
    printed = dict(line.strip().split(": ") for line in str(best).split("\n")[1:3])
    assert printed["n"] == "1000027" and float(printed["t"]) >= 1_700_000_207.3 - 2e-4
    assert best.rounded["n"] == best.point["n"] and abs(best.rounded["t"] - best.point["t"]) < 1e-3


def test_minima_and_indices_are_found_in_given_ranges(model):
    ranges = {"width": {"low": 2, "high": 5, "whole": True}, "v [m/s]": (0.95, 1.5), "kind": ["brass", "lead"]}
    best = model.minimise(output="cost", ranges=ranges)
    assert best.point == {"width": 2, "v [m/s]": 0.95, "kind": "brass"}
    assert best.borders == ["width", "v [m/s]"] and best.beyond == ["v [m/s]"]
    assert "beyond the samples" in str(best)
    front = model.minimise(ranges=ranges)
    assert {point["width"] for point in front.points} <= {2, 3, 4, 5}
    found = model.sobol_indices(errors=True, ranges=ranges)
    parts = np.array([32.25, 0.55**2 / 12, 0.0625])
    np.testing.assert_allclose(found.first[0], parts / parts.sum(), atol=5e-3)
    # Width 5 is so far beyond the samples that nothing is known of the errors there.
    assert np.isnan(found.total_error).all() and found.derivative[0, 0] == 0
    near = model.sobol_indices(errors=True, ranges={"width": (0, 4.1)})
    assert near.first_error.shape == near.first.shape == (2, 3) and (near.first_error < 0.1).all()
    assert abs(model.sobol_indices().first[0, 0] - found.first[0, 0]) > 0.01
    with pytest.raises(ValueError, match="`widht`: expected an input of the model"):
        model.minimise(ranges={"widht": (1, 2)})
    with pytest.raises(ValueError, match="levels among steel, brass, lead|levels among brass, lead, steel"):
        model.sobol_indices(ranges={"kind": ["wood", "lead"]})


def test_rows_are_suggested_in_the_region_that_was_asked_for(model):
    found = model.suggest(4, fix={"kind": "lead"}, within="width + v [m/s] <= 2.5")
    assert (found["kind"] == "lead").all() and (found["width"] + found["v [m/s]"] <= 2.5 + 1e-9).all()
    with pytest.raises(ValueError, match="`fix`: .* found `wood`"):
        model.suggest(4, fix={"kind": "wood"})


def test_switches_are_proposed_as_switches():
    random = np.random.default_rng(3)
    X = pd.DataFrame({"wet": random.random(60) < 0.5, "holes": random.integers(2, 9, 60), "t": random.random(60)})
    model = thinfit.ARDGaussianProcessRegressor(random_state=0).fit(X, X["wet"] + (X["holes"] - 4.4) ** 2 + X["t"])
    found = model.suggest(5)
    assert set(found["wet"]) <= {0, 1} and (found["holes"] % 1 == 0).all()
    best = model.minimise()
    assert best.point["wet"] == 0 and best.point["holes"] == 4 and "wet" not in best.borders
    plan = thinfit.design({"wet": (False, True), "t": (0, 1)}, 6)
    assert plan["wet"].dtype == bool and plan["wet"].sum() == 3


def test_several_outputs_have_a_front(model):
    front = model.minimise()
    assert isinstance(front, thinfit.Front) and front.outputs == ["cost", "noise"]
    assert len(front.points) == len(front.values) == len(front.X) > 30
    assert (np.diff(front.values[:, 0]) > 0).all() and (np.diff(front.values[:, 1]) < 0).all()
    np.testing.assert_allclose(model.predict(front.X), front.values, atol=1e-9)
    assert model.minimise(maximise="noise").maximised == [False, True]


def test_the_program_finds_the_same(model, program, tmp_path):
    model.save(tmp_path / "model.json")
    words = [program, "minimise", tmp_path / "model.json", "--target=cost", "--json"]
    found = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
    assert found["point"] == model.minimise(output="cost").point


def test_points_of_a_model_from_a_file_are_columns_by_name(model, frame, tmp_path):
    model.save(tmp_path / "model.json")
    read = thinfit.load(tmp_path / "model.json")
    best, front = read.minimise(output="cost"), read.minimise()
    assert best.X["kind"].tolist() == ["steel"] and list(front.X) == ["width", "v [m/s]", "kind"]
    np.testing.assert_allclose(read.predict(best.X)[0, 0], best.value, rtol=1e-12)
    np.testing.assert_allclose(read.predict(front.X), front.values, atol=1e-9)
    assert np.isfinite(read.predict(read.suggest(3))).all()
    with pytest.raises(ValueError, match="expected a frame with the columns width"):
        read.predict({"width": [1.0]})
    numbers = frame[["width", "v [m/s]"]]
    thinfit.KernelRidgeRegressor().fit(numbers, frame["cost"]).save(tmp_path / "model.json")
    read = thinfit.load(tmp_path / "model.json")
    best = read.minimise()
    np.testing.assert_allclose(read.predict(best.X), best.value)
    with pytest.raises(ValueError, match=r"X: expected the columns width, v \[m/s\], found width"):
        read.predict({"width": [1.0]})


def test_points_are_in_the_frames_of_the_fit(frame):
    polars = pytest.importorskip("polars")
    table = polars.DataFrame({name: frame[name].tolist() for name in ["width", "kind"]})
    model = thinfit.ARDGaussianProcessRegressor(random_state=0).fit(table, frame["cost"].to_numpy())
    best = model.minimise()
    assert isinstance(best.X, polars.DataFrame)
    np.testing.assert_allclose(model.predict(best.X), best.value)


def test_arrays_have_columns_x1_x2():
    X = np.random.default_rng(1).random((40, 2))
    model = thinfit.ARDGaussianProcessRegressor(random_state=0).fit(X, X[:, 0] ** 2 + X[:, 1])
    best = model.minimise(fix={"x2": 0.5})
    assert best.point["x2"] == 0.5 and best.X.shape == (1, 2)
    np.testing.assert_allclose(model.predict(best.X), best.value)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"fix": {"widht": 1}}, "`fix`: expected a column of the model, found `widht`; did you mean `width`"),
        ({"fix": {"width": 9}}, "`fix`: `width`: expected a number in the range of the samples"),
        ({"fix": {"width": np.nan}}, r"`fix\['width'\]`: expected a finite number"),
        ({"fix": {"kind": "wood"}}, "one of its levels, found `wood`"),
        ({"within": "kind <= 1"}, "`within`.*which has levels"),
        ({"within": "width >= 9"}, "`within`.*missed by at least"),
        ({"output": "costs"}, r"`output`: expected an output of the model \(cost, noise\), found 'costs'"),
        ({"maximise": True}, "`maximise`: expected names among the outputs cost, noise"),
        ({"output": 0, "maximise": "noise"}, "among those of `output`"),
    ],
)
def test_wrong_questions_are_named(model, arguments, words):
    with pytest.raises(ValueError, match=words):
        model.minimise(**arguments)


def test_uncertain_inputs_are_propagated(model):
    inputs = {"width": {"normal": (2, 0.1)}, "kind": {"steel": 0.5, "brass": 0.5}}
    found = model.propagate(inputs, 5000)
    assert found.rows == 5000 and found.unnamed == ["v [m/s]"] and found.outside == 0
    cost = found.outputs[0]
    assert cost.output == "cost" and abs(cost.model.mean.value - 2.76) < 0.1
    assert cost.values.shape == (5000,) and (np.diff(cost.values) >= 0).all()
    np.testing.assert_allclose(cost.model.deviation.value, cost.values.std(ddof=1))
    np.testing.assert_allclose(cost.model.quantiles[0.5].value, np.median(cost.values))
    assert cost.observation is not None and len(cost.observations) == 5000
    again = model.propagate(inputs, 5000)
    np.testing.assert_array_equal(again.outputs[1].values, found.outputs[1].values)
    assert model.propagate({"width": {"normal": [4, 1]}}, 1000).outside_by["width"] > 0.4


@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        ({"widht": 1}, "`inputs`: expected a column of the model, found `widht`"),
        ({"width": {"normal": [1]}}, "`width`: expected `normal = "),
        ({"width": (2, 1)}, "the smaller first"),
        ({"width": np.inf}, "expected a finite number"),
        ({"kind": {"wood": 1}}, "found `wood`"),
    ],
)
def test_wrong_distributions_are_named(model, inputs, words):
    with pytest.raises(ValueError, match=words):
        model.propagate(inputs, 100)
