"""Conditions, choices, names and lambdas.

All but NOT decide themselves what they evaluate: the machine knows them.
"""

from __future__ import annotations

from core.formula.functions.catalogue import Argument, Takes, Work, form, function
from core.formula.values.value import NA, Array

_LOGICALS = (
    Argument("logical1", Takes.RANGE, "A condition, or a range of them; text and blanks in ranges are passed by."),
    Argument("logical2", Takes.RANGE, "Further conditions.", required=False, repeats=True),
)

form(
    "AND", "logical", "TRUE where all conditions are.", *_LOGICALS,
    work=Work(call=1_000, cell=100, grows=0),
    examples=(("=AND(A1>5,C1=1)", True), ("=AND(D1:D2)", False)),
)  # fmt: skip
form(
    "OR", "logical", "TRUE where at least one condition is.", *_LOGICALS,
    work=Work(call=1_000, cell=100, grows=0),
    examples=(("=OR(A1>50,C1=1)", True), ("=OR(FALSE,0)", False)),
)  # fmt: skip
form(
    "XOR", "logical", "TRUE where an odd number of the conditions is.", *_LOGICALS,
    work=Work(call=1_000, cell=100, grows=0),
    examples=(("=XOR(TRUE,FALSE)", True), ("=XOR(TRUE,TRUE)", False)),
)  # fmt: skip


@function(
    "NOT", "logical", "The opposite of a condition.",
    Argument("logical", Takes.LOGICAL, "The condition."),
    work=Work(call=1_000, grows=0),
    examples=(("=NOT(A1>5)", False), ("=NOT(0)", True)),
)  # fmt: skip
def not_(logical: bool) -> bool:
    return not logical


form("TRUE", "logical", "The logical value TRUE.", work=Work(call=1_000, grows=0), examples=(("=TRUE()", True),))
form("FALSE", "logical", "The logical value FALSE.", work=Work(call=1_000, grows=0), examples=(("=FALSE()", False),))

form(
    "IF", "logical", "One value where a condition holds, another where it does not.",
    Argument("logical_test", Takes.LOGICAL, "The condition."),
    Argument("value_if_true", Takes.OPERAND, "The value where it holds."),
    Argument("value_if_false", Takes.OPERAND, "The value where it does not; FALSE if left out.", required=False),
    work=Work(call=1_000),
    examples=(('=IF(A1>5,"yes","no")', "yes"), ("=IF(A1>50,1)", False)),
)  # fmt: skip
form(
    "IFS", "logical", "The value of the first condition that holds; #N/A where none does.",
    Argument("logical_test1", Takes.LOGICAL, "A condition.", repeats=True),
    Argument("value_if_true1", Takes.OPERAND, "Its value.", repeats=True),
    work=Work(call=1_000),
    examples=(('=IFS(A1>50,"high",A1>5,"middle")', "middle"), ('=IFS(A1>50,"high")', NA)),
)  # fmt: skip
form(
    "SWITCH", "logical", "The result beside the first value that equals an expression, or the default.",
    Argument("expression", Takes.VALUE, "What is compared."),
    Argument("value1", Takes.VALUE, "A value to compare it with."),
    Argument("result1", Takes.OPERAND, "The result for that value."),
    Argument("default_or_value2", Takes.OPERAND, "A next value, or, as the last argument, the default.",
             required=False, repeats=True),
    Argument("result2", Takes.OPERAND, "The result for that value.", required=False, repeats=True),
    work=Work(call=1_000),
    examples=(('=SWITCH(C2,1,"one",2,"two","more")', "two"), ('=SWITCH(C5,1,"one","more")', "more")),
)  # fmt: skip
form(
    "CHOOSE", "logical", "The value at a place in the list of arguments.",
    Argument("index_num", Takes.INTEGER, "The place, from 1."),
    Argument("value1", Takes.OPERAND, "The value at place 1."),
    Argument("value2", Takes.OPERAND, "The value at place 2, and so on.", required=False, repeats=True),
    work=Work(call=1_000),
    examples=(('=CHOOSE(2,"a","b","c")', "b"), ("=SUM(CHOOSE(1,A1:A3,C1:C3))", 60.0)),
)  # fmt: skip
form(
    "IFERROR", "logical", "A value, or another where the first is an error.",
    Argument("value", Takes.ANY, "The value to look at."),
    Argument("value_if_error", Takes.OPERAND, "What stands in for an error."),
    work=Work(call=1_000),
    examples=(("=IFERROR(1/0,-1)", -1.0), ("=IFERROR(A1,-1)", 10.0)),
)  # fmt: skip
form(
    "IFNA", "logical", "A value, or another where the first is #N/A.",
    Argument("value", Takes.ANY, "The value to look at."),
    Argument("value_if_na", Takes.OPERAND, "What stands in for #N/A."),
    work=Work(call=1_000),
    examples=(('=IFNA(MATCH("kiwi",B1:B5,0),0)', 0.0),),
)  # fmt: skip
form(
    "LET", "logical", "Gives names to values and calculates with them.",
    Argument("name1", Takes.OPERAND, "A name, which the arguments behind it may use.", repeats=True),
    Argument("name_value1", Takes.OPERAND, "Its value.", repeats=True),
    Argument("calculation", Takes.OPERAND, "The last argument: what to calculate.", repeats=True),
    work=Work(call=1_000),
    examples=(("=LET(x,A1,y,x*2,x+y)", 30.0),),
)  # fmt: skip
form(
    "LAMBDA", "logical", "Makes a function of parameters and a calculation.",
    Argument("parameter_or_calculation", Takes.OPERAND,
             "A parameter's name, [in brackets] where it may be left out; last the calculation.", repeats=True),
    examples=(("=LAMBDA(x,x+1)(2)", 3.0), ("=LAMBDA(x,[y],IF(ISOMITTED(y),x,x*y))(5)", 5.0)),
)  # fmt: skip
form(
    "ISOMITTED", "information", "Whether a lambda's optional parameter was left out.",
    Argument("argument", Takes.OPERAND, "The parameter's name."),
    examples=(("=LAMBDA(x,[y],ISOMITTED(y))(1)", True),),
)  # fmt: skip

