"""Values that look like numbers and are none, and columns in another order."""

import warnings

import numpy as np
import pandas as pd
import pytest

import thinfit
from conftest import samples


def model():
    return thinfit.KernelRidgeRegressor(scaling="box")


def test_masked_entries_are_not_used_as_data():
    x, y = samples(40)
    masked = np.ma.masked_array(x.copy(), mask=np.zeros(x.shape, bool))
    assert model().fit(masked, y).predict(masked).shape == y.shape
    masked[7, 1] = np.ma.masked
    masked[9, 1] = np.ma.masked
    for call in (
        lambda: model().fit(masked, y),
        lambda: model().fit(x, y).predict(masked),
        lambda: thinfit.compare(masked, y, ["linear"]),
    ):
        with pytest.raises(ValueError, match="X has masked entries in 2 of 40 rows, in column 1, first in row 7"):
            call()
    hidden = np.ma.masked_array(y, mask=np.arange(len(y)) == 3)
    for call in (lambda: model().fit(x, hidden), lambda: model().fit(x, y).score(x, hidden)):
        with pytest.raises(ValueError, match="y has masked entries in 1 of 40 rows.*first in row 3"):
            call()
    with pytest.raises(ValueError, match="sample_weight has masked"):
        thinfit.GFTRegressor(width=4).fit(x, y, sample_weight=hidden)


@pytest.mark.parametrize(("dtype", "found"), [("datetime64[s]", "dates"), ("timedelta64[ms]", "durations")])
def test_dates_and_durations_are_not_taken_for_numbers(dtype, found):
    x, y = samples(40)
    times = np.arange(40).astype(dtype)
    for call in (
        lambda: model().fit(times[:, None], y),
        lambda: model().fit(x, times),
        lambda: model().fit(x[:, :1], y).predict(times[:, None]),
        lambda: model().fit(list(times[:, None]), y),
    ):
        with pytest.raises(ValueError, match=f"expected numbers, found {found}; use .*timedelta64"):
            call()


def test_columns_with_numbers_for_names_are_not_taken_in_another_order():
    pd = pytest.importorskip("pandas")
    x, y = samples(40)
    frame = pd.DataFrame(x)
    fitted = model().fit(frame, y)
    assert (fitted.predict(frame) == fitted.predict(x)).all()
    with pytest.raises(ValueError, match="expected the columns 0, 1.*in this order, as in fit, found 1, 0"):
        fitted.predict(frame[[1, 0, *frame.columns[2:]]])


@pytest.mark.parametrize("names", [[0, 1, 2], [10, 20, 30]])
def test_a_loaded_model_does_not_take_columns_with_numbers_for_names_in_another_order(names, tmp_path):
    x, y = samples(40)
    frame = pd.DataFrame(np.column_stack([x, x[:, 0] ** 2])[:, :3], columns=names)
    fitted = model().fit(frame, y)
    assert list(fitted.encoded_names_) == [str(name) for name in names]
    fitted.save(tmp_path / "model.json")
    loaded = thinfit.load(tmp_path / "model.json")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert (loaded.predict(frame) == fitted.predict(frame)).all()
    turned = frame[names[::-1]]
    for one in fitted, loaded:
        with pytest.raises(ValueError, match="in this order, as in fit|same order as they were in fit"):
            one.predict(turned)
    columns = {name: frame[name].to_numpy() for name in reversed(names)}
    assert (loaded.predict(columns) == fitted.predict(frame)).all()


def test_masked_labels_and_rows_are_not_used_as_data():
    x, y = samples(40)
    hidden = np.arange(40) == 3
    groups = np.ma.masked_array(np.arange(40) % 8, mask=hidden)
    with pytest.raises(ValueError, match="`groups`: the label of sample 3 is missing"):
        thinfit.ARDGaussianProcessRegressor().fit(x, y, groups=groups)
    rows = np.ma.masked_array(np.linspace(0, 1, 40), mask=hidden)
    with pytest.raises(ValueError, match=r"`add_to\[\"a\"\]` has masked entries in 1 of 40 rows.*first in row 3"):
        thinfit.design({"a": (0, 1)}, 3, add_to={"a": rows})
    times = np.arange(3).astype("datetime64[s]")
    for column in times, pd.Series(times), list(times):
        with pytest.raises(ValueError, match=r"`add_to\[\"a\"\]`: expected numbers, found dates"):
            thinfit.design({"a": (0, 1)}, 3, add_to={"a": column})


def test_consecutive_numbers_are_left_out_whatever_their_name():
    pd = pytest.importorskip("pandas")
    x, y = samples(40)
    frame = pd.DataFrame(x, columns=[f"x{j}" for j in range(x.shape[1])])
    frame.insert(0, "Versuch", np.arange(1, 41))
    with pytest.warns(UserWarning, match="Versuch: ignored, it numbers the rows; to use Versuch as an input"):
        fitted = model().fit(frame, y)
    assert "Versuch" not in fitted.encoded_names_
    assert model().fit(frame[["Versuch"]], y).n_features_in_ == 1


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (["no", "yes"] * 10, r"'no' in row 0; thinfit does not .* \(y == 'yes'\)"),
        (np.array(["1"] * 19 + ["b"]), "'b' in row 19;"),
        (pd.Series(["1.5", "b"] * 10, name="kind"), "'b' in row 1 of column `kind`;"),
        (pd.Series(["a", "b"] * 10, name="kind", dtype="category"), "'a' in row 0 of column `kind`;"),
        (pd.DataFrame({"y": range(20), "kind": ["a", "b"] * 10}), "'a' in row 0 of column `kind`;"),
        (np.array([[1, "a"]] * 20, dtype=object), "'a' in row 0 of column 1;"),
    ],
)
def test_text_as_outputs_is_refused_with_advice(y, words):
    x = np.linspace(0, 1, 20)[:, None]
    with pytest.raises(ValueError, match="expected numbers, found " + words):
        thinfit.KernelRidgeRegressor().fit(x, y)


@pytest.mark.parametrize("classes", [[0, 1], [False, True], ["0", "1"]])
def test_outputs_of_two_values_warn_once_that_predictions_are_no_probabilities(classes):
    x = np.linspace(0, 1, 20)[:, None]
    with pytest.warns(thinfit.TwoValuesWarning, match="`y` has two values, 0 and 1: .* not probabilities") as caught:
        thinfit.KernelRidgeRegressor().fit(x, np.array(classes * 10))
    assert len(caught) == 1 and caught[0].filename == __file__
