"""Trees of gradient boosting as arrays: from LightGBM's text, checked, and back."""

from itertools import pairwise
from typing import Any, Final, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

__all__ = ["BoostedTrees"]

Floats = NDArray[np.float64]
# No category and no missing value: rows beyond the threshold go right. The bit says
# where LightGBM would send missing values, which there are not.
_DECISION_TYPE: Final = "2"
# LightGBM's word for each field of `BoostedTrees`, and the type of its numbers.
_FIELDS: Final[tuple[tuple[str, type[Any]], ...]] = (
    ("num_leaves", np.int64),
    ("split_feature", np.int64),
    ("threshold", np.float64),
    ("left_child", np.int64),
    ("right_child", np.int64),
    ("leaf_value", np.float64),
)


class BoostedTrees(NamedTuple):
    """All trees one after the other, as LightGBM numbers them.

    A child is the number of a split of its tree, or, below zero, that of a leaf: -1 is
    leaf 0, -2 is leaf 1.
    """

    leaf_counts: NDArray[np.int64]  # of each tree; splits are one fewer
    split_features: NDArray[np.int64]  # of each split
    thresholds: Floats  # of each split
    left_children: NDArray[np.int64]  # of each split
    right_children: NDArray[np.int64]
    leaf_values: Floats

    @classmethod
    def of_text(cls, text: str) -> Self:
        """The trees of a model that LightGBM wrote, of numeric splits alone."""
        lines = text.split("\n")
        starts = [at for at, line in enumerate(lines) if line.startswith("Tree=")]
        trees = [
            dict(line.split("=", 1) for line in lines[begin:end] if "=" in line)
            for begin, end in pairwise([*starts, lines.index("end of trees")])
        ]

        def joined(key: str, kind: type[Any]) -> NDArray[Any]:
            words = [word for tree in trees for word in tree.get(key, "").split()]
            return np.array(words, dtype=object).astype(kind)

        return cls(*(joined(key, kind) for key, kind in _FIELDS))

    def text(self, width: int, objective: str) -> str:
        """As LightGBM reads them.

        The width is that of the rows; the objective, in LightGBM's words, is what makes
        predictions of the sums over trees.
        """
        parts = [
            "tree",
            "version=v4",
            "num_class=1",
            "num_tree_per_iteration=1",
            "label_index=0",
            f"max_feature_idx={width - 1}",
            f"objective={objective}",
            f"feature_names={' '.join(f'Column_{place}' for place in range(width))}",
            f"feature_infos={' '.join(['[-1:1]'] * width)}",
            "",
        ]
        ends = np.cumsum(self.leaf_counts)
        for number, (count, end) in enumerate(
            zip(self.leaf_counts.tolist(), ends.tolist(), strict=True)
        ):
            leaves = slice(end - count, end)
            # Every tree before this one has one split fewer than leaves.
            splits = slice(end - count - number, end - number - 1)
            parts += [
                f"Tree={number}",
                f"num_leaves={count}",
                "num_cat=0",
                f"split_feature={_line(self.split_features[splits])}",
                f"threshold={_line(self.thresholds[splits])}",
                f"decision_type={' '.join([_DECISION_TYPE] * (count - 1))}",
                f"left_child={_line(self.left_children[splits])}",
                f"right_child={_line(self.right_children[splits])}",
                f"leaf_value={_line(self.leaf_values[leaves])}",
                "is_linear=0",
                "shrinkage=1",
                "",
            ]
        return "\n".join([*parts, "end of trees", ""])

    def are_sound(self, width: int) -> bool:
        """Whether the arrays are trees that compiled code may follow in such rows."""
        if not all(
            isinstance(array, np.ndarray) and array.dtype == kind and array.ndim == 1
            for array, (_, kind) in zip(self, _FIELDS, strict=True)
        ):
            return False
        counts, leaves = self.leaf_counts, len(self.leaf_values)
        if not len(counts) or counts.min() < 1 or counts.max() > leaves:
            return False
        splits = leaves - len(counts)
        lengths = {len(array) for array in self[1:5]}
        if counts.sum() != leaves or lengths != {splits}:
            return False
        known = (self.split_features >= 0) & (self.split_features < width)
        finite = (
            np.isfinite(self.thresholds).all() and np.isfinite(self.leaf_values).all()
        )
        return bool(known.all() and finite and self._each_is_reached_once())

    def _each_is_reached_once(self) -> bool:
        """Whether one way leads to each leaf, and to each split but a tree's first."""
        counts = self.leaf_counts
        within = counts - 1
        leaf_start = np.repeat(np.cumsum(counts) - counts, within)
        split_start = np.repeat(np.cumsum(within) - within, within)
        here = np.arange(len(self.split_features)) - split_start
        leaf_end, split_end = np.repeat(counts, within), np.repeat(within, within)
        splits, leaves = [], []
        for child in (self.left_children, self.right_children):
            inner = child >= 0
            # Children come after their parent, so that every way down ends.
            on = (child > here) & (child < split_end)
            if not np.where(inner, on, ~child < leaf_end).all():
                return False
            splits.append((split_start + child)[inner])
            leaves.append((leaf_start + ~child)[~inner])
        ways = np.bincount(np.concatenate(splits), minlength=len(here))
        ends = np.bincount(np.concatenate(leaves), minlength=len(self.leaf_values))
        alone = np.repeat(counts == 1, counts)
        return bool((ways == (here > 0)).all() and (ends == ~alone).all())


def _line(values: NDArray[Any]) -> str:
    # The shortest digits that give the same number back.
    return " ".join(map(repr, values.tolist()))
