"""The bodies of the functions, a family a file; importing this package fills the catalogue."""

from core.formula.functions import aggregates as aggregates
from core.formula.functions import amounts as amounts
from core.formula.functions import arrays as arrays
from core.formula.functions import bonds as bonds
from core.formula.functions import characters as characters
from core.formula.functions import complex as complex  # noqa: A004 - the family is called so
from core.formula.functions import conditional as conditional
from core.formula.functions import counting as counting
from core.formula.functions import database as database
from core.formula.functions import dates as dates
from core.formula.functions import depreciation as depreciation
from core.formula.functions import distributions as distributions
from core.formula.functions import engineering as engineering
from core.formula.functions import financial as financial
from core.formula.functions import grouping as grouping
from core.formula.functions import hypotheses as hypotheses
from core.formula.functions import information as information
from core.formula.functions import logical as logical
from core.formula.functions import lookup as lookup
from core.formula.functions import math as math
from core.formula.functions import matrix as matrix
from core.formula.functions import odd_bonds as odd_bonds
from core.formula.functions import ranking as ranking
from core.formula.functions import reference as reference
from core.formula.functions import regex as regex
from core.formula.functions import regression as regression
from core.formula.functions import rounding as rounding
from core.formula.functions import statistical as statistical
from core.formula.functions import text as text
from core.formula.functions import trigonometry as trigonometry
