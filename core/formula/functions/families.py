"""The bodies of the functions, a family a file.

Importing this module fills the catalogue.
"""

from core.formula.functions import dates as dates
from core.formula.functions import information as information
from core.formula.functions import logical as logical
from core.formula.functions.catalogue import FUNCTIONS as FUNCTIONS
from core.formula.functions.finance import bonds as bonds
from core.formula.functions.finance import depreciation as depreciation
from core.formula.functions.finance import euro as euro
from core.formula.functions.finance import financial as financial
from core.formula.functions.finance import odd_bonds as odd_bonds
from core.formula.functions.mathematics import aggregates as aggregates
from core.formula.functions.mathematics import complex as complex  # noqa: A004 - the family is called so
from core.formula.functions.mathematics import counting as counting
from core.formula.functions.mathematics import engineering as engineering
from core.formula.functions.mathematics import math as math
from core.formula.functions.mathematics import matrix as matrix
from core.formula.functions.mathematics import rounding as rounding
from core.formula.functions.mathematics import trigonometry as trigonometry
from core.formula.functions.statistics import distributions as distributions
from core.formula.functions.statistics import hypotheses as hypotheses
from core.formula.functions.statistics import ranking as ranking
from core.formula.functions.statistics import regression as regression
from core.formula.functions.statistics import smoothing as smoothing
from core.formula.functions.statistics import statistical as statistical
from core.formula.functions.tables import arrays as arrays
from core.formula.functions.tables import conditional as conditional
from core.formula.functions.tables import database as database
from core.formula.functions.tables import grouping as grouping
from core.formula.functions.tables import lookup as lookup
from core.formula.functions.tables import pivot as pivot
from core.formula.functions.tables import reference as reference
from core.formula.functions.text import amounts as amounts
from core.formula.functions.text import characters as characters
from core.formula.functions.text import regex as regex
from core.formula.functions.text import text as text
