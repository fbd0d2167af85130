"""The AI task entity: each task of an automation or an app is one turn of the loop."""

import re
from collections.abc import Collection
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import partial
from io import BytesIO
from typing import Any, Final, override

import voluptuous as vol
from homeassistant.components.ai_task import (
    AITaskEntity,
    AITaskEntityFeature,
    GenDataTask,
    GenDataTaskResult,
    GenImageTask,
    GenImageTaskResult,
)
from homeassistant.components.conversation import Attachment, ChatLog, ConversationInput
from homeassistant.config_entries import ConfigSubentry
from homeassistant.core import Context, HomeAssistant, callback
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers import llm
from homeassistant.helpers.dispatcher import async_dispatcher_send
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback
from homeassistant.util import slugify
from PIL import Image

from .agent.errors import ProviderError, ProviderRejectedRequest
from .agent.events import StopReason, TurnFinished
from .agent.loop.structured_output import read_output
from .agent.loop.turn import Turn
from .agent.messages import JsonObject
from .agent.protocols import OutputFormat
from .const import CONF_KIND, LOGGER, SUBENTRY_AI_TASK, ServiceKind
from .entity import ChatterboxEntity
from .people.speakers import Asking, Speaker, async_get_speaker, speaker_context
from .records.turn_record import SIGNAL_REQUEST, RequestRecord
from .runtime.agents import ChatterboxConfigEntry
from .runtime.composition import image_provider, known_server
from .settings.agent import AgentSettings
from .settings.tasks import image_model_of
from .speech.sentences import Sentences, async_get_sentences, error_key, translated
from .tools.own.look import is_looking
from .tools.schema import convert_schema
from .turns.input import TurnInput
from .turns.shown_files import MAX_FILE, shown_type
from .turns.source import TurnSource

_RAW_JSON: Final = re.compile(r""", (?:got|not) "?[\[{].*\Z""", re.DOTALL)
"""The part of a reason that quotes an object or a list of the model, which tells a person nothing."""
_WITH_AN_ANSWER: Final = frozenset({StopReason.COMPLETED, StopReason.UNKNOWN_FINISH})
_WITH_A_PART: Final = frozenset(
    {
        StopReason.LENGTH,
        StopReason.CONTENT_FILTER,
        StopReason.REPETITION,
    }
)
"""Endings with a text that is not whole, and does not say why."""


task_error = partial(translated, HomeAssistantError)


def service_error(error: ProviderError, service: str) -> HomeAssistantError:
    """Return the error of a service, with the same message as elsewhere."""
    return task_error(error_key(error), service=service)


def error_of_end(
    finished: TurnFinished | None,
    task: str,
    service: str,
    sentences: Sentences,
) -> HomeAssistantError | None:
    """Return the error of a turn that ended without the result of the task; None if the result is there.

    The error names what was done before, so that an automation that continues need not
    repeat it.
    """
    match finished:
        case TurnFinished(stop_reason=StopReason.OUTPUT_UNFIT, misfit=misfit):
            return task_error(
                "task_output_unfit", task=task, problem=_RAW_JSON.sub(".", misfit)
            )
        case TurnFinished(error=ProviderError() as error, tool_results=()):
            return service_error(error, service)
        case TurnFinished(stop_reason=reason, composed=False) if (
            reason in _WITH_AN_ANSWER
        ):
            return None
        case TurnFinished(stop_reason=reason, tool_results=(_, *_)) if (
            reason in _WITH_AN_ANSWER
        ):
            return None
        case TurnFinished(stop_reason=reason, composed=False) if reason in _WITH_A_PART:
            return task_error(
                "task_not_done", task=task, why=sentences[f"spoken_{reason}"]
            )
        case _:
            return task_error(
                "task_not_done", task=task, why=finished.text if finished else ""
            )


_MOST: Final = 64
"""Characters of a name that every provider accepts."""


def shape_of(
    task: str,
    structure: vol.Schema,
) -> OutputFormat:
    """Return the output format of the answer to a task.

    Raises `HomeAssistantError` for a structure that cannot be described to a model.
    """
    try:
        converted = convert_schema(structure, llm.selector_serializer)
    except Exception as error:  # a schema may contain foreign code
        raise task_error(
            "task_structure_unusable", task=task, problem=str(error)
        ) from error
    remarks = {"description": " ".join(converted.remarks)} if converted.remarks else {}
    return OutputFormat(
        slugify(task)[:_MOST] or "answer",
        {
            **remarks,
            **converted.parameters,
        },
        lambda data: _flaw(structure, data),
    )


