"""What the published files look like in figures: the constants of the simulator.

Facts only, by class and by month: volumes, shares and the shapes of the densities.
The window (2015-01 to 2018-06) is calibrated on the full files' monthly counts and on
samples of both files; the years around it only need to look right. Probabilities are
built from these constants in `distributions`, and nowhere else.

Shares are in percent. A "shape" lists logarithms of a density at its knots: it is
linear in between, and its level does not matter because it is normalised.
"""

from typing import Final, NamedTuple

__all__ = [
    "ACCEPTED_DTI",
    "ACCEPTED_EMPLOYMENT",
    "ACCEPTED_SCORE_MEANS",
    "ACCEPTED_SCORE_SHAPE",
    "ACCEPTED_SCORE_TAIL",
    "AMOUNT_PROFILES",
    "CATEGORIES",
    "CODE_SPELLING",
    "DTI_TAIL_EXPONENT",
    "EARLY_DTI",
    "FICO_END",
    "FILE_ROWS",
    "FIRST_MONTH",
    "FIRST_YEAR",
    "FOOTER_ROWS",
    "FREE_TITLES",
    "FREE_TITLE_END",
    "FREE_TITLE_SHARE",
    "LARGE_AMOUNTS",
    "LAST_YEAR",
    "MISSING_ISSUE_DATE",
    "MISSING_TITLE",
    "POLICY_TWO",
    "REJECTED_SCORE_SHAPE",
    "REJECTED_SCORE_SPIKE",
    "REJECTED_ZERO_SCORE",
    "SCORED_DTI",
    "SCORED_EMPLOYMENT",
    "SCORED_SHARES",
    "UNSCORED_DTI",
    "UNSCORED_EMPLOYMENT",
    "UNSCORED_ERAS",
    "WINDOW_VOLUMES",
    "YEARLY_VOLUMES",
    "AmountProfile",
    "DtiProfile",
]


class AmountProfile(NamedTuple):
    """Heaps, the shares of the coarser and finer multiples, and the shape over dollars.

    `below` and `above` are the shares under 1,000 and over 40,000.
    """

    heaps: dict[float, float]
    grains: dict[int, float]
    shape: dict[float, float]
    below: float
    above: float


class DtiProfile(NamedTuple):
    """Shares of the coded cells and of the tail above 200; the rest has the shape.

    `heaps` are values in the tail and their shares of it; it ends at `largest`.
    """

    missing: float
    minus_one: float
    zero: float
    hundred: float
    tail: float
    heaps: dict[int, float]
    largest: int
    shape: dict[float, float]


def _pairs(text: str) -> dict[float, float]:
    """Reads `key value key value ...` into a dictionary of numbers."""
    numbers = [float(word) for word in text.split()]
    return dict(zip(numbers[::2], numbers[1::2], strict=True))


def _couples(text: str) -> tuple[tuple[int, int], ...]:
    """Reads `accepted rejected accepted rejected ...` into couples of counts."""
    counts = [int(word) for word in text.split()]
    return tuple(zip(counts[::2], counts[1::2], strict=True))


def _from_months(text: str) -> dict[str, float]:
    """Reads `month value month value ...`, each value from its month on."""
    words = text.split()
    return dict(zip(words[::2], map(float, words[1::2]), strict=True))


# --- Volumes ---------------------------------------------------------------------

FILE_ROWS: Final = {"accepted": 2_260_668, "rejected": 27_648_741}
FOOTER_ROWS: Final = 33  # lines at the end of the full accepted file, not loans
FIRST_YEAR: Final = 2007
LAST_YEAR: Final = 2018
FIRST_MONTH: Final = 5  # months are counted from 2007-01 = 0; the files open in June

# Accepted and rejected counts of the full files, 2015-01 to 2018-06.
WINDOW_VOLUMES: Final = _couples("""
35107 211743 23770 155639 25400 194660 35427 209217 31913 232100 28485 225987
45962 263732 35886 234307 28641 232508 48631 288981 37530 295726 44343 314779
32366 334928 39529 318850 61992 442426 36432 386183 28403 247300 33019 363078
34696 412072 36280 456196 28144 404351 32772 449300 34591 483070 36183 472120
31835 489828 27763 409786 37181 480142 29683 474768 37681 587641 38087 602900
39415 686011 43573 663421 39713 657589 38151 690301 42343 707586 38154 622600
36347 668618 32746 553228 38771 653288 42928 746146 46311 896421 41533 799414
""")

