"""What a policy may say, and what it is refused for."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from known_model import make_known
from profiled_model import make_profiled

from ridgeline import InputError, PointScale, Policy, load_policy
from ridgeline.decisions.points import point_factor, points_of
from ridgeline.decisions.policy import check_policy, policy_template

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=5,
)
KEYS = st.sampled_from([*Policy.__dataclass_fields__, "other"])


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"cutoff": float("nan")}, "cutoff is nan; it must be a finite number."),
        ({"cutoff": True}, "cutoff is True; it must be a finite number."),
        ({"declined": "left"}, "it must be one of 'below', 'above'"),
        ({"reference": ["best"]}, "'approved', 'cutoff', 'best'"),
        ({"most_reasons": -1}, "it must be from 0 to 20"),
        ({"labels": {"dti": 3}}, "it must be words by name"),
        ({"formats": {"dti": "{0.__class__}"}}, "it must hold one number"),
        ({"formats": {"dti": "{:q}"}}, "it must hold one number"),
        ({"formats": {"dti": "no number"}}, "it must hold one number"),
        ({"sentences": {"above": "{label.x}"}}, "label, value and reference alone"),
        ({"sentences": {"above": "{"}}, "label, value and reference alone"),
        ({"sentences": {"over": ""}}, "sentences has 'over'"),
        ({"decisions": {"approved": "declined"}}, "the same word"),
        ({"not_adjustable": "age"}, "it must be names of columns"),
        ({"points": PointScale(odds=0)}, "positive odds"),
        ({"points": 3}, "positive odds"),
        ({"unknown_missing": "fill"}, "'refuse', 'average'"),
    ],
)
def test_wrong_values_are_refused_in_one_sentence(wrong, said):
    with pytest.raises(InputError) as caught:
        Policy(**wrong)
    assert said in str(caught.value)
    assert str(caught.value).endswith(".")


@settings(max_examples=400, deadline=None)
@given(content=st.dictionaries(KEYS, JSON, max_size=3) | JSON)
def test_any_json_is_a_policy_or_one_refusal(tmp_path_factory, content):
    path = tmp_path_factory.getbasetemp() / "policy.json"
    path.write_text(json.dumps(content))
    try:
        said = repr(load_policy(path))
    except InputError as error:
        said = str(error)
    assert said.startswith(("Policy(", "The policy '", "'points' of "))
    assert said.startswith("Policy(") or said.endswith((".", "template."))


@pytest.mark.parametrize("text", ["", "{", "[" * 5000, "\x00"])
def test_other_files_are_refused(tmp_path, text):
    path = tmp_path / "policy.json"
    path.write_text(text)
    with pytest.raises(InputError, match="is not JSON"):
        load_policy(path)
    with pytest.raises(InputError, match="does not exist"):
        load_policy(tmp_path / "none.json")


def test_the_template_is_the_usual_policy_in_full(tmp_path):
    scorer = make_profiled()
    path = tmp_path / "policy.json"
    path.write_text(policy_template(scorer))
    policy = load_policy(path)
    check_policy(policy, scorer)
    assert policy.line(scorer) == 0
    assert set(json.loads(path.read_text())) == set(Policy.__dataclass_fields__)
    assert policy.sentence("above") == Policy().sentence("above")


def test_a_policy_for_another_model_is_refused():
    with pytest.raises(InputError, match="names the column 'age'"):
        check_policy(Policy(not_adjustable=("age",)), make_known())
    with pytest.raises(InputError, match="a probability above 0 and below 1"):
        check_policy(Policy(cutoff=40), make_known())


def test_points_double_the_odds():
    policy = Policy(points=PointScale(base=600, odds=30, double=20))
    log_odds = np.log([30, 60, 120, 15])
    np.testing.assert_allclose(points_of(policy, log_odds), [600, 620, 640, 580])
    other = Policy(declined="above", points=PointScale(base=600, odds=30, double=20))
    np.testing.assert_allclose(points_of(other, -log_odds), [600, 620, 640, 580])
    assert point_factor(other) == -point_factor(policy)
    with pytest.raises(InputError, match="no points"):
        points_of(Policy(), log_odds)
