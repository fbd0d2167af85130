"""A room with a satellite: a real Assist pipeline around an agent, and a voice whose audio is the text that it speaks.

Knows Home Assistant's pipeline and text-to-speech; must not know who answers. The
satellite plays as Home Assistant's own satellites do: from the moment that the pipeline
says that speech streams, else when it says that speech is ready.
"""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import override

from homeassistant.components import assist_pipeline, tts
from homeassistant.components.assist_pipeline import (
    PipelineEvent,
    PipelineEventType,
    PipelineStage,
)
from homeassistant.components.assist_pipeline.pipeline import PipelineInput, PipelineRun
from homeassistant.core import Context, HomeAssistant, callback
from homeassistant.helpers import chat_session
from homeassistant.setup import async_setup_component
from sentence_stream import SentenceBoundaryDetector

from tests.support.talk import AGENT, SATELLITE
from tests.support.versions import OF_NOBODY


class WholeVoice(tts.TextToSpeechEntity):
    """Speaks when it has the whole text."""

    _attr_name = "Voice"
    _attr_default_language = "en"

    @property
    @override
    def supported_languages(self) -> list[str]:
        return ["en", "de", "fr", "ja", "zh"]

    @override
    async def async_get_tts_audio(
        self, message: str, language: str, options: dict[str, object]
    ) -> tts.TtsAudioType:
        return "mp3", f"[{message}]".encode()


class StreamingVoice(WholeVoice):
    """Speaks sentence by sentence, as soon as it knows that one has ended."""

    @override
    async def async_stream_tts_audio(
        self, request: tts.TTSAudioRequest
    ) -> tts.TTSAudioResponse:
        async def audio() -> AsyncGenerator[bytes]:
            sentences = SentenceBoundaryDetector()
            async for text in request.message_gen:
                for sentence in sentences.add_chunk(text):
                    yield f"[{sentence}]".encode()
            if rest := sentences.finish():
                yield f"[{rest}]".encode()

        return tts.TTSAudioResponse("mp3", audio())


@dataclass(slots=True)
class Room:
    """Where a person speaks and listens."""

    hass: HomeAssistant
    pipeline: assist_pipeline.Pipeline
    heard: str = ""
    """The speech since the last sentence of a person, each piece in brackets."""
    result: dict[str, object] = field(default_factory=dict)
    """The text that the pipeline recognised, once it has."""
    _more: asyncio.Event = field(default_factory=asyncio.Event)
    _token: str = ""
    _playing: asyncio.Task[None] | None = None

    @property
    def speech(self) -> str:
        """Return the speech of the result, which a voice that takes no stream speaks."""
        response = self.result["response"]
        assert isinstance(response, dict)
        return str(response["speech"]["plain"]["speech"])

    async def hear(self, text: str) -> None:
        """Wait until something is heard that holds `text`."""
        while text not in self.heard:
            self._more.clear()
            await self._more.wait()

    async def say(self, text: str, conversation_id: str | None = None) -> None:
        """Say something, in a new conversation or in one that goes on, and listen to the end.

        Whoever says something while something is heard cuts in: the rest of that is not
        heard any more.
        """
        self.fall_silent()
        with chat_session.async_get_chat_session(
            self.hass, conversation_id, **OF_NOBODY
        ) as session:
            run = PipelineRun(
                self.hass,
                context=Context(),
                pipeline=self.pipeline,
                start_stage=PipelineStage.INTENT,
                end_stage=PipelineStage.TTS,
                event_callback=self._on_event,
            )
            turn = PipelineInput(
                run=run, session=session, intent_input=text, satellite_id=SATELLITE
            )
            await turn.execute(validate=True)
        if self._playing:
            await self._playing

    @callback
    def fall_silent(self) -> None:
        """Stop the voice, as a satellite does that hears its wake word."""
        playing, self._playing, self.heard = self._playing, None, ""
        if playing is not None:
            playing.cancel()

    @callback
    def _on_event(self, event: PipelineEvent) -> None:
        data = event.data or {}
        match event.type:
            case PipelineEventType.RUN_START:
                self._token = data["tts_output"]["token"]
            case PipelineEventType.INTENT_PROGRESS if data.get("tts_start_streaming"):
                self._play()
            case PipelineEventType.INTENT_END:
                self.result = data["intent_output"]
            case PipelineEventType.TTS_END:
                self._play()
            case _:
                pass

    def _play(self) -> None:
        if self._playing is None:
            self._playing = self.hass.async_create_task(self._listen())

    async def _listen(self) -> None:
        stream = tts.async_get_stream(self.hass, self._token)
        assert stream is not None
        async for audio in stream.async_stream_result():
            self.heard += audio.decode()
            self._more.set()


async def furnish(
    hass: HomeAssistant,
    voice: WholeVoice,
    language: str = "en",
    *,
    prefer_local_intents: bool = False,
) -> Room:
    """Set up a pipeline from the agent of the tests to `voice`.

    With `prefer_local_intents`, Home Assistant first tries to understand a sentence by
    itself.
    """
    assert await async_setup_component(hass, "tts", {})
    await hass.data[tts.DATA_COMPONENT].async_add_entities([voice])
    assert await async_setup_component(hass, "assist_pipeline", {})
    (pipeline,) = assist_pipeline.async_get_pipelines(hass)
    await assist_pipeline.async_update_pipeline(
        hass,
        pipeline,
        conversation_engine=AGENT,
        conversation_language=language,
        language=language,
        tts_engine=voice.entity_id,
        tts_language=language,
        prefer_local_intents=prefer_local_intents,
    )
    (pipeline,) = assist_pipeline.async_get_pipelines(hass)
    return Room(hass, pipeline)
