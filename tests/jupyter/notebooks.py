"""Executes the notebooks, and compares what they give with what is stored in them.

With DSCRIPT_BLESS=1 the notebooks are written anew."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import nbformat

FOLDER = pathlib.Path(__file__).parents[2] / "scripts" / "notebooks"
BLESS = os.environ.get("DSCRIPT_BLESS") == "1"


def executed(notebook):
    """The notebook as nbconvert leaves it."""
    with tempfile.TemporaryDirectory() as folder:
        how = ["--to", "notebook", "--execute", "--ExecutePreprocessor.coalesce_streams=True", "--output-dir", folder]
        subprocess.run([sys.executable, "-m", "nbconvert", *how, str(notebook)], check=True, capture_output=True)
        return nbformat.read(pathlib.Path(folder) / notebook.name, as_version=4)


def merged(outputs):
    """Prints that came in several messages, as one."""
    found = []
    for output in map(dict, outputs):
        if found and output["output_type"] == "stream" == found[-1]["output_type"] and output["name"] == found[-1]["name"]:
            found[-1]["text"] += output["text"]
        else:
            found.append(output)
    return found


def outputs(notebook):
    """Sources and outputs, without what changes from run to run."""
    return [(cell.source, merged(cell.outputs)) for cell in notebook.cells if cell.cell_type == "code"]


class Notebooks(unittest.TestCase):
    maxDiff = None

    def test_all(self):
        notebooks = sorted(FOLDER.glob("*.ipynb"))
        self.assertGreaterEqual(len(notebooks), 3)
        for path in notebooks:
            with self.subTest(notebook=path.name):
                stored, new = nbformat.read(path, as_version=4), executed(path)
                if BLESS:
                    for cell in new.cells:
                        cell.pop("execution", None)
                        cell.metadata.pop("execution", None)
                    new.metadata = stored.metadata
                    nbformat.write(new, path)
                else:
                    self.assertEqual(outputs(new), outputs(stored))


if __name__ == "__main__":
    unittest.main(verbosity=2)
