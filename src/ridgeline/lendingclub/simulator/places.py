"""Where applications come from: states, their ZIP prefixes and shares by class."""

from typing import Final

__all__ = ["PLACES"]

# State, first and last three-digit ZIP prefix, shares in percent among accepted and
# among declined.
PLACES: Final = tuple(
    (state, int(first), int(last), float(accepted), float(rejected))
    for state, first, last, accepted, rejected in (
        line.split()
        for line in """
AK 995 999 0.2 0.2
AL 350 369 1.2 1.8
AR 716 729 0.7 1.1
AZ 850 865 2.4 2.2
CA 900 961 13.8 11.5
CO 800 816 2.1 1.7
CT 060 069 1.6 1.5
DC 200 205 0.2 0.2
DE 197 199 0.3 0.4
FL 320 349 7.2 8.0
GA 300 319 3.4 3.4
HI 967 968 0.5 0.4
ID 832 838 0.2 0.2
IL 600 629 4.0 4.0
IN 460 479 1.7 1.8
KS 660 679 0.8 1.0
KY 400 427 1.0 1.5
LA 700 714 1.1 1.1
MA 010 027 2.2 1.8
MD 206 219 2.3 2.1
ME 039 049 0.2 0.3
MI 480 499 2.6 2.7
MN 550 567 1.8 1.1
MO 630 658 1.6 1.7
MS 386 397 0.6 1.2
MT 590 599 0.3 0.2
NC 270 289 2.8 3.3
ND 580 588 0.2 0.2
NE 680 693 0.3 0.3
NH 030 038 0.5 0.4
NJ 070 089 3.3 3.1
NM 870 884 0.5 0.3
NV 889 898 1.4 1.3
NY 100 149 8.5 7.6
OH 430 459 3.4 3.3
OK 730 749 0.9 1.2
OR 970 979 1.2 1.0
PA 150 196 3.3 3.8
RI 028 029 0.4 0.4
SC 290 299 1.3 1.7
SD 570 577 0.2 0.2
TN 370 385 1.5 2.1
TX 750 799 8.4 9.7
UT 840 847 0.6 0.8
VA 220 246 2.9 2.6
VT 050 059 0.2 0.1
WA 980 994 2.1 2.0
WI 530 549 1.3 1.1
WV 247 268 0.4 0.4
WY 820 831 0.2 0.2
""".strip().splitlines()
    )
)