# Years outside the window; 2018 is its second half. With the window they add up to
# the rows of the full files.
YEARLY_VOLUMES: Final = {
    2007: (603, 5_274),
    2008: (2_393, 25_596),
    2009: (5_281, 56_991),
    2010: (12_537, 112_561),
    2011: (21_721, 217_792),
    2012: (53_367, 337_277),
    2013: (134_814, 760_942),
    2014: (235_629, 1_933_700),
    2018: (256_606, 5_179_667),
}

# Share of declined applications that carry a score, from each month on.
SCORED_SHARES: Final = _from_months("""
2007-01 98.0 2013-10 92.1 2014-01 91.8 2014-04 83.8 2014-07 75.8 2014-10 95.9
2015-01 66.4 2015-04 7.4 2015-07 3.9 2015-10 8.3 2016-01 16.3 2016-04 8.2
2016-07 9.9 2016-10 37.7 2017-01 40.6 2017-04 38.0 2017-07 46.9 2017-10 85.7
2018-01 22.8 2018-04 4.4 2018-07 1.1 2018-10 3.3""")
FICO_END: Final = "2013-11"  # declined applications carry a Vantage score from here on
MISSING_ISSUE_DATE: Final = 0.01

# --- Amount ----------------------------------------------------------------------

# Every amount is a multiple of 25. The heaps are exact amounts with their share; the
# rest is spread over the other multiples of 1000, 500, 100, 50 and 25 (the coarsest
# that divides the amount counts), with one shape over dollars for all of them.
AMOUNT_PROFILES: Final = {
    "accepted": AmountProfile(
        heaps=_pairs("""
1000 0.61 1200 0.29 2000 0.81 2400 0.23 2500 0.55 3000 1.69 3500 0.52 3600 0.41
4000 1.57 4200 0.29 4500 0.29 4800 0.67 5000 4.20 5500 0.49 5600 0.26 6000 3.00
6025 0.26 6500 0.35 7000 1.86 7200 0.64 7500 0.79 8000 3.40 8400 0.58 9000 1.08
9600 0.70 10000 7.80 10500 0.29 10800 0.29 11000 0.84 11200 0.55 12000 5.30
12500 0.23 12800 0.38 13000 0.84 14000 1.37 14400 0.70 15000 5.80 16000 3.20
16800 0.47 17000 0.87 18000 2.30 19000 0.23 19200 0.55 20000 5.70 21000 1.05
21600 0.32 22000 0.70 23000 0.38 24000 2.39 25000 3.00 28000 1.37 30000 2.85
32000 0.67 35000 3.60 36000 0.29 40000 1.02"""),
        grains={1000: 0.79, 500: 2.24, 100: 7.63, 50: 2.91, 25: 5.91},
        shape=_pairs("""
1000 -0.71 2000 -0.43 4000 -0.43 7000 0 10000 -0.11 15000 -0.40 20000 -0.78
25000 -1.08 30000 -1.56 35000 -2.35 40000 -3.13"""),
        below=0.0,
        above=0.0,
    ),
    "scored": AmountProfile(
        heaps=_pairs("""
1000 6.48 1500 2.78 2000 4.63 2500 2.04 3000 4.35 3500 1.48 4000 2.50 5000 11.20
6000 3.33 6500 0.65 7000 2.13 7500 0.65 8000 1.94 9000 0.65 10000 13.98 11000 0.56
12000 1.76 14000 0.46 15000 6.39 16000 0.37 18000 1.20 20000 8.24 24000 0.37
25000 3.61 27000 0.37 28000 0.46 30000 3.24 35000 2.78 40000 4.54"""),
        grains={1000: 1.39, 500: 1.30, 100: 1.48, 50: 0.93, 25: 1.76},
        shape=_pairs("""
1000 0 2000 -0.50 4000 -0.98 7000 -1.43 10000 -1.30 15000 -1.96 20000 -1.84
25000 -2.52 30000 -2.93 35000 -3.07 40000 -3.42"""),
        below=0.0,
        above=0.09,
    ),
    "unscored": AmountProfile(
        heaps=_pairs("""
1000 6.30 1500 1.83 2000 4.89 2500 3.06 3000 4.47 3500 1.02 4000 2.38 4500 0.43
5000 11.31 6000 2.85 6500 0.60 7000 1.91 7500 0.72 8000 1.91 9000 0.68 10000 15.57
12000 1.57 13000 0.64 14000 0.43 15000 6.55 16000 0.38 17000 0.55 18000 0.51
20000 6.89 25000 4.08 30000 3.23 35000 4.93 40000 2.47"""),
        grains={1000: 2.25, 500: 1.40, 100: 2.59, 50: 0.60, 25: 0.98},
        shape=_pairs("""
1000 0 2000 -0.78 4000 -1.49 7000 -1.70 10000 -1.44 15000 -2.27 20000 -2.29
25000 -2.55 30000 -3.26 35000 -3.64 40000 -3.98"""),
        below=0.01,
        above=1.22,
    ),
}
# Amounts above 40,000, which only declined applications ask for, and their weights.
LARGE_AMOUNTS: Final = _pairs("""
41000 1 45000 3 50000 30 50975 1 51800 1 60000 3 65000 1 75000 5 80000 3 100000 35
120000 1 150000 4 180000 2 200000 2 222000 1 250000 6 300000 9 500000 0.3
1000000 0.05 1400000 0.01""")

