"""Peers of POST /calculations/evaluate.

An empty Starlette endpoint; FastAPI with pydantic and a JWT check alone.

No limits, no revocation, no audit, no formula: what any service of this kind does at the very least.
"""

from __future__ import annotations

from typing import Any

import jwt
from fastapi import Depends, FastAPI, HTTPException
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import BaseModel
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

SECRET = "bench-secret-of-more-than-thirty-two-characters"  # signs the peer's own tokens


async def answer(request: Request) -> JSONResponse:
    await request.body()
    return JSONResponse({"value": 1})


empty = Starlette(routes=[Route("/evaluate", answer, methods=["POST"])])
checked = FastAPI()
bearer = HTTPBearer()


class Options(BaseModel):
    precision: int = 15
    error_handling: str = "excel"
    date_format: str = "ISO8601"
    debug: bool = False


class EvaluateRequest(BaseModel):
    formula: str
    context: dict[str, Any] = {}
    options: Options = Options()


class EvaluationResult(BaseModel):
    value: Any
    type: str
    formula: str


def claims_of(credentials: HTTPAuthorizationCredentials = Depends(bearer)) -> dict[str, Any]:  # noqa: B008
    try:
        return jwt.decode(credentials.credentials, SECRET, algorithms=["HS256"])
    except jwt.PyJWTError as error:
        raise HTTPException(401) from error


@checked.post("/evaluate")
async def evaluate(body: EvaluateRequest, claims: dict[str, Any] = Depends(claims_of)) -> EvaluationResult:  # noqa: B008
    return EvaluationResult(value=1, type="number", formula=body.formula)
