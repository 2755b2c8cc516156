"""Frames with text, categories and dates."""

import pickle
import subprocess

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.model_selection import cross_val_score

import thinfit
from conftest import quick
from thinfit.card import card

pd = pytest.importorskip("pandas")


def laboratory(rows=60):
    """A table as laboratories write them, and what it explains."""
    i = np.arange(rows)
    material = np.array(["alu", "steel", "titanium"], dtype=object)[(i * i + i // 3) % 3]
    frame = pd.DataFrame(
        {
            "Nr": i,
            "day": pd.Timestamp("2024-03-01") + pd.to_timedelta(i, unit="D"),
            "sample": [f"S-{k}" for k in i],
            "material": material,
            "load": pd.Categorical(
                np.array(["small", "grown", "full"])[i % 3], ["small", "grown", "full"], ordered=True
            ),
            "batch": pd.Categorical(i % 4),
            "t": i * 37 % 61 / 10.0,
            "length": [f"{k * 17 % 53 / 4} mm" for k in i],
            "checked": i % 5 == 0,
        }
    )
    return frame, frame["t"] + i % 3 + (material == "alu") * 2.0 + (i % 4 == 1)


INPUTS = [
    "material=alu",
    "material=steel",
    "material=titanium",
    "load",
    "batch=0",
    "batch=1",
    "batch=2",
    "batch=3",
    "t",
]
INPUTS += ["length", "checked"]


def fitted(model=None):
    X, y = laboratory()
    with pytest.warns(
        UserWarning, match="Nr: ignored, it numbers the rows; day: ignored, it holds dates or times; sam"
    ):
        return (model or thinfit.KernelRidgeRegressor(scaling="box")).fit(X, y), X, y


def test_text_categories_and_dates_are_encoded_by_the_rules_of_the_library():
    model, X, y = fitted()
    assert model._model.inputs == INPUTS
    assert list(model.feature_names_in_) == list(X.columns) and model.n_features_in_ == X.shape[1]
    assert model.score(X, y) > 0.99
    # An ordered category is one number, even if its words are not known to have an order.
    assert model._model.domain[3] == [0.0, 1.0]
    np.testing.assert_array_equal(model.predict(X[X.columns[::-1]]), model.predict(X))
    np.testing.assert_array_equal(model.predict(X.drop(columns=["day", "sample"])), model.predict(X))


def test_a_network_of_text_has_intervals_gradients_and_copies():
    model, X, y = fitted(quick())
    assert model.predict_gradient(X).shape == (60, len(INPUTS))
    assert len(model.predict_interval(X)[0]) == 60
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))
    assert not hasattr(clone(model), "_model")


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_frames_of_text_are_cross_validated():
    X, y = laboratory()
    assert min(cross_val_score(thinfit.KernelRidgeRegressor(scaling="box"), X, y, cv=3)) > 0.5


def test_a_saved_model_predicts_the_same_table_on_the_command_line(tmp_path, program):
    model, X, _ = fitted()
    model.save(tmp_path / "model.json")
    X.to_csv(tmp_path / "lab.csv", index=False)
    command = [program, "predict", "model.json", "lab.csv"]
    told = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    np.testing.assert_allclose([float(line) for line in told.split()[1:]], model.predict(X), rtol=1e-12)
    read = thinfit.load(tmp_path / "model.json")
    assert list(read.feature_names_in_) == list(X.columns)
    np.testing.assert_array_equal(read.predict(X), model.predict(X))
    # What pandas reads from the file are objects and strings, not categories.
    np.testing.assert_array_equal(read.predict(pd.read_csv(tmp_path / "lab.csv")), model.predict(X))


def test_what_the_samples_did_not_hold_is_an_error():
    model, X, _ = fitted()
    for column, value, words in [
        ("material", "wood", "column `material`, row 3: expected one of alu, steel, titanium, found `wood`"),
        ("material", None, "column `material`, row 3: .* found nothing"),
        ("length", "3 cm", "column `length`, row 3: expected a number with the unit mm, found `3 cm`"),
    ]:
        spoilt = X.copy()
        spoilt[column] = spoilt[column].astype(object)
        spoilt.loc[3, column] = value
        with pytest.raises(ValueError, match=words):
            model.predict(spoilt)
    with pytest.raises(ValueError, match="expected a frame with the columns material, load, .*, found an array"):
        model.predict(np.zeros((3, len(INPUTS))))
    with pytest.raises(ValueError, match="found one with Nr, day"):
        model.predict(X.drop(columns="material"))


def test_missing_text_and_typing_errors_are_not_categories():
    X, y = laboratory()
    X = X[["material", "t"]].astype(object)
    X.loc[5, "material"] = np.nan
    with pytest.raises(ValueError, match="column `material`, row 5"):
        thinfit.KernelRidgeRegressor().fit(X, y)
    X, y = laboratory()
    X = X[["material", "t"]].astype(object)
    X.loc[7, "t"] = "warm"
    with pytest.raises(ValueError, match="column `t`, row 7: expected a number, found `warm`"):
        thinfit.KernelRidgeRegressor().fit(X, y)