# --- Score -----------------------------------------------------------------------

# Accepted: lower ends of the FICO bands. The shape is that of the window; each year
# tilts it so that the mean of the midpoints is the year's.
ACCEPTED_SCORE_SHAPE: Final = _pairs("""
660 -0.13 665 0 670 -0.12 680 -0.18 690 -0.31 700 -0.48 710 -0.80 720 -1.07
735 -1.36 750 -1.82 770 -2.60 800 -3.30 825 -4.43 845 -7.00""")
ACCEPTED_SCORE_MEANS: Final = (  # 2007 to 2018
    *(715.0, 714.0, 716.0, 716.0, 715.0, 702.0),
    *(697.5, 696.0, 697.6, 696.7, 700.9, 711.5),
)
# Invented: the samples have no accepted loan below 660. A thin tail keeps the log-odds
# finite; it follows the declined scores and thins out by a factor e for every `length`:
# share and length.
ACCEPTED_SCORE_TAIL: Final = (0.05, 40.0)

# Declined: every integer from 300 to 990, and a coded 501; zeros in FICO times.
REJECTED_SCORE_SHAPE: Final = _pairs("""
300 -7.03 440 -5.73 480 -4.69 505 -2.54 530 -1.47 560 -1.13 580 -0.55 600 -0.40
615 -0.10 630 -0.15 650 -0.19 670 -0.22 690 -0.80 710 -1.22 740 -1.80 780 -3.05
820 -3.84 880 -4.53 940 -5.74 990 -6.45""")
REJECTED_SCORE_SPIKE: Final = (501, 2.5)
REJECTED_ZERO_SCORE: Final = 8.0

# --- Debt-to-income --------------------------------------------------------------

ACCEPTED_DTI: Final = DtiProfile(
    missing=0.084,
    minus_one=0.0001,
    zero=0.02,
    hundred=0.001,
    tail=0.03,
    heaps={999: 50.0},
    largest=999,
    shape=_pairs("""
0.01 -3.06 1 -1.85 3 -1.35 6 -0.84 9 -0.40 12 -0.23 15 -0.05 18 -0.14 21 -0.23
25 -0.38 29 -0.66 32 -0.97 35 -1.45 37 -2.05 39 -2.49 40.5 -3.31 43 -3.89 50 -4.90
60 -5.40 80 -6.60 120 -8.00 200 -8.56"""),
)
SCORED_DTI: Final = DtiProfile(
    missing=0.0,
    minus_one=0.19,
    zero=3.98,
    hundred=2.50,
    tail=1.76,
    heaps={9999: 5.0, 99_999: 0.5},
    largest=99_999,
    shape=_pairs("""
0.01 0 1 -0.07 3 -0.28 6 -0.42 10 -0.27 15 -0.10 20 -0.22 25 -0.38 30 -0.60 35 -0.60
40 -0.95 45 -1.26 50 -1.60 60 -2.45 75 -3.50 100 -4.24 140 -5.18 200 -5.41"""),
)
# Declined before FICO_END.
EARLY_DTI: Final = SCORED_DTI._replace(minus_one=0.5, zero=9.0, hundred=0.0)
# Declined without a score; -1 and 100 change with the era, see UNSCORED_ERAS.
UNSCORED_DTI: Final = DtiProfile(
    missing=0.0,
    minus_one=0.0,
    zero=3.66,
    hundred=0.0,
    tail=1.68,
    heaps={9999: 22.0, 99_999: 0.5},
    largest=99_999,
    shape=_pairs("""
0.01 -0.70 1 0 3 -0.31 6 -0.80 10 -0.50 15 -0.42 20 -0.58 25 -0.65 30 -0.92 35 -1.17
40 -1.35 45 -1.50 50 -2.00 60 -2.53 75 -3.52 100 -4.88 140 -6.07 200 -6.27"""),
)
DTI_TAIL_EXPONENT: Final = 0.9  # P(DTI > x | DTI > 200) falls as x to minus this

