"""Messages about wrong parameters name what the user typed, and use no words of Rust or of the command line."""

import json
import re

import numpy as np
import pytest
from sklearn.base import clone

from conftest import BASELINES, quick, samples
from thinfit import GFTRegressor, _native

ESTIMATORS = list({type(one): one for one in [quick(), *BASELINES]}.values())
FOREIGN = re.compile(
    r"`(lambda|validation|seed|threads)\b|\b(usize|u64|(?<!`)f64|struct|enum|null|config field|command line)\b|--\w"
)
EVERY_PARAMETER = pytest.mark.parametrize(
    ("estimator", "name"),
    [
        pytest.param(estimator, name, id=f"{type(estimator).__name__}-{name}")
        for estimator in ESTIMATORS
        for name in estimator.get_params()
        if name != "verbose"  # anything is true or false
    ],
)


def message(estimator, **parameters):
    """What a fit says of wrong parameters."""
    with pytest.raises((TypeError, ValueError)) as caught:
        clone(estimator).set_params(**parameters).fit(*samples(20))
    text = str(caught.value)
    assert not FOREIGN.search(text), text
    return text


@EVERY_PARAMETER
def test_a_parameter_of_the_wrong_type_is_named(estimator, name):
    for value in object(), {"magic": 1}:
        assert re.search(rf"\b{name}\b", message(estimator, **{name: value}))


def beyond(value):
    """A value of the same type that is out of range."""
    if isinstance(value, tuple):
        return (beyond(value[0]), *value[1:])
    return "magic" if isinstance(value, str) else -1


@EVERY_PARAMETER
def test_a_parameter_out_of_range_is_named(estimator, name):
    if name == "tolerance":
        pytest.skip("has no range")
    special = {"config": {"magic": 1}, "mean": np.inf, "n_jobs": 0}
    value = special[name] if name in special else beyond(estimator.get_params()[name])
    assert f"`{name}" in message(estimator, **{name: value})


def leaves(settings, path=()):
    """Paths to all values of nested dicts."""
    for key, value in settings.items():
        if isinstance(value, dict):
            yield from leaves(value, (*path, key))
        else:
            yield (*path, key)


OTHERS = {
    key: value
    for key, value in json.loads(_native.preset("fast")).items()
    if key not in GFTRegressor(random_state=0)._settings()
}


@pytest.mark.parametrize("path", list(leaves(OTHERS)), ids=".".join)
def test_a_setting_in_config_is_named_by_its_place(path):
    wrong = {"magic": 1}
    for key in reversed(path):
        wrong = {key: wrong}
    place = "".join(f'["{key}"]' for key in path)
    assert message(quick(), config=wrong).startswith(f"`config{place}")


START = {"scale": 0.1, "kappa": 1e-7, "damping": 1.0}


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({"method": "magic"}, "`method`: expected one of gft-r, gft, f-opt, random, found 'magic'"),
        ({"method": "swim"}, "`method`: expected one of gft-r, gft, f-opt, random, found 'swim'"),
        ({"preset": "slow"}, "`preset`: expected `fast` or `paper`, found `slow`"),
        ({"width": 0}, "`width`: expected 1 to 10000, found 0"),
        ({"width": 2.5}, "`width`: expected a whole number from 0 on, found the number `2.5`"),
        ({"width": None}, "`width`: expected a whole number from 0 on, found None"),
        ({"regularization": -1.0}, "`regularization`: expected `auto` or a finite number of at least 0, found -1"),
        ({"regularization": "much"}, "`regularization`: expected"),
        ({"regularization": np.nan}, "`regularization`: expected a finite number, found nan"),
        ({"validation_fraction": 2.0}, "`validation_fraction`: expected a fraction above 0 and up to 0.9, found 2"),
        ({"random_state": 2**64}, "`random_state`: expected a number from 0 to 2**63 - 1, found 18446744073709551616"),
        ({"random_state": "one"}, "`random_state`: expected an int, a RandomState or None, found 'one'"),
        ({"n_jobs": "two"}, "`n_jobs`: expected None or a positive or negative int, found 'two'"),
        ({"config": "fast"}, "`config`: expected a dict or None, found 'fast'"),
        ({"config": {"width": 3}}, "`config`: found `width`, which is the parameter `width`; set that instead"),
        ({"config": {"seed": 3}}, "`config`: found `seed`, which is the parameter `random_state`; set that instead"),
        ({"config": {"threads": 3}}, "`config`: found `threads`, which is the parameter `n_jobs`; set that instead"),
        ({"config": {"generate": 5}}, '`config["generate"]`: expected a dict, found the number `5`'),
        (
            {"config": {"generate": {"rate": -1.0}}},
            '`config["generate"]["rate"]`: expected a positive number, found -1',
        ),
        ({"config": {"scale": np.inf}}, '`config["scale"]`: expected a finite number, found inf'),
        ({"config": {"polish": {"stpes": 1}}}, '`config["polish"]["stpes"]`: expected one of `steps`, '),
        (
            {"config": {"polish": {"starts": [START, START | {"kappa": None}]}}},
            '`config["polish"]["starts"][1]["kappa"]`: expected a number, found None',
        ),
    ],
)
def test_messages_say_what_was_expected_and_found(parameters, expected):
    with pytest.raises(ValueError) as caught:
        quick(**parameters).fit(*samples(20))
    assert str(caught.value).startswith(expected)


