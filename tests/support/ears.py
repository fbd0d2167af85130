"""Speech-to-text that understands one sentence, whatever it hears.

Knows Home Assistant's `stt` platform. Must not know who speaks, nor what becomes of the
words.
"""

from collections.abc import AsyncGenerator, AsyncIterable
from typing import override

from homeassistant.components import assist_pipeline, stt
from homeassistant.components.stt.const import DATA_COMPONENT
from homeassistant.core import Context, HomeAssistant
from homeassistant.setup import async_setup_component


class Ear(stt.SpeechToTextEntity):
    """Hears to the end, and understands one sentence."""

    _attr_name = "Ear"

    def __init__(self, sentence: str) -> None:
        self.sentence = sentence

    @property
    @override
    def supported_languages(self) -> list[str]:
        return ["en"]

    @property
    @override
    def supported_formats(self) -> list[stt.AudioFormats]:
        return [stt.AudioFormats.WAV]

    @property
    @override
    def supported_codecs(self) -> list[stt.AudioCodecs]:
        return [stt.AudioCodecs.PCM]

    @property
    @override
    def supported_bit_rates(self) -> list[stt.AudioBitRates]:
        return [stt.AudioBitRates.BITRATE_16]

    @property
    @override
    def supported_sample_rates(self) -> list[stt.AudioSampleRates]:
        return [stt.AudioSampleRates.SAMPLERATE_16000]

    @property
    @override
    def supported_channels(self) -> list[stt.AudioChannels]:
        return [stt.AudioChannels.CHANNEL_MONO]

    @override
    async def async_process_audio_stream(
        self, metadata: stt.SpeechMetadata, stream: AsyncIterable[bytes]
    ) -> stt.SpeechResult:
        async for _ in stream:
            pass
        return stt.SpeechResult(self.sentence, stt.SpeechResultState.SUCCESS)


async def add_ear(hass: HomeAssistant, sentence: str) -> str:
    """Set up what understands `sentence`, and return its entity id."""
    assert await async_setup_component(hass, stt.DOMAIN, {})
    ear = Ear(sentence)
    await hass.data[DATA_COMPONENT].async_add_entities([ear])
    return ear.entity_id


async def say_aloud(
    hass: HomeAssistant,
    sentence: str,
    conversation_id: str,
    pipeline: assist_pipeline.Pipeline,
) -> None:
    """Say a sentence to an app, which has no satellite."""
    ear = await add_ear(hass, sentence)
    await assist_pipeline.async_update_pipeline(
        hass, pipeline, stt_engine=ear, stt_language="en"
    )

    async def audio() -> AsyncGenerator[bytes]:
        yield bytes(3200)

    await assist_pipeline.async_pipeline_from_audio_stream(
        hass,
        context=Context(),
        event_callback=lambda _: None,
        stt_metadata=stt.SpeechMetadata(
            "en",
            stt.AudioFormats.WAV,
            stt.AudioCodecs.PCM,
            stt.AudioBitRates.BITRATE_16,
            stt.AudioSampleRates.SAMPLERATE_16000,
            stt.AudioChannels.CHANNEL_MONO,
        ),
        stt_stream=audio(),
        pipeline_id=pipeline.id,
        conversation_id=conversation_id,
        audio_settings=assist_pipeline.AudioSettings(is_vad_enabled=False),
    )
