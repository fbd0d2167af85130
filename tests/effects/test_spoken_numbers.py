"""Numbers in words before a unit are read as digits, and the unit of the home as one that sentences have."""

import pytest
from homeassistant.core import HomeAssistant
from homeassistant.helpers import entity_registry as er
from homeassistant.util.unit_system import US_CUSTOMARY_SYSTEM

from custom_components.chatterbox.effects.spoken_numbers import async_readable_sentence, in_digits
from tests.support.talk import move_into_the_demo_home


@pytest.mark.parametrize(
    ("language", "text", "written"),
    [
        ("en", "set it to twenty three point five degrees", "set it to 23.5 degrees"),
        ("en", "Dim it to Thirty-Five percent", "Dim it to 35 percent"),
        ("en", "one hundred percent", "100 percent"),
        ("de", "auf einundzwanzig Komma fünf Grad", "auf 21.5 Grad"),
        ("de", "auf dreißig Prozent", "auf 30 Prozent"),
        ("es", "a veintidós grados", "a 22 grados"),
        ("fr", "à vingt-et-un virgule cinq degrés", "à 21.5 degrés"),
        ("fr", "à nonante-cinq pour cent", "à 95 pour cent"),
        ("fr", "à septante degrés", "à 70 degrés"),
        ("fr", "à huitante degrés", "à 80 degrés"),
        ("en", "to point five degrees", "to 0.5 degrees"),
        ("en", "set lamp two to fifty percent", "set lamp two to 50 percent"),
        ("es", "al cincuenta por ciento", "al 50 por ciento"),
        ("it", "al cinquanta per cento", "al 50 per cento"),
        ("pt", "em cinquenta por cento", "em 50 por cento"),
        ("it", "a ventitré gradi", "a 23 gradi"),
        ("nl", "op tweeëntwintig graden", "op 22 graden"),
        ("pl", "na dwadzieścia dwa stopnie", "na 22 stopnie"),
        ("pt", "para vinte e dois graus", "para 22 graus"),
        ("pt-BR", "em vinte e dois graus", "em 22 graus"),
        ("sv", "till tjugotvå grader", "till 22 grader"),
        ("zh-Hans", "调到二十三点五度", "调到23.5度"),
    ],
)
def test_a_number_before_a_unit_is_written_in_digits(language: str, text: str, written: str) -> None:
    assert in_digits(text, language) == written


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "one of twenty lamps"),
        ("en", "one hundred and one degrees"),
        ("en", "two thousand and five percent"),
        ("de", "schalte ein Licht ein"),
        ("fr", "cent vingt degrés"),
        ("fr", "octante-deux degrés"),
        ("es", "pon la luz con cinco lámparas"),
        ("es", "ciento veinte grados"),
        ("zh-Hans", "一百二十度"),
        ("xx", "twenty degrees"),
        ("en", "\N{LATIN CAPITAL LETTER I WITH DOT ABOVE} twenty degrees"),
    ],
)
def test_other_numbers_stay_as_they_are(language: str, text: str) -> None:
    assert in_digits(text, language) == text


async def test_only_the_unit_of_the_home_is_left_out(hass: HomeAssistant) -> None:
    await move_into_the_demo_home(hass)

    assert await async_readable_sentence(hass, "Set it to 19.5 °C.", "en") == "Set it to 19.5°."
    assert await async_readable_sentence(hass, "set it to twenty °F", "en") == "set it to 20 °F"

    hass.config.units = US_CUSTOMARY_SYSTEM
    assert await async_readable_sentence(hass, "set it to 19.5°C", "en") == "set it to 19.5°C"
    assert await async_readable_sentence(hass, "set it to 68°F", "en") == "set it to 68°"


async def test_a_number_in_a_name_is_no_number(hass: HomeAssistant) -> None:
    await move_into_the_demo_home(hass)
    er.async_get(hass).async_update_entity("light.desk_lamp", aliases=["Desk Fifty Percent"])

    text = await async_readable_sentence(hass, "set desk fifty percent to thirty percent", "en")

    assert text == "set desk fifty percent to 30 percent"
