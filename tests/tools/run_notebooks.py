# run_notebooks.py -- run notebooks from top to bottom, past errors, and print for each a line "notebook FILE", then for each code
# cell its id, "ok" or "error", the kinds of its displays and its text, with tabs between them and " | " for line ends.
# Usage: run_notebooks.py FILE ...     JUPYTER_PATH leads to the kernel.
# Depends on: nbclient, nbformat.  Used by: tests/stdlib/lesson_export_spec.lua.
import sys

import nbformat
from nbclient import NotebookClient

PATIENCE = 300  # seconds for a cell; a guard against hanging, not a measure


def text_of(output):
    if output.output_type == "stream":
        return output.text
    if output.output_type == "error":
        return output.evalue
    return output.data.get("text/plain", "")


for path in sys.argv[1:]:
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    NotebookClient(notebook, timeout=PATIENCE, allow_errors=True).execute()
    print("notebook", path)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            state = "error" if any(output.output_type == "error" for output in cell.outputs) else "ok"
            kinds = ",".join(kind for output in cell.outputs for kind in output.get("data", {}))
            text = "".join(map(text_of, cell.outputs)).strip().replace("\n", " | ").replace("\t", " ")
            print(cell.id, state, kinds, text, sep="\t")
