"""Equations typeset: the language's own text becomes MathML, which needs no script."""

from __future__ import annotations

import ast
import re
from html import escape
from xml.etree import ElementTree

__all__ = ["mathml", "wrapped"]

_GREEK = {"alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "eta": "η", "lambda": "λ",
          "mu": "μ", "omega": "ω", "phi": "φ", "psi": "ψ", "rho": "ρ", "sigma": "σ", "tau": "τ",
          "theta": "θ", "xi": "ξ", "mdot": "ṁ", "time": "t"}  # fmt: skip
_FUNCTIONS = {"maximum": "max", "minimum": "min", "arctan2": "atan2", "log": "ln"}
_RELATIONS = {ast.Eq: "=", ast.Lt: "&lt;", ast.LtE: "≤", ast.Gt: "&gt;", ast.GtE: "≥",
              ast.NotEq: "≠"}  # fmt: skip
_DRAWN = ("der", "sqrt", "abs_", "exp")  # calls that have a sign of their own
_LOOSE, _SUM, _PRODUCT, _POWER, _ATOM = range(-1, 4)  # how tightly an operation binds


def mathml(text: str) -> str:
    """An equation as the toolkit prints it, ``"m*der(v) == f"``, as a ``<math>`` element.

    Text that cannot be read as an equation, such as one that was cut for its length, is shown as
    code.
    """
    try:
        tree = ast.parse(text.replace("^", "**").replace("==", " == "), mode="eval").body
    except SyntaxError:
        return f"<code>{escape(text)}</code>"
    return f'<math display="block">{_Writer().visit(tree)[0]}</math>'


def wrapped(tree: ast.expr) -> str:
    """An equation in pieces that a narrow page may put on several lines; cases below each other."""
    return "".join(_pieces(tree, _LOOSE))


WHOLE = 24  # characters that stay on one line
WIDEST = 45  # characters of a fraction, power or root as it is drawn: what is wider is taken apart
GLUE = "&#8288;"  # forbids a new line


def _piece(inside: str) -> str:
    return f"<math>{inside}</math>"


def _pieces(node: ast.expr, binding: int) -> list[str]:
    """Pieces with blanks between them where a line may end."""
    text, own = _Writer().visit(node)
    wide = _width(ElementTree.fromstring(text)) > WIDEST
    called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
    if called == "where":
        return [_stacked(node.args)]  # type: ignore[attr-defined]
    if own < binding:
        return [_piece(_sign("(")), GLUE, *_pieces(node, _LOOSE), GLUE, _piece(_sign(")"))]
    match node:
        case ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]):
            return [*_pieces(left, _LOOSE), GLUE, " ", _piece(_sign("=")), " ",
                    *_pieces(right, _LOOSE)]  # fmt: skip
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as op, right=right):
            sign = _piece(_sign("+" if isinstance(op, ast.Add) else "−"))
            return [*_pieces(left, _SUM), " ", sign, GLUE, *_pieces(right, _PRODUCT)]
        case ast.BinOp(left=left, op=ast.BitAnd() | ast.BitOr() as op, right=right):
            word = _piece(_sign("and" if isinstance(op, ast.BitAnd) else "or"))
            return [*_pieces(left, _SUM), " ", word, " ", *_pieces(right, _PRODUCT)]
        case ast.Compare(left=left, ops=[relation], comparators=[right]) if (
                len(ast.unparse(node)) > WHOLE):
            sign = _piece(_sign(_RELATIONS.get(type(relation), "?")))
            return [*_pieces(left, _LOOSE), " ", sign, GLUE, " ", *_pieces(right, _LOOSE)]
        case ast.BinOp(left=left, op=ast.Mult(), right=right) if len(ast.unparse(node)) > WHOLE:
            signed = isinstance(left, ast.UnaryOp)
            return [*_pieces(left, _SUM if signed else _PRODUCT), " ", _piece(_sign("·")), GLUE,
                    *_pieces(right, _PRODUCT)]  # fmt: skip
        case ast.UnaryOp(op=ast.USub(), operand=inner) if len(ast.unparse(node)) > WHOLE:
            return [_piece(_sign("−")), GLUE, *_pieces(inner, _PRODUCT)]
        case ast.BinOp(left=left, op=ast.Div(), right=right) if wide:
            return [*_pieces(left, _PRODUCT), " ", _piece(_sign("/")), GLUE,
                    *_pieces(right, _POWER)]  # fmt: skip
        case ast.BinOp(left=left, op=ast.Pow(), right=right) if wide:
            power = f"<msup>{_sign(')')}{_Writer().visit(right)[0]}</msup>"
            return [_piece(_sign("(")), GLUE, *_pieces(left, _LOOSE), GLUE, _piece(power)]
        case ast.Call(args=args) if wide or (
                len(ast.unparse(node)) > WHOLE and called not in _DRAWN):
            listed = [p for k, arg in enumerate(args)
                      for p in (*[GLUE, _piece(_sign(",")), " "] * bool(k), *_pieces(arg, _LOOSE))]
            head = _piece(f"<mi>{_FUNCTIONS.get(called, called)}</mi>{_sign('(')}")
            return [head, GLUE, *listed, GLUE, _piece(_sign(")"))]
    return [_piece(text)]


