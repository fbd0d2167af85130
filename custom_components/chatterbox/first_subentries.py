"""What a new service begins with: an agent to talk to and, with a model, one for tasks.

Knows what is stored of each. Must not know dialogs.
"""

from homeassistant.config_entries import ConfigSubentryData

from .agent_options import new_agent_data
from .const import SUBENTRY_AI_TASK, SUBENTRY_CONVERSATION, ServiceKind
from .task_settings import new_task_data


def first_agent(kind: ServiceKind, title: str, model: str = "") -> ConfigSubentryData:
    """Return an agent that nothing was set for, of `model` where the service has any."""
    data = new_agent_data(kind, model)
    return ConfigSubentryData(data=data, subentry_type=SUBENTRY_CONVERSATION, title=title, unique_id=None)


def first_task(title: str, model: str) -> ConfigSubentryData:
    """Return a model for tasks that nothing was set for."""
    return ConfigSubentryData(data=new_task_data(model), subentry_type=SUBENTRY_AI_TASK, title=title, unique_id=None)
