"""Where does a component stand: its name, its owner, its parts, and how many instances it is?"""

from __future__ import annotations

import keyword
from collections.abc import Hashable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..exceptions import NamingError, unknown_name
from ..numerics.arrays import Indices

__all__ = ["TreeNode"]


class TreeNode:
    """A place in the tree of parts, for one instance or an array of them.

    Names with an underscore, so that authors are free to take all others.
    """

    _is_root: ClassVar[bool] = False
    if TYPE_CHECKING:  # what a class declares, and what has the names of it and of parts
        _declared: dict[str, Any]
        _specialised: ClassVar[dict[tuple[Hashable, ...], Any]]
        _said: ClassVar[dict[int, Any]]
        _own_keywords: ClassVar[bool]

        def __getattr__(self, name: str) -> Any: ...

    def __init__(self, count: int | None, counted: bool = False) -> None:
        self._name = ""
        self._counted = counted  # whether it was given a count of its own
        self._parent: TreeNode | None = None
        self._count = count
        self._children: dict[str, Any] = {}
        self._revision = 0  # of a root: names the values and the structure below it
        self._newest_revision = 0  # of a root: numbers up to here have been names
        self._structure_revision = 0  # of a root: changes of structure below it

    def _upward(self) -> Iterator[TreeNode]:
        """Yield this node and all that it is in, from the inside out."""
        node: TreeNode | None = self
        while node is not None:
            yield node
            node = node._parent

    @property
    def path(self) -> str:
        """Dotted path below the model; the class name while unattached."""
        if self._parent is None:
            return "" if self._is_root else type(self).__name__
        return ".".join([node._name for node in self._upward() if node._parent is not None][::-1])

    @property
    def size(self) -> int:
        """Number of instances."""
        return self._count or 1

    @property
    def _root(self) -> TreeNode:
        """The top of the tree that it is in."""
        *_, top = self._upward()
        return top

    def _is_inside(self, ancestor: TreeNode) -> bool:
        return any(node is ancestor for node in self._upward())

    def _parts(self) -> dict[str, Any]:
        """All parts below it by their path in it."""
        parts: dict[str, Any] = {}
        for name, child in self._children.items():
            parts[name] = child
            parts.update({f"{name}.{path}": part for path, part in child._parts().items()})
        return parts

    def _changed(self, structure: bool) -> None:
        """Tell the model that values, or even the structure, are new."""
        root = self._root
        root._newest_revision += 1  # whoever goes back to a revision leaves others their names
        root._revision = root._newest_revision
        root._structure_revision += structure

    # -- parts -----------------------------------------------------------------------
    def _place(self, name: str, parent: TreeNode | None) -> None:
        """Take a place in the tree, or leave it."""
        self._name = name
        object.__setattr__(self, "_parent", parent)  # a component assigned would become a part

    def _adopt(self, name: str, part: TreeNode) -> None:
        """Take a part under a name that is free."""
        where = f"{self.path}.{name}".lstrip(".")
        self._refuse_name(where, name)
        if part._parent is not None:
            root: Any = part._root
            whose = f"the model {root.name!r}" if root._is_root else "a composite"
            raise NamingError(where, f"this component is already part of {whose} as {part.path!r}.",
                              "Make a second one for a second place.", name=name, code="name.used")
        if part._is_root:
            raise NamingError(where, "a model cannot be part of another.",
                              "Write a composite component instead.", name=name, code="name.parts")
        if self._count is not None:
            part._spread(self._count, where)
        part._place(name, self)
        self._children[name] = part
        self._changed(True)

    def _refuse_name(self, where: str, name: str) -> None:
        plain = isinstance(name, str) and name.isidentifier() and not name.startswith("_")
        if not plain or keyword.iskeyword(name):
            raise NamingError(where, f"{name!r} cannot be used as a name.",
                              "Names are Python identifiers that do not start with '_'.",
                              name=name, code="name.invalid")
        if hasattr(type(self), name):
            raise NamingError(where, f"the name {name!r} is reserved by {type(self).__name__}.",
                              "Choose another name.", name=name, code="name.reserved")
        if name in self._children:
            raise NamingError(where, f"there is already a {type(self._children[name]).__name__} of "
                              "this name.", "Choose another name, or del the first one.", name=name,
                              code="name.taken")

    def _spread(self, count: int, where: str) -> None:
        """Become an array, with all parts, as a part of an array of composites."""
        if self._counted or self._count not in (None, count):
            raise NamingError(where, f"an array cannot be part of an array of composites, and this "
                              f"is one of {self._count} in one of {count}.",
                              "Give the count to one of the two, or add the composites one by one: "
                              'model.add(f"part{k}", …) for k in range(…).', code="parameter.count")
        self._count = count
        for name, child in self._children.items():
            child._spread(count, f"{where}.{name}")

    # -- instances -------------------------------------------------------------------
    def __len__(self) -> int:
        if self._count is None:
            raise TypeError("a model is no array: its parts are model.parts" if self._is_root else
                            f"{self.path} is a single component, not an array; "
                            f"{type(self).__name__}(count=…) makes one")
        return self._count

    def __bool__(self) -> bool:
        return True

    def _indices(self, index: Any, inside: Indices | None) -> Indices:
        """Numbers of the chosen instances, of all or of those ``inside``."""
        every = np.arange(self.size) if inside is None else np.asarray(inside)
        try:
            return np.atleast_1d(every[index])
        except IndexError:
            there = [f"0 to {self.size - 1}"]
            raise unknown_name(self.path, str(index), there, "instances") from None
