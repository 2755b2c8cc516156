"""Where a network is trained. No test here needs a GPU: those that there are, are hidden."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from sklearn.base import clone

import thinfit
from conftest import quick, samples
from thinfit import cuda


def hidden(code):
    """What a script prints in a process that sees no GPU."""
    environment = {"CUDA_VISIBLE_DEVICES": "-1", "PYTHONPATH": str(Path(__file__).parent)}
    run = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_a_gpu_that_is_asked_for_and_not_there_is_an_error():
    code = """
from conftest import quick, samples
try:
    quick(device="cuda").fit(*samples())
except ValueError as error:
    print(error)
"""
    assert re.fullmatch(r"cuda: .*; .*use device cpu\n", hidden(code))


def test_auto_is_the_processor_where_there_is_no_gpu():
    code = """
from conftest import quick, samples
print(quick(device="auto").fit(*samples())._model.to_json())
"""
    expected = quick(device="cpu").fit(*samples())._model.to_json()
    assert hidden(code) == expected + "\n"
    assert "device" not in json.loads(expected)["record"]


def test_the_device_is_a_parameter_but_not_a_setting_of_the_model(tmp_path):
    model = quick(device="cpu").fit(*samples())
    assert clone(model).get_params()["device"] == "cpu"
    assert "device" not in model._settings()
    model.save(tmp_path / "model.json")
    # Whoever reads a model may have another machine.
    assert thinfit.load(tmp_path / "model.json").device == "auto"


def test_random_features_have_no_steps_for_a_gpu():
    with pytest.raises(ValueError, match="`device`: the method `random` cannot train on a GPU"):
        quick(method="random", device="cuda").fit(*samples())
    with pytest.raises(ValueError, match="`device`: expected one of cpu, cuda, auto, found `gpu`"):
        quick(device="gpu").fit(*samples())


def test_libraries_are_found_in_the_order_in_which_they_need_each_other(tmp_path, monkeypatch):
    folder = tmp_path / "nvidia" / "cu13" / "lib"
    folder.mkdir(parents=True)
    names = ["libcublas.so.13", "libcublasLt.so.13", "libnvrtc.so.13", "libnvrtc-builtins.so.13.4", "libcudart.so.13"]
    for name in names:
        (folder / name).write_bytes(b"not a library")
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    for name in [name for name in sys.modules if name.split(".")[0] == "nvidia"]:
        monkeypatch.delitem(sys.modules, name)
    assert [path.name for path in cuda.libraries()] == [names[3], names[2], names[1], names[0]]
    cuda.load.__wrapped__()  # what cannot be loaded is left alone
    monkeypatch.setattr(sys, "path", [])
    assert cuda.libraries() == []
