"""Texts of special values, as figures and tables of rates have them."""

from ridgeline.reporting.labels import category_texts


def test_special_values_that_round_to_one_text_are_told_apart():
    texts = category_texts([0.2424, 0.24241, 7.0, None], "temperature", {})
    assert texts[:2] == ["0.2424", "0.24241"]
    assert len(set(texts)) == 4
    assert texts[3] == "missing"
