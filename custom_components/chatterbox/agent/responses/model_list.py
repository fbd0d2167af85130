"""The agents of a house as the models that a client may choose from."""

from ..messages import JsonObject
from .backend import Backend, ModelInfo
from .errors import ApiError, not_found


def listed(backend: Backend) -> JsonObject:
    """Return all agents, as `GET models` has them."""
    return {"object": "list", "data": [shown(card) for card in backend.agents()]}


def shown(card: ModelInfo) -> JsonObject:
    """Return an agent as a model."""
    return {"id": card.id, "object": "model", "created": card.created_at, "owned_by": "chatterbox"}


def chosen(backend: Backend, model: str) -> ModelInfo:
    """Return the agent that a client names. Raises `ApiError` (404) for one that there is not."""
    for card in backend.agents():
        if card.id == model:
            return card
    raise _unknown(model)


def _unknown(model: str) -> ApiError:
    return not_found(
        f"The model '{model}' does not exist, or does not answer here. GET models lists those that do.",
        "model",
        "model_not_found",
    )
