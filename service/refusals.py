"""Errors of other rooms as errors that a request ends with."""

from codegen import InvalidProblem, Refused
from db.errors import DatabaseError
from service.errors import BadRequest, FieldError, RefusedByRule, ServiceError, Unavailable, rule_of_type
from tuner.errors import (
    CannotPredict,
    ContraryObjective,
    NoEnergy,
    NoPredictions,
    NoRoofline,
    NotOnThisCpu,
    UnknownSearch,
)

_INVALID_PROBLEM = "invalid-problem"
_OF_THE_TUNER = (CannotPredict, NotOnThisCpu, NoRoofline, NoPredictions, UnknownSearch, NoEnergy, ContraryObjective)
REFUSALS: tuple[type[Exception], ...] = (InvalidProblem, Refused, *_OF_THE_TUNER)
"""Errors of rules, which are of the request."""


def refusal_of(error: Exception) -> ServiceError:
    """Return the error of a request for one of `REFUSALS`, or of the database."""
    match error:
        case InvalidProblem():
            fault = FieldError(field=f"problem.{error.field}", message=error.message, rule=_INVALID_PROBLEM)
            return BadRequest(str(error), rule=_INVALID_PROBLEM, errors=[fault])
        case Refused():
            return RefusedByRule(error.message, rule=error.rule)
        case DatabaseError():
            return Unavailable(str(error), rule=rule_of_type(error))
        case _:
            return RefusedByRule(str(error), rule=rule_of_type(error))