def test_frames_of_numbers_are_left_alone():
    X, y = laboratory()
    numbers = X[["t", "checked"]].astype({"t": object}).assign(width=np.arange(20, 80)[::-1])
    model = thinfit.KernelRidgeRegressor().fit(numbers, y)
    assert model._model.inputs == ["t", "checked", "width"] and model._model.encoding is None


@pytest.mark.parametrize("name", ["Nr", "run", "Unnamed: 0", ""])
def test_a_column_that_numbers_the_rows_is_left_out_of_numbers_too(name):
    X, y = laboratory()
    numbers = pd.DataFrame({name: np.arange(1, 61), "t": X["t"]})
    with pytest.warns(UserWarning, match="ignored, it numbers the rows"):
        model = thinfit.KernelRidgeRegressor().fit(numbers, y)
    assert model._model.inputs == ["t"]
    np.testing.assert_array_equal(
        model.predict(numbers), thinfit.KernelRidgeRegressor().fit(X[["t"]], y).predict(X[["t"]])
    )
    # It is the input of a series that has no other.
    assert thinfit.KernelRidgeRegressor().fit(numbers[[name]], y)._model.inputs == [name]


def test_polars_frames_are_encoded():
    pl = pytest.importorskip("polars")
    X, y = laboratory()
    X = X[["material", "t", "length", "day"]]
    with pytest.warns(UserWarning, match="day: ignored"):
        model = thinfit.KernelRidgeRegressor(scaling="box").fit(pl.DataFrame(X.to_dict("list")), y)
    assert model._model.inputs == INPUTS[:3] + ["t", "length"]
    np.testing.assert_array_equal(model.predict(X), model.predict(pl.DataFrame(X.to_dict("list"))))


@pytest.mark.parametrize("dtype", ["Categorical", "Enum"])
def test_categories_of_polars_are_those_of_pandas(dtype):
    pl = pytest.importorskip("polars")
    X, y = laboratory()
    X = X[["material", "batch", "t"]].astype({"material": "category"})
    # The names of the batches are numbers, yet they are categories.
    texts = pl.DataFrame({name: [str(cell) for cell in X[name]] for name in ["material", "batch"]})
    kind = {
        name: pl.Categorical if dtype == "Categorical" else pl.Enum(sorted(set(texts[name]))) for name in texts.columns
    }
    frame = texts.cast(kind).with_columns(t=pl.Series(X["t"].to_list()))
    model = thinfit.AutoRegressor(budget=0.1, random_state=0).fit(frame, y)
    assert model._model.inputs == INPUTS[:3] + INPUTS[4:9]
    expected = thinfit.AutoRegressor(budget=0.1, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.predict(frame), expected.predict(X))
    np.testing.assert_array_equal(model.predict(X), expected.predict(X))
    spoilt = frame.with_columns(material=pl.Series(["alu"] * 59 + [None], dtype=pl.Categorical))
    with pytest.raises(ValueError, match="column `material`, row 59: .* found nothing"):
        model.predict(spoilt)


def test_a_column_of_text_is_one_input_in_indices_and_effects():
    rng = np.random.default_rng(3)
    size, stone = rng.random(90), rng.choice(["granite", "marble", "slate"], 90)
    frame = pd.DataFrame({"size": size, "stone": stone})
    model = thinfit.ARDGaussianProcessRegressor().fit(frame, size + 2.0 * (stone == "slate"))
    assert list(model.encoded_names_) == ["size", "stone=granite", "stone=marble", "stone=slate"]
    assert len(model.feature_importances_) == len(model.feature_names_in_) == 2
    indices = model.sobol_indices(errors=True)
    assert list(indices.names) == ["size", "stone"] and indices.closed_form
    # Variances 1/12 of the size and 8/9 of the stone, whose levels are equally likely.
    assert indices.first == pytest.approx([3 / 35, 32 / 35], abs=0.01)
    assert indices.second.shape == (2, 2) and indices.total_error.shape == (2,)
    assert (indices.total_error < 0.02).all() and not indices.no_detectable_effect.any()
    low, _, high = model.effect("stone", ["granite", "marble", "slate"])
    assert high - low == pytest.approx(2, abs=0.05)
    effects = model.shapley_effects(frame)
    assert effects.effects.sum() == pytest.approx(1) and list(effects.names) == ["size", "stone"]
    assert card(model).count("<tr>") == 3


def test_inputs_that_go_together_are_warned_of():
    diabetes = load_diabetes(as_frame=True)
    model = thinfit.KernelRidgeRegressor().fit(diabetes.data, diabetes.target)
    with pytest.warns(UserWarning, match="s1 and s2 correlate at 0.8"):
        model.sobol_indices()
