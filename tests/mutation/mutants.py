"""The changes that are made to a module: each a piece of its source, and what stands there instead."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.Gt),
    ast.LtE: (ast.Lt, ast.GtE),
    ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.LtE),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
CHECKS = ("strict",)
"""Named arguments that only make sure of what is so anyway."""
SYMMETRIC = ("transpose", "min", "max")
"""Functions whose first two arguments may stand in either order."""
LOGIC: dict[type[ast.boolop], type[ast.boolop]] = {ast.And: ast.Or, ast.Or: ast.And}


@dataclass(frozen=True)
class Mutant:
    """A change: the bytes of the source from start to end become `changed`.

    line: of the change, from 1. reach: first and last line of the statement that it is in. function: qualified name of
    the function that it is in, or of the class. live: whether it is in what runs when a function is called, and not
    when the module is imported.
    """

    start: int
    end: int
    line: int
    reach: tuple[int, int]
    function: str
    live: bool
    original: str
    changed: str

    def applied(self, source: bytes) -> bytes:
        """The source with this change."""
        return source[: self.start] + self.changed.encode() + source[self.end :]


def mutants(source: bytes) -> list[Mutant]:
    """Every change to a module, in the order of its lines; text and annotations are left as they are."""
    return sorted(_Walk(source).found, key=lambda each: (each.start, each.end, each.changed))


def meanings(source: bytes) -> dict[str, str]:
    """What each function of a module does, by its qualified name; what is in a class or the module alone by theirs.

    Words that explain and annotations do not count.
    """
    found: dict[str, list[str]] = {}

    def read(statements: list[ast.stmt], name: str) -> None:
        said = found.setdefault(name, [])
        for statement in statements:
            match statement:
                case ast.Expr(value=ast.Constant()) | ast.AnnAssign(value=None):
                    pass
                case ast.FunctionDef(name=own, args=arguments, body=body, decorator_list=around):
                    within = f"{name}.{own}".lstrip(".")
                    bare = [_with(each, annotation=None) for each in ast.walk(arguments) if isinstance(each, ast.arg)]
                    defaults = [*arguments.defaults, *filter(None, arguments.kw_defaults)]
                    found.setdefault(within, []).extend(map(ast.dump, [*bare, *around]))
                    said.extend(map(ast.dump, defaults))
                    read(body, within)
                case ast.ClassDef(name=own, body=body, bases=bases, decorator_list=around):
                    said.extend(map(ast.dump, [*bases, *around]))
                    read(body, f"{name}.{own}".lstrip("."))
                case _:
                    said.append(ast.unparse(_Bare().visit(statement)))

    read(ast.parse(source).body, "")
    return {name: "\n".join(said) for name, said in found.items()}


class _Bare(ast.NodeTransformer):
    """Takes the annotation from what is assigned."""

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        return ast.Assign([node.target], node.value, lineno=node.lineno) if node.value else node


def _with(node: Any, **fields: object) -> Any:
    """The same node with other fields."""
    return type(node)(**{name: getattr(node, name) for name in node._fields} | fields)


def _changes(node: ast.AST, modules: set[str]) -> Iterator[ast.AST]:
    """What may stand in the place of an expression or of a statement."""
    match node:
        case ast.Compare(ops=operators):
            for place, operator in enumerate(operators):
                for other in COMPARISONS[type(operator)]:
                    yield _with(node, ops=[*operators[:place], other(), *operators[place + 1 :]])
        case ast.BinOp(op=operation) | ast.AugAssign(op=operation):
            if type(operation) in ARITHMETIC:
                yield _with(node, op=ARITHMETIC[type(operation)]())
        case ast.BoolOp(op=logic):
            yield _with(node, op=LOGIC[type(logic)]())
        case ast.UnaryOp(op=ast.USub() | ast.Not() | ast.Invert(), operand=operand):
            yield operand
        case ast.Constant(value=bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(value=int(value)):
            yield from (ast.Constant(value + 1), *([ast.Constant(value - 1)] if value else []))
        case ast.Constant(value=float(value)):
            yield ast.Constant(2 * value if value else 1.0)
        case ast.IfExp(body=body, orelse=otherwise):
            yield _with(node, body=otherwise, orelse=body)
        case ast.Call():
            yield from _calls(node, modules)


def _calls(node: ast.Call, modules: set[str]) -> Iterator[ast.expr]:
    """A call with its first two arguments swapped, without one of those that have a name, or without its method."""
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if (
        len(node.args) > 1
        and name not in SYMMETRIC
        and not any(isinstance(each, ast.Starred) for each in node.args[:2])
    ):
        first, second, *more = node.args
        yield _with(node, args=[second, first, *more])
    for place, keyword in enumerate(node.keywords):
        if keyword.arg and keyword.arg not in CHECKS:
            yield _with(node, keywords=[*node.keywords[:place], *node.keywords[place + 1 :]])
    if isinstance(node.func, ast.Attribute) and _root(node.func.value) not in modules:
        yield node.func.value


def _root(node: ast.expr) -> str:
    """The name that a dotted name begins with, or that of `super()`; empty for other expressions."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else "super" if ast.unparse(node) == "super()" else ""