_ARRAY = Argument("array", Takes.OPERAND, "The values to go through.")
_LAMBDA = Argument("lambda", Takes.LAMBDA, "A LAMBDA, or a function's name.")

form(
    "MAP", "logical", "An array of what a lambda makes of each value of other arrays.",
    Argument("array1", Takes.OPERAND, "The values of its first parameter."),
    Argument("lambda_or_array2", Takes.OPERAND, "Values of further parameters; last the LAMBDA.", repeats=True),
    examples=(("=MAP({1,2,3},LAMBDA(x,x*x))", Array(1, 3, [1.0, 4.0, 9.0])),),
)  # fmt: skip
form(
    "REDUCE", "logical", "One value, gathered by a lambda over all values of an array.",
    Argument("initial_value", Takes.OPERAND, "Where to start; the first value if left empty."),
    _ARRAY,
    _LAMBDA,
    examples=(("=REDUCE(0,A1:A3,LAMBDA(sum,x,sum+x))", 60.0),),
)  # fmt: skip
form(
    "SCAN", "logical", "As REDUCE, with every value on the way.",
    Argument("initial_value", Takes.OPERAND, "Where to start; the first value if left empty."),
    _ARRAY,
    _LAMBDA,
    examples=(("=SCAN(0,{1,2,3},LAMBDA(sum,x,sum+x))", Array(1, 3, [1.0, 3.0, 6.0])),),
)  # fmt: skip
form(
    "BYROW", "logical", "A column of what a lambda makes of each row.", _ARRAY, _LAMBDA,
    examples=(("=BYROW({1,2;3,4},LAMBDA(row,SUM(row)))", Array(2, 1, [3.0, 7.0])),
              ("=BYROW({1,2;3,4},SUM)", Array(2, 1, [3.0, 7.0]))),
)  # fmt: skip
form(
    "BYCOL", "logical", "A row of what a lambda makes of each column.", _ARRAY, _LAMBDA,
    examples=(("=BYCOL({1,2;3,4},LAMBDA(column,MAX(column)))", Array(1, 2, [3.0, 4.0])),),
)  # fmt: skip
form(
    "MAKEARRAY", "logical", "An array whose values a lambda makes of their row and column.",
    Argument("rows", Takes.INTEGER, "How many rows."),
    Argument("columns", Takes.INTEGER, "How many columns."),
    _LAMBDA,
    examples=(("=MAKEARRAY(2,2,LAMBDA(row,column,row*10+column))", Array(2, 2, [11.0, 12.0, 21.0, 22.0])),),
)  # fmt: skip
