"""A request and its answer: routes, binding, dispatch, refusals, the OpenAPI document."""