async def data_of(
    answer: str,
    shape: OutputFormat,
    structure: vol.Schema,
) -> Any:
    """Return the data of an answer, with the defaults of the structure. Raises `Unfit`."""
    data = await read_output(answer, shape)
    checked = structure(data)
    return data if checked == data else checked  # 5 remains 5 and does not become 5.0


def _flaw(
    structure: vol.Schema,
    data: JsonObject,
) -> str:
    """Return what is wrong with data that fits the JSON Schema; empty if it is valid."""
    try:
        structure(data)
    except vol.Invalid as error:
        if isinstance(error, vol.MultipleInvalid):
            problems = error.errors
        else:
            problems = [error]
        texts: list[str] = []
        for one in problems:
            path = ".".join(map(str, one.path))
            texts.append(f"{path}: {one.msg}." if path else f"{one.msg}.")
        return " ".join(texts)
    return ""


PARALLEL_UPDATES = 0

_NOBODY_LISTENS: Final = (
    "This is a task of an automation or an app. Nobody reads your answer as you write it, and nobody can answer a"
    " question: decide yourself, and do not ask."
)

_asked_in: ContextVar[Context | None] = ContextVar(
    "chatterbox_task_asked_in", default=None
)
"""The context of the task that is about to start."""


async def async_setup_entry(
    hass: HomeAssistant,  # noqa: ARG001  # Home Assistant's signature
    entry: ChatterboxConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Add one entity for each AI task of a service."""

    @callback
    def add(subentry: ConfigSubentry) -> None:
        if subentry.subentry_type == SUBENTRY_AI_TASK:
            async_add_entities(
                [ChatterboxTaskEntity(entry, subentry)],
                config_subentry_id=subentry.subentry_id,
            )

    entry.runtime_data.async_add_each(entry, add)


@dataclass(frozen=True, slots=True, kw_only=True)
class _TaskSource(TurnSource):
    """An AI task, whose answer is data or text, and which nobody hears."""

    output: OutputFormat | None
    """The shape of the answer; None for text."""
    looks: bool
    """Whether the tool `look` asks it. It then has no tools: text in a picture may ask for them."""

    @override
    def settings(
        self,
        hass: HomeAssistant,
        settings: AgentSettings,
    ) -> AgentSettings:
        """Return the settings of the task, without tools for a look."""
        if self.looks:
            return replace(settings, llm_apis=())
        return settings

    @override
    def adapted(self, turn: Turn) -> Turn:
        """Return the turn with the shape of the answer."""
        return replace(turn, output=self.output)


class ChatterboxTaskEntity(ChatterboxEntity, AITaskEntity):
    """An agent for tasks."""

    def __init__(
        self,
        entry: ChatterboxConfigEntry,
        subentry: ConfigSubentry,
    ) -> None:
        """Take the agent that the runtime built."""
        super().__init__(
            entry, subentry, entry.runtime_data.tasks[subentry.subentry_id]
        )
        self._attr_supported_features = AITaskEntityFeature.GENERATE_DATA
        if known_server(entry.data).attachments:
            self._attr_supported_features |= AITaskEntityFeature.SUPPORT_ATTACHMENTS
        self._image_model = image_model_of(
            ServiceKind(entry.data[CONF_KIND]), subentry.data
        )
        if self._image_model:
            self._attr_supported_features |= AITaskEntityFeature.GENERATE_IMAGE

    @callback
    @override
    def async_set_context(self, context: Context) -> None:
        """Keep the context of a task: tasks may run concurrently, and the entity remembers only the last context."""
        super().async_set_context(context)
        _asked_in.set(context)

    @override
    async def _async_generate_data(
        self, task: GenDataTask, chat_log: ChatLog
    ) -> GenDataTaskResult:
        """Do a task. Raises a `HomeAssistantError` that says what went wrong."""
        context = _asked_in.get() or Context()
        _asked_in.set(None)
        if task.structure:
            shape = shape_of(task.name, task.structure)
        else:
            shape = None
        await self._async_check(task.attachments or ())
        source = _TaskSource(
            output=shape,
            extra_api=task.llm_api,
            looks=is_looking.get(),
        )
        turn_input = await self._async_read(task.instructions, context, source)
        finished = (await self._turns.async_run(turn_input, chat_log)).finished
        sentences = await async_get_sentences(self.hass)
        refusal = finished.error if finished else None
        if (
            isinstance(refusal, ProviderRejectedRequest)
            and refusal.refuses_images
            and task.attachments
        ):
            first = task.attachments[0]
            raise task_error(
                "task_attachment_unsupported",
                file=first.path.name,
                type=first.mime_type,
            )
        error = error_of_end(
            finished,
            task.name,
            self.entry.title,
            sentences,
        )
        if error:
            raise error
        answer = finished.text if finished else ""
        if shape and task.structure:
            data = await data_of(answer, shape, task.structure)
        else:
            data = answer
        return GenDataTaskResult(chat_log.conversation_id, data)

    @override
    async def _async_generate_image(
        self, task: GenImageTask, chat_log: ChatLog
    ) -> GenImageTaskResult:
        """Generate an image. Raises a `HomeAssistantError` that says what went wrong."""
        _asked_in.set(None)  # this calls no tools
        if task.attachments:
            raise task_error("task_image_from_words_alone", task=task.name)
        spent = self._agent.chain.own.spent()
        if spent:
            raise service_error(spent, self.entry.title)
        seconds = self._agent.settings.limits.deadline
        try:
            picture = await image_provider(
                self.hass, self.entry.data, self._image_model, seconds
            ).draw(task.instructions)
        except ProviderError as error:
            LOGGER.warning(
                "%s could not make a picture: %s",
                self.entity_id,
                error,
            )
            raise service_error(error, self.entry.title) from error
        async_dispatcher_send(
            self.hass,
            SIGNAL_REQUEST,
            RequestRecord(
                self.subentry.subentry_id,
                picture.usage,
                is_priced=False,
            ),
        )
        width, height = await self.hass.async_add_executor_job(
            _size_of,
            picture.data,
        )
        return GenImageTaskResult(
            image_data=picture.data,
            conversation_id=chat_log.conversation_id,
            mime_type=picture.mime_type,
            width=width,
            height=height,
            model=self._image_model,
            revised_prompt=picture.revised_prompt,
        )

    async def _async_read(
        self,
        instructions: str,
        context: Context,
        source: TurnSource,
    ) -> TurnInput:
        """Return the input of a task, whose speaker is the user of the automation or the app."""
        user_input = ConversationInput(
            text=instructions,
            context=context,
            conversation_id=None,
            device_id=None,
            satellite_id=None,
            language=self.hass.config.language,
            agent_id=self.entity_id,
            extra_system_prompt=_NOBODY_LISTENS,
        )
        speaker = _unaskable(await async_get_speaker(self.hass, user_input))
        return TurnInput(
            replace(user_input, context=speaker_context(context, speaker)),
            speaker,
            source,
        )

    async def _async_check(self, attachments: Collection[Attachment]) -> None:
        """Reject attachments that the model cannot receive: structured output has no place for a note on them."""
        types = known_server(self.entry.data).attachments
        for attachment in attachments:
            name = attachment.path.name
            declared = attachment.mime_type
            kind = await self.hass.async_add_executor_job(
                shown_type, attachment.path, declared
            )
            if not kind:
                raise task_error(
                    "task_attachment_unreadable",
                    file=name,
                    megabytes=str(MAX_FILE // 2**20),
                )
            if kind not in types:
                raise task_error(
                    "task_attachment_unsupported",
                    file=name,
                    type=kind,
                )


def _unaskable(speaker: Speaker) -> Speaker:
    """Return the speaker of a place in which no question can be heard."""
    if speaker.asking is Asking.PERSON:
        return replace(speaker, asking=Asking.NOBODY)
    return speaker


def _size_of(image: bytes) -> tuple[int | None, int | None]:
    """Return the width and the height of an image in pixels; None for a damaged or huge one."""
    try:
        with Image.open(BytesIO(image)) as opened:
            return opened.size
    except (
        OSError,
        ValueError,
        Image.DecompressionBombError,
    ):  # a long text inside a PNG is a ValueError
        return None, None