def test_wrong_data_are_named():
    x, y = samples()
    x[7, 2] = np.nan
    with pytest.raises(ValueError, match="^X has NaN in 1 of 120 rows, in column 2, first in row 7; remove"):
        quick().fit(x, y)
    with pytest.raises(ValueError, match="^sample_weight: row 1 has the weight -1"):
        quick().fit(*samples(), sample_weight=np.where(np.arange(120) == 1, -1, 1))
    with pytest.raises(ValueError, match="at least 4 samples"):
        quick().fit([[1.0], [2.0], [3.0]], [1, 2, 3])


def test_wrong_arguments_of_a_fitted_model_are_named():
    x, y = samples()
    model = quick().fit(x, y)
    with pytest.raises(ValueError, match="^`level`: expected a number between 0 and 1, found 1.5"):
        model.predict_interval(x, level=1.5)
    with pytest.raises(TypeError, match="level"):
        model.predict_interval(x, level="much")
    with pytest.raises(ValueError, match="^X has inf in 1 of 1 rows, in column 0, first in row 0"):
        model.predict([[np.inf, 0, 0]])
    with pytest.raises(ValueError, match="^`feature`: expected a name or an index from 0 to 2, found -1"):
        model.effect(-1, [0.5])
    with pytest.raises(ValueError, match=r"^`feature`: expected an input of the model \(x1, x2, x3\), found 'a'"):
        model.effect("a", [0.5])
    with pytest.raises(ValueError, match="^`precision`: expected `float64` or `float32`, found `float16`"):
        model.to_onnx(precision="float16")


def test_wrong_files_are_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="cannot read"):
        GFTRegressor.load(tmp_path / "none.json")
    with pytest.raises(OSError, match="cannot write"):
        quick().fit(*samples()).save(tmp_path / "none" / "model.json")
    for text in "{}", "x,y", '{"format": "other/1"}':
        (tmp_path / "other.json").write_text(text)
        with pytest.raises(ValueError, match="expected a model of format `thinfit/1`") as caught:
            GFTRegressor.load(tmp_path / "other.json")
        assert "command line" not in str(caught.value)


def test_gaps_are_counted_and_columns_named():
    pd = pytest.importorskip("pandas")
    x, y = samples()
    frame = pd.DataFrame(x, columns=["speed", "t", "load"])
    frame.loc[:9, "speed"] = np.nan
    frame.loc[5:20, "load"] = np.nan
    with pytest.raises(
        ValueError, match=r"^X has NaN in 21 of 120 rows, in columns `speed` \(10\), `load` \(16\), first in row 0"
    ):
        quick().fit(frame, y)
    text = frame.assign(kind=["new", "old"] * 60)
    with pytest.raises(ValueError, match=r"^X has NaN in 21 of 120 rows, in columns `speed` \(10\), `load` \(16\)"):
        quick().fit(text, y)
    with pytest.raises(ValueError, match="^y has inf in 1 of 120 rows, in column `power`, first in row 3"):
        quick().fit(x, pd.Series(np.where(np.arange(120) == 3, np.inf, y), name="power"))
    fitted = quick().fit(text.fillna(0.0), y)
    with pytest.raises(
        ValueError, match=r"column `kind`, row 1: expected one of new, old, found `olld` \(did you mean `old`\?\)"
    ):
        fitted.predict(text.fillna(0.0).assign(kind=["new", "olld"] * 60))
    with pytest.raises(ValueError, match="^X has NaN in 21 of 120 rows, in columns `speed`"):
        fitted.predict(text)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda one: type(one).__name__)
def test_a_misspelt_parameter_is_refused(estimator):
    with pytest.raises(TypeError, match="random_sate"):
        type(estimator)(random_sate=0)
