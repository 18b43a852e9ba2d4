"""Docstrings, which are written to be read in a terminal, as Markdown."""

from __future__ import annotations

import re
from collections.abc import Callable

__all__ = ["markdown"]


def markdown(text: str, link: Callable[[str], str | None] = lambda name: None) -> str:
    """Paragraphs, examples and indented blocks of a docstring as Markdown.

    ``link`` gives the address of a class by its name, or None.
    """
    blocks = re.split(r"\n\s*\n", text.strip("\n"))
    out: list[str] = []
    code = False  # whether the paragraph before ended with "::"
    for block in blocks:
        if block.startswith(">>> "):
            out.append(f"```pycon\n{block}\n```")
        elif code and block.startswith(" "):
            if out[-1].startswith("```text") and not out[-1].endswith("::"):
                out[-1] = out[-1].removesuffix("\n```") + f"\n\n{block}\n```"
            else:
                out.append(f"```text\n{block}\n```")
            continue
        elif re.match(r"\w+ : ", block) or re.match(r"\w+(, \w+)*\n {4}", block):
            out.append(_entries(block, link))
        else:
            out.append(_paragraph(block, link))
        code = block.rstrip().endswith("::")
    return "\n\n".join(out)


def _paragraph(block: str, link: Callable[[str], str | None]) -> str:
    lines = [line.strip() for line in block.splitlines()]
    if any(line.startswith(("===", "---")) for line in lines):
        return f"```text\n{block}\n```"
    if lines[0].startswith(("* ", "- ")):
        marked = (f"- {_words(line[2:], link)}" if line.startswith(("* ", "- "))
                  else f"  {_words(line, link)}" for line in lines)  # fmt: skip
        return "\n".join(marked)
    return _words(" ".join(lines).removesuffix(":").replace("::", ":")
                  if block.rstrip().endswith("::") else "\n".join(lines), link)  # fmt: skip


def _entries(block: str, link: Callable[[str], str | None]) -> str:
    """``name : kind`` with indented text below, as a list."""
    items: list[str] = []
    for line in block.splitlines():
        if line.startswith(" ") and items:
            items[-1] += f"\n  {_words(line.strip(), link)}"
        else:
            name, _, kind = line.partition(" : ")
            items.append(f"- `{name}`" + (f" ({_words(kind, link)})" if kind else "") + " — ")
    return "\n".join(item.removesuffix(" — ") for item in items)


def _words(text: str, link: Callable[[str], str | None]) -> str:
    def role(match: re.Match[str]) -> str:
        name = match[1].lstrip("~.")
        short = name.rpartition(".")[2]
        place = link(short)
        return f"[`{short}`]({place})" if place else f"`{name}`"

    pieces = re.split(r"(:\w+:`[^`]+`|``[^`]+``)", text)
    for k, piece in enumerate(pieces):
        if k % 2 == 0:
            piece = re.sub(r"([*<\[\]|$])", r"\\\1", re.sub(r"^\.\. ", "", piece))
            # a sign that begins a line is no mark of a list
            pieces[k] = re.sub(r"^([-+#>])(?=\s)", r"\\\1", piece, flags=re.M)
        elif piece.startswith("``"):
            pieces[k] = piece[1:-1]
        else:
            pieces[k] = re.sub(r":\w+:`([^`]+)`", role, piece)
    return "".join(pieces)
