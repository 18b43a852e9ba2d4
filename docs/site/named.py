"""Long equations made short: what repeats, and what would not fit on a line, gets a letter."""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from string import ascii_lowercase
from typing import Any

__all__ = ["Said", "named"]

REPEATED = 22  # signs, as _texts counts, of a part that is named for standing in several places
NESTED = 34  # of one that is named because it stands inside a fraction, a root or another case
MOST_NAMES = 16  # of one set of equations; with more of them its class is easier to read
_PLAIN = (ast.BinOp, ast.Call)


@dataclass(frozen=True)
class Said:
    """Equations as trees, and the parts of them that have a letter of their own."""

    equations: list[ast.expr]
    parts: list[tuple[str, ast.expr]]

    @property
    def readable(self) -> bool:
        return len(self.parts) <= MOST_NAMES and not any(
            isinstance(n, ast.Constant) and n.value is ... for tree in self.equations
            for n in ast.walk(tree))  # fmt: skip

    def lines(self) -> list[str]:
        """Plain text, the equations first."""
        return [*map(_text, self.equations), *(f"{n} == {_text(t)}" for n, t in self.parts)]


def _text(tree: ast.expr) -> str:
    return ast.unparse(tree).replace(" ** ", "^").replace("~", "not ")


def tree_of(text: str) -> ast.expr:
    """The tree of an equation as the toolkit prints it; raises SyntaxError for what is none."""
    return ast.parse(text.replace("^", "**").replace("…", "..."), mode="eval").body


def named(texts: Iterable[str], taken: Iterable[str] = ()) -> Said:
    """The equations with letters for their repeated and their long parts.

    ``taken`` are names that mean something else on the same page.
    """
    trees = [tree_of(text) for text in texts]
    used = {n.id for tree in trees for n in ast.walk(tree) if isinstance(n, ast.Name)}.union(taken)
    letters = iter(x + str(n or "") for n in range(9) for x in ascii_lowercase
                   if x + str(n or "") not in used and x not in "deilot")  # fmt: skip
    found: dict[str, ast.expr] = {}
    while (part := _repeated([*trees, *found.values()]) or _long([*trees, *found.values()])):
        name, part = next(letters), copy.deepcopy(part)
        swap = _Swap(part, name)
        trees = [swap.swapped(tree) for tree in trees]
        found = {n: swap.swapped(tree) for n, tree in found.items()} | {name: part}
        if len(found) > MOST_NAMES:
            break
    order: list[str] = []
    for tree in trees:
        _appear(tree, found, order)
    final = dict(zip(order, sorted(order, key=lambda n: (len(n), n)), strict=True))
    anew = _Rename(final)
    return Said([anew.visit(tree) for tree in trees],
                [(final[name], anew.visit(found[name])) for name in order])


class _Rename(ast.NodeTransformer):
    """Letters in the order in which they are read; every tree is a new one."""

    def __init__(self, final: dict[str, str]) -> None:
        self.final = final

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(self.final.get(node.id, node.id), ast.Load())


def _appear(tree: ast.expr, found: dict[str, ast.expr], order: list[str]) -> None:
    here = [n.id for n in ast.walk(tree)
            if isinstance(n, ast.Name) and n.id in found and n.id not in order]  # fmt: skip
    order += dict.fromkeys(here)
    for name in dict.fromkeys(here):
        _appear(found[name], found, order)


class _Swap(ast.NodeTransformer):
    """Parts that are like another one, with a name in their place."""

    def __init__(self, part: ast.expr, name: str) -> None:
        self.key, self.text, self.name = _texts(part)[-1][1], ast.unparse(part), name

    def swapped(self, tree: ast.expr) -> ast.expr:
        self.alike = {node for node, text in _texts(tree)
                      if text == self.key and ast.unparse(node) == self.text}
        return self.visit(tree) if self.alike else tree

    def visit(self, node: ast.AST) -> Any:
        return ast.Name(self.name, ast.Load()) if node in self.alike else self.generic_visit(node)


def _repeated(trees: list[ast.expr]) -> ast.expr | None:
    """The longest part that stands in several places."""
    seen: Counter[str] = Counter()
    parts: dict[str, ast.expr] = {}
    for tree in trees:
        for node, text in _texts(tree):
            if isinstance(node, _PLAIN) and node is not tree and not _is(node, "der"):
                parts[text] = node
                seen[text] += 1
    longest = max((text for text, n in seen.items() if n > 1), key=len, default="")
    return parts[longest] if len(longest) >= REPEATED else None


def _texts(tree: ast.expr) -> list[tuple[ast.AST, str]]:
    """Every node with a text that only equal parts have, made from those of its parts."""
    found: list[tuple[ast.AST, str]] = []

    def visit(node: ast.AST) -> str:
        if isinstance(node, ast.Name):
            return node.id
        if isinstance(node, ast.Constant):
            return repr(node.value)
        if isinstance(node, ast.Attribute):
            return f"{visit(node.value)}.{node.attr}"
        inside = ",".join(visit(n) for n in ast.iter_child_nodes(node)
                          if not isinstance(n, ast.expr_context))  # fmt: skip
        text = f"{type(node).__name__[:3]}({inside})" if inside else type(node).__name__[:3]
        found.append((node, text))
        return text

    visit(tree)
    return found


def _long(trees: list[ast.expr]) -> ast.expr | None:
    """A part too long for the place where it stands."""
    for tree in trees:
        whole = tree.comparators[0] if isinstance(tree, ast.Compare) else tree
        for node in ast.walk(whole):
            for inner in _tight(node, node is whole):
                if isinstance(inner, _PLAIN) and len(ast.unparse(inner)) > NESTED:
                    return inner
    return None


def _tight(node: ast.AST, top: bool) -> Iterator[ast.expr]:
    """Where there is no room: what is in a fraction, root, power or call, and cases in anything."""
    if _is(node, "where") and not top:
        yield node  # type: ignore[misc]
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div | ast.Pow):
        yield from (node.left, node.right)
    elif isinstance(node, ast.Call) and not _is(node, "where"):
        yield from node.args


def _is(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name
