"""Run the gallery notebook, and write it with its outputs as a page; the notebook itself is kept without them."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbconvert import MarkdownExporter

DOCS = Path(__file__).resolve().parent
NOTEBOOK = DOCS / "gallery.ipynb"


def execute(notebook: nbformat.NotebookNode, folder: Path) -> nbformat.NotebookNode:
    """Run every cell in `folder`; raises if one fails."""
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(folder)}}).execute()
    return notebook


def write_page(notebook: nbformat.NotebookNode, page: Path) -> None:
    """Write a notebook as Markdown, with its pictures beside it."""
    images = page.parent / "images" / "gallery"
    shutil.rmtree(images, ignore_errors=True)
    images.mkdir(parents=True)
    exporter = MarkdownExporter()
    text, resources = exporter.from_notebook_node(notebook)
    for name, data in resources["outputs"].items():
        (images / name).write_bytes(data)
        text = text.replace(f"({name})", f"(images/gallery/{name})")
    text = "\n".join(line.rstrip() for line in text.replace("![png]", "![picture]").splitlines())
    page.write_text(re.sub(r"\n{3,}", "\n\n", text).strip() + "\n", encoding="utf-8")


def main() -> None:
    write_page(execute(nbformat.read(NOTEBOOK, as_version=4), DOCS.parent), DOCS / "gallery.md")


if __name__ == "__main__":
    main()
