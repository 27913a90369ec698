# SPDX-License-Identifier: BSD-3-Clause
"""Every notebook runs from its beginning to its end, and is stored without what it showed."""

import json
import os
import sys
from pathlib import Path

import pytest
from particles.base.progress import BUILDING

NOTEBOOKS = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))
SHAPES = {
    "clouds": 32,
    "interop": 32,
    "kernels": 64,
    "levelset": 32,
    "paths": 32,
    "speed": 64,
    "velocity": 48,
    "vortices": 64,
}


def code_cells(notebook):
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def is_parameters(cell):
    return "parameters" in cell.metadata.get("tags", [])


def test_there_are_notebooks():
    assert [path.stem for path in NOTEBOOKS] == sorted(SHAPES)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_no_output_is_stored(path):
    for cell in code_cells(json.loads(path.read_text(encoding="utf-8"))):
        assert cell["outputs"] == []
        assert cell["execution_count"] is None


@pytest.mark.slow
@pytest.mark.drawn(2)
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
@pytest.mark.filterwarnings("default")  # those of Jupyter
def test_it_runs(path, monkeypatch, tmp_path):
    import nbformat  # which takes seconds, in every worker
    from nbclient import NotebookClient

    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    notebook = nbformat.read(path, as_version=4)
    (parameters,) = filter(is_parameters, code_cells(notebook))
    parameters.source = f"shape = {SHAPES[path.stem]}"
    place = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(notebook, timeout=300, kernel_name="python3", resources=place).execute()
    shown = [output for cell in code_cells(notebook) for output in cell.outputs]
    assert sum("image/png" in output.get("data", {}) for output in shown) >= 2
    complaints = "".join(o.text for o in shown if o.get("name") == "stderr")
    assert complaints.replace(f"particles: {BUILDING}\n", "") == ""  # on the first run here