def _width(element: ElementTree.Element) -> int:
    """Return the characters of an element side by side; of a fraction those of its wider half."""
    inside = [_width(child) for child in element]
    return len(element.text or "") + (max if element.tag == "mfrac" else sum)(inside)


def _stacked(args: list[ast.expr]) -> str:
    """Cases below each other, behind one brace."""
    rows = []
    for value, condition in _cases_of(args):
        said = "otherwise"
        if condition is not None:
            said = f"if&nbsp;{GLUE}{''.join(_pieces(condition, _LOOSE))}"
        rows.append(f'<span class="case">{"".join(_pieces(value, _LOOSE))} '
                    f'<span class="if">{said}</span></span>')  # fmt: skip
    return f'<span class="cases">{"".join(rows)}</span>'


def _cases_of(args: list[ast.expr]) -> list[tuple[ast.expr, ast.expr | None]]:
    """``where(a, x, where(b, y, z))`` as values and conditions, the last one without."""
    condition, value, other = args
    if isinstance(other, ast.Call) and ast.unparse(other.func) == "where" and len(other.args) == 3:
        return [(value, condition), *_cases_of(other.args)]
    return [(value, condition), (other, None)]


def _row(*parts: str) -> str:
    return f"<mrow>{''.join(parts)}</mrow>"


def _sign(text: str) -> str:
    return f"<mo>{text}</mo>"


def _bracketed(text: str) -> str:
    """In brackets, which grow only around what is high."""
    grow = str("<mfrac>" in text).lower()
    left, right = (f'<mo stretchy="{grow}">{sign}</mo>' for sign in "()")
    return _row(left, text, right)


def _identifier(name: str) -> str:
    """A name: single letters slanted, words upright as they are typed, indices below."""
    head, _, tail = name.partition("_")
    if re.fullmatch(r"[A-Za-z]\d+", head) and not tail:
        head, tail = head[0], head[1:]
    if tail and (len(head) == 1 or head in _GREEK or tail.isdigit()):
        return f"<msub>{_identifier(head)}<mtext>{escape(tail)}</mtext></msub>"
    name = _GREEK.get(name, name)
    return f"<mi>{name}</mi>" if len(name) == 1 else f'<mi class="word">{escape(name)}</mi>'


