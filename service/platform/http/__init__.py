"""A request and its answer: admission, binding, dispatch, refusals.

Start in `dispatch`: one request through its row. `application` finds the row of a path.
"""
