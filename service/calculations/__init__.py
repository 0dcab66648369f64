"""Formulas over HTTP: evaluated singly or in batches, checked, translated.

A short formula over few cells runs in the API's process if it can cost no more than two milliseconds
(`core/formula/work`). Everything else goes to an evaluator (`evaluator_actions`): a confined child that stays, with a
limit on memory, an alarm clock, and a parent that ends it when it is silent. A thread was tried first: a sort of two
million numbers held the interpreter for fifteen seconds, and texts took three gigabytes that never came back.
"""