class _Writer(ast.NodeVisitor):
    """Each visit gives the MathML and how tightly it binds."""

    def _in(self, node: ast.AST, binding: int) -> str:
        text, own = self.visit(node)
        return text if own >= binding else _bracketed(text)

    def generic_visit(self, node: ast.AST) -> tuple[str, int]:
        return f"<mtext>{escape(ast.unparse(node))}</mtext>", _ATOM

    def visit_Name(self, node: ast.Name) -> tuple[str, int]:
        return _identifier(node.id), _ATOM

    def visit_Constant(self, node: ast.Constant) -> tuple[str, int]:
        number = f"{node.value:g}" if isinstance(node.value, float) else str(node.value)
        mantissa, power, exponent = number.partition("e")
        if not power:
            return f"<mn>{number}</mn>", _ATOM
        ten = f"<msup><mn>10</mn><mn>{int(exponent)}</mn></msup>"
        return (ten, _POWER) if mantissa == "1" else (
            _row(f"<mn>{mantissa}</mn>", _sign("·"), ten), _PRODUCT)  # fmt: skip

    def visit_Attribute(self, node: ast.Attribute) -> tuple[str, int]:
        owner = ast.unparse(node.value)
        return f"<msub>{_identifier(node.attr)}<mtext>{escape(owner)}</mtext></msub>", _ATOM

    def visit_Subscript(self, node: ast.Subscript) -> tuple[str, int]:
        return f"<msub>{self._in(node.value, _ATOM)}{self.visit(node.slice)[0]}</msub>", _ATOM

    def visit_UnaryOp(self, node: ast.UnaryOp) -> tuple[str, int]:
        if isinstance(node.op, ast.USub):
            return _row(_sign("−"), self._in(node.operand, _PRODUCT)), _SUM
        return _row(_sign("not"), self._in(node.operand, _ATOM)), _SUM

    def visit_BinOp(self, node: ast.BinOp) -> tuple[str, int]:
        kind = type(node.op)
        if kind is ast.Div:
            return f"<mfrac>{self.visit(node.left)[0]}{self.visit(node.right)[0]}</mfrac>", _PRODUCT
        if kind is ast.Pow:
            return f"<msup>{self._in(node.left, _ATOM)}{self.visit(node.right)[0]}</msup>", _POWER
        if kind is ast.Mult:
            signed = isinstance(node.left, ast.UnaryOp)  # -a*b needs no brackets of its own
            return _row(self._in(node.left, _SUM if signed else _PRODUCT), _sign("·"),
                        self._in(node.right, _PRODUCT)), _SUM if signed else _PRODUCT  # fmt: skip
        signs = {ast.Add: "+", ast.Sub: "−", ast.BitAnd: "and", ast.BitOr: "or", ast.Mod: "mod"}
        return _row(self._in(node.left, _SUM), _sign(signs.get(kind, "?")),
                    self._in(node.right, _PRODUCT)), _SUM  # fmt: skip

    def visit_Compare(self, node: ast.Compare) -> tuple[str, int]:
        sides = [self.visit(side)[0] for side in (node.left, *node.comparators)]
        parts = [sides[0]]
        for relation, side in zip(node.ops, sides[1:], strict=True):
            parts += [_sign(_RELATIONS.get(type(relation), "?")), side]
        return _row(*parts), _LOOSE

    def visit_Call(self, node: ast.Call) -> tuple[str, int]:
        name = ast.unparse(node.func)
        inside = [self.visit(a)[0] for a in node.args]
        if name == "der" and len(inside) == 1:
            text, own = self.visit(node.args[0])
            dot = f'<mover accent="true">{text}{_sign("˙")}</mover>'
            slow = _row('<mfrac><mi>d</mi><mrow><mi>d</mi><mi>t</mi></mrow></mfrac>', text)
            return (dot if own == _ATOM and text.count("<mi>") == 1 else slow), _ATOM
        if name == "sqrt":
            return f"<msqrt>{inside[0]}</msqrt>", _ATOM
        if name == "abs_":
            return _row(_sign("|"), inside[0], _sign("|")), _ATOM
        if name == "exp" and "<mfrac>" not in inside[0]:
            return f"<msup><mi>e</mi>{inside[0]}</msup>", _POWER
        if name == "where":
            return self._cases(node.args), _ATOM
        listed = _sign(",").join(inside)
        return _row(f"<mi>{_FUNCTIONS.get(name, name)}</mi>", _bracketed(listed)), _ATOM

    def _cases(self, args: list[ast.expr]) -> str:
        """``where(a, x, where(b, y, z))`` as one brace with three rows."""
        rows = [(self.visit(value)[0], "<mtext>otherwise</mtext>" if condition is None else
                 _row("<mtext>if&#160;</mtext>", self.visit(condition)[0]))
                for value, condition in _cases_of(args)]  # fmt: skip
        cells = "".join(f"<mtr><mtd>{a}</mtd><mtd>{b}</mtd></mtr>" for a, b in rows)
        return _row('<mo stretchy="true">{</mo>', f'<mtable>{cells}</mtable>')
