"""Models in other languages: what the program writes."""

import runpy
import subprocess

import numpy as np
import pytest

import thinfit
from conftest import quick, samples


@pytest.fixture(scope="module")
def model():
    return quick().fit(*samples())


def test_every_language_is_what_the_program_writes(model, program, tmp_path):
    model.save(tmp_path / "pump.json")
    for ending, language in {"c": "c", "py": "python", "js": "js", "tex": "latex", "onnx": "onnx"}.items():
        files = model.export(tmp_path / f"pump.{ending}")
        assert [file.name for file in files] == [f"pump.{ending}", "pump.h"][: 1 + (ending == "c")]
        written = [file.read_bytes() for file in files]
        subprocess.run([program, "export", "pump.json", "--to", language], cwd=tmp_path, check=True)
        assert [file.read_bytes() for file in files] == written


def test_the_python_function_predicts(model, tmp_path):
    x, _ = samples()
    (file,) = model.export(str(tmp_path / "pump.py"))
    pump = runpy.run_path(str(file))["pump"]
    np.testing.assert_allclose([np.ravel(pump(*row))[0] for row in x[:5]], model.predict(x[:5]), rtol=1e-8)


def test_a_row_with_nan_or_an_infinity_gives_nan(model, tmp_path):
    (file,) = model.export(tmp_path / "pump.py")
    pump = runpy.run_path(str(file))["pump"]
    row = samples()[0][0]
    for value in (np.nan, np.inf, -np.inf, 1e151):
        for j in range(len(row)):
            assert np.isnan(pump(*np.where(np.arange(len(row)) == j, value, row)))


def test_single_precision_that_is_off_by_deviations_is_refused(tmp_path):
    rng = np.random.default_rng(0)
    x = 1e9 + rng.random((30, 1))
    wild = thinfit.KernelRidgeRegressor(regularization=1e-6, scaling="box").fit(x, np.sin(6 * x[:, 0]))
    assert wild.export_difference("float64") < 1e-3 < wild.export_difference("float32")
    for write in (
        lambda: wild.to_onnx(precision="float32"),
        lambda: wild.export(tmp_path / "a.onnx", precision="float32"),
    ):
        with pytest.raises(ValueError, match="at most 0.001 standard deviations.* precision=.float64"):
            write()
    assert not list(tmp_path.iterdir())
    assert wild.export_difference() == wild.export_difference("float64")


def test_options_are_passed_on_and_checked(model, tmp_path):
    (single,) = model.export(tmp_path / "a.bin", "onnx", precision="float32")
    assert single.read_bytes() == model.to_onnx(precision="float32")
    short, long = (model.export(tmp_path / f"{n}.tex", digits=n)[0].stat().st_size for n in (3, 12))
    assert short < long
    with pytest.raises(ValueError, match="^`path`: expected one of the endings .onnx, .c, .* found `.txt`"):
        model.export(tmp_path / "pump.txt")
    with pytest.raises(ValueError, match="^`language`: expected `onnx`, `c`, .* found `fortran`"):
        model.export(tmp_path / "pump.f", "fortran")
    with pytest.raises(ValueError, match="^`digits`"):
        model.export(tmp_path / "pump.tex", digits=0)
    with pytest.raises(ValueError, match="the name of the header"):
        model.export(tmp_path / "pump.h", "c")
    with pytest.raises(OSError, match="cannot write"):
        model.export(tmp_path / "none" / "pump.c")
    assert hasattr(thinfit.AutoRegressor, "export")