@dataclass(frozen=True)
class _Place:
    function: str = ""
    live: bool = False
    reach: tuple[int, int] = (0, 0)
    bound: set[str] = field(default_factory=set)
    """Names that have a value there already."""

    def inside(self, name: str) -> str:
        return f"{self.function}.{name}" if self.function else name


class _Walk:
    """Goes through a module and collects its changes."""

    def __init__(self, source: bytes):
        self.source, self.found = source, list[Mutant]()
        self.starts = [0]
        for line in source.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        tree = ast.parse(source)
        imports = [each for each in ast.walk(tree) if isinstance(each, ast.Import | ast.ImportFrom)]
        self.modules = {alias.asname or alias.name for each in imports for alias in each.names} | {"super"}
        self.body(tree.body, _Place())

    def body(self, statements: list[ast.stmt], place: _Place) -> None:
        for statement in statements:
            if not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)):
                self.statement(statement, place)

    def statement(self, node: ast.stmt, place: _Place) -> None:
        place = replace(place, reach=(node.lineno, node.end_lineno or node.lineno))
        match node:
            case ast.Import() | ast.ImportFrom():
                return
            case ast.FunctionDef(name=name, args=arguments, body=body):
                for default in (*arguments.defaults, *filter(None, arguments.kw_defaults)):
                    self.expression(default, replace(place, reach=(default.lineno, default.lineno)))
                bound = {each.arg for each in ast.walk(arguments) if isinstance(each, ast.arg)}
                self.body(body, _Place(place.inside(name), True, bound=bound))
                return
            case ast.ClassDef(name=name, body=body):
                self.body(body, _Place(place.inside(name)))
                return
        if _may_go(node, place):
            self.add(node, place, "pass")
        if isinstance(node, ast.If | ast.While | ast.For | ast.With):
            place = replace(place, reach=(node.lineno, max(node.lineno, node.body[0].lineno - 1)))
        if isinstance(node, ast.If | ast.While) and not isinstance(node.test, ast.Compare | ast.UnaryOp):
            self.add(node.test, place, f"not ({ast.unparse(node.test)})")
        if isinstance(node, ast.AugAssign):
            self.take(node, place)
        for name, value in ast.iter_fields(node):
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                self.body(value, place)
            elif name != "annotation" and not isinstance(node, ast.Raise):
                for each in value if isinstance(value, list) else [value]:
                    if isinstance(each, ast.AST):
                        self.expression(each, place)
        place.bound.update(each.id for each in ast.walk(node) if isinstance(each, ast.Name) and _stored(each))

    def expression(self, node: ast.AST, place: _Place) -> None:
        if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.keyword) and node.arg in CHECKS):
            return
        if isinstance(node, ast.Lambda):
            place = replace(place, live=True, reach=(node.body.lineno, node.body.end_lineno or node.body.lineno))
            self.expression(node.body, place)
            return
        if isinstance(node, ast.expr):
            self.take(node, place)
        for child in ast.iter_child_nodes(node):
            self.expression(child, place)

    def take(self, node: ast.expr | ast.stmt, place: _Place) -> None:
        for changed in _changes(node, self.modules):
            text = ast.unparse(changed)
            bare = isinstance(changed, ast.stmt | ast.Name | ast.Attribute | ast.Call | ast.Constant | ast.Subscript)
            self.add(node, place, text if bare else f"({text})")

    def add(self, node: ast.expr | ast.stmt, place: _Place, changed: str) -> None:
        assert node.end_lineno and node.end_col_offset is not None
        start = self.starts[node.lineno - 1] + node.col_offset
        end = self.starts[node.end_lineno - 1] + node.end_col_offset
        original = self.source[start:end].decode()
        self.found.append(Mutant(start, end, node.lineno, place.reach, place.function, place.live, original, changed))


def _stored(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Store)


def _may_go(node: ast.stmt, place: _Place) -> bool:
    """Whether a program without the statement still has a meaning: names that it reads have a value all the same."""
    match node:
        case ast.Expr(value=ast.Constant()):
            return False
        case ast.Expr() | ast.AugAssign() | ast.Raise() | ast.Continue() | ast.Break():
            return place.live
        case ast.Assign(targets=[ast.Name(id=name)]):
            return place.live and name in place.bound
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            return place.live
    return False