# --- Employment, and what the form's defaults did to declined applications -------

# From `< 1 year` to `9 years`, then `10+ years`, then an empty cell.
ACCEPTED_EMPLOYMENT: Final = (
    *(8.16, 6.87, 9.96, 7.56, 6.22, 6.20, 4.31, 4.08, 3.94, 3.81, 32.03, 6.87),
)
SCORED_EMPLOYMENT: Final = (
    *(91.77, 0.37, 0.56, 0.28, 0.46, 1.48, 0.19, 0.19, 0.09, 0.19, 2.59, 1.85),
)
# Without a score: `< 1 year`, `5 years` and empty change with the era, below.
UNSCORED_EMPLOYMENT: Final = (
    *(0.0, 0.67, 0.29, 0.29, 0.29, 0.0, 0.13, 0.04, 0.21, 0.04, 1.01, 0.0),
)
# Eras of the form for applications without a score: first month, and the shares of
# `5 years` and of empty employment cells, of DTI -1 and of DTI exactly 100.
UNSCORED_ERAS: Final = (
    ("2007-01", 4.2, 1.9, 13.8, 0.0),
    ("2015-10", 20.1, 5.4, 5.4, 0.14),
    ("2016-10", 32.0, 5.6, 11.6, 3.4),
    ("2017-10", 3.7, 3.7, 13.0, 48.0),
    ("2018-01", 0.7, 2.6, 0.8, 9.9),
)

# --- Purpose ---------------------------------------------------------------------

# Code, display name, and the shares among accepted loans, declined applications with a
# score, and those without one before 2018 and since.
CATEGORIES: Final = (
    ("debt_consolidation", "Debt consolidation", 56.79, 46.90, 45.69, 40.93),
    ("credit_card", "Credit card refinancing", 21.77, 13.97, 10.73, 17.81),
    ("home_improvement", "Home improvement", 7.12, 4.81, 5.16, 2.21),
    ("other", "Other", 6.26, 15.91, 16.72, 20.85),
    ("major_purchase", "Major purchase", 2.30, 2.22, 3.93, 2.97),
    ("medical", "Medical expenses", 1.30, 3.89, 3.11, 2.53),
    ("small_business", "Business", 1.00, 1.70, 2.76, 0.57),
    ("car", "Car financing", 0.98, 4.44, 4.05, 5.56),
    ("vacation", "Vacation", 0.92, 1.48, 1.06, 0.51),
    ("moving", "Moving and relocation", 0.82, 2.50, 2.23, 1.83),
    ("house", "Home buying", 0.67, 2.13, 1.35, 3.60),
    ("renewable_energy", "Green loan", 0.06, 0.05, 0.53, 0.06),
    ("wedding", "Wedding expenses", 0.01, 0.02, 0.02, 0.01),
    ("educational", "Learning and training", 0.005, 0.01, 0.01, 0.01),
    # A form of its own, which never used codes.
    ("Business Loan", "Business Loan", 0.0, 0.05, 2.64, 0.57),
    ("Business Line Of Credit", "Business Line Of Credit", 0.0, 0.01, 0.06, 0.01),
)
MISSING_TITLE: Final = 0.005  # of declined applications

# Share of declined applications that spell the title as its code, from each month on:
# without a score, with a score.
CODE_SPELLING: Final = (
    ("2007-01", 95.8, 93.0),
    ("2016-09", 95.5, 40.0),
    ("2016-10", 95.5, 4.0),
    ("2017-08", 86.0, 4.0),
    ("2017-10", 60.0, 1.0),
    ("2017-11", 20.0, 0.0),
    ("2017-12", 0.0, 0.0),
)
# Before the form offered a list, people wrote what they liked: the month from which on
# it did, and the share of free text among declined applications' titles before it.
FREE_TITLE_END: Final = "2010-01"
FREE_TITLE_SHARE: Final = 40.0
FREE_TITLES: Final = (
    "Consolidating my bills",
    "Pay off two cards, keep one",
    "New roof before winter",
    "My wife's tuition",
    "a fresh start",
    'The "last" loan I need',
    "WEDDING 2009",
    "Bakery oven",
    "Moving across the country",
    "Used truck",
    "DebtFree",
    "Medical bills; dentist",
)

POLICY_TWO: Final = 0.3  # of declined applications, the others have policy code 0
