"""The places that the words of a person may mean, and what they want done."""

from homeassistant.core import HomeAssistant
from homeassistant.helpers import area_registry as ar, floor_registry as fr

from custom_components.chatterbox.agent.text import MOST_COMPARED
from custom_components.chatterbox.home.request import Request
from tests.support.one_home import in_one_home

HOME = """
floors:
  - { id: upper, name: Piętro, level: 1 }
areas:
  - { id: kitchen, name: Kuchnia }
  - { id: bath, name: Łazienka, floor: upper, aliases: [Bad] }
  - { id: study, name: 书房 }
entities:
  - { name: Lampa, id: light.lamp, area: kitchen, state: "off" }
"""


@in_one_home(
    ("text", "here", "is_meant"),
    [
        ("", None, {"Kuchnia", "Łazienka", "书房", "Piętro"}),
        ("Zgaś światło w kuchni", None, {"Kuchnia"}),
        ("Zgaś światło", "Łazienka", {"Łazienka", "Piętro"}),
        ("Światła na piętrze", None, {"Piętro"}),
        ("Licht im Bad aus", None, {"Łazienka"}),
        ("关掉书房的灯", None, {"书房"}),
        ("Good night", None, set()),
    ],
)
async def test_words_mean_the_places_that_they_name_and_those_around_the_person(
    home: HomeAssistant, text: str, here: str | None, is_meant: set[str]
) -> None:
    area = ar.async_get(home).async_get_area_by_name(here) if here else None
    request = Request(home, text, area.id if area else None)

    places = {
        area.name: request.may_mean("area", {area.id})
        for area in ar.async_get(home).async_list_areas()
    }
    places |= {
        one.name: request.may_mean("floor", {one.floor_id})
        for one in fr.async_get(home).async_list_floors()
    }

    assert {place for place, may_be_meant in places.items() if may_be_meant} == is_meant
    assert not request.may_mean("area", set())


def test_of_a_long_text_only_the_end_is_read(hass: HomeAssistant) -> None:
    request = Request(hass, "turn off the light " * 5_000 + "in the kitchen")

    assert request.words[-3:] == ("in", "the", "kitchen")
    assert len(request.words) < MOST_COMPARED
    assert request.wanted == frozenset()


@in_one_home(
    ("language", "text", "wanted"),
    [
        ("en", "Unlock the lock", {"unlock"}),
        ("en", "Lock the door lock", {"lock"}),
        ("en", "Take it off mute", {"unmute"}),
        ("en", "Take the TV off mute", {"unmute"}),
        ("en", "Turn mute off", {"unmute"}),
        ("en", "Mute the TV", {"mute"}),
        ("en", "Turn the sound off", {"mute"}),
        ("en", "Close the open window", {"close"}),
        ("en", "Lower the volume", {"quieter"}),
        ("en", "Lower the blinds", {"close"}),
        ("en", "Shut off the fan", {"off"}),
        ("en", "Turn the light on the balcony off", {"off"}),
        ("en", "Turn the fan on", {"on"}),
        ("en", "Turn it on, please", {"on"}),
        ("de", "Schließ die Haustür auf", {"unlock"}),
        ("de", "Schließ die Haustür ab", {"lock"}),
        ("de", "Schließ die Haustür", {"close"}),
        ("de", "Sperr die Haustür auf, sperr den Schuppen ab", {"unlock", "lock"}),
        ("de", "Sperr die Haustür auf, ich fahre gleich ab", {"unlock"}),
        ("de", "Fahr den Rollladen auf 0 Prozent", set()),
        ("de", "Mach den Rollladen auf null Prozent", set()),
        ("de", "Mach den Rollladen auf", {"open"}),
        ("de", "Mach das Licht auf dem Balkon aus", {"off"}),
        ("de", "Mach das Licht an der Wand aus", {"off"}),
        ("de", "Hebe die Stummschaltung auf", {"unmute"}),
        ("de", "Schalte die Stummschaltung aus", {"unmute"}),
        ("de", "Schalte den Fernseher stumm", {"mute"}),
        ("fr", "Ferme la porte à clé", {"lock"}),
        ("fr", "Désactive la sourdine", {"unmute"}),
        ("fr", "Éteins le son", {"mute"}),
        ("fr", "J'ai éteint le son", set()),
        ("es", "Cierra la puerta con llave", {"lock"}),
        ("es", "Desactiva el silencio", {"unmute"}),
        ("es", "Apaga el sonido", {"mute"}),
        ("it", "Chiudi la porta a chiave", {"lock"}),
        ("it", "Disattiva l'audio", {"mute"}),
        ("it", "Riattiva l’audio", {"unmute"}),  # noqa: RUF001  # as phones write it
        ("it", "Togli il muto", {"unmute"}),
        ("nl", "Zet dempen uit", {"unmute"}),
        ("nl", "Zet dempen aan", {"mute"}),
        ("nl", "Zet het geluid uit", {"mute"}),
        ("nl", "Zet de open haard aan", {"on"}),
        ("nl", "Zet het licht aan de muur uit", {"off"}),
        ("nl", "Haal de deur van het slot", {"unlock"}),
        ("nl", "Sluit de deur af", {"lock"}),
        ("pl", "Wyłącz wyciszenie", {"unmute"}),
        ("pl", "Wyłącz dźwięk", {"mute"}),
        ("pl", "Zamknij drzwi na klucz", {"lock"}),
        ("pt", "Desliga o mudo", {"unmute"}),
        ("pt-BR", "Desligue o som", {"mute"}),
        ("pt", "Fecha a porta à chave", {"lock"}),
        ("sv", "Stäng av ljudet", {"mute"}),
        ("sv", "Stäng av ljudet på TV:n", {"mute"}),
        ("sv", "Sänk ljudet på TV:n", {"quieter"}),
        ("sv", "Slå på ljudet", {"unmute"}),
        ("sv", "Stäng av lampan", {"off"}),
        ("sv", "Stäng dörren", {"close"}),
        ("sv", "Lås upp dörren", {"unlock"}),
        ("sv", "Lås dörren", {"lock"}),
        ("zh-Hans", "把电视静音", {"mute"}),
        ("zh-Hans", "取消静音", {"unmute"}),
        ("zh-Hans", "关闭静音", {"unmute"}),
        ("zh-Hans", "打开静音", {"mute"}),
        ("zh-Hans", "关掉声音", {"mute"}),
        ("zh-Hans", "打开窗帘", {"open"}),
        ("zh-Hans", "打开门口的灯", {"on"}),
        ("zh-Hans", "打开门锁", {"unlock"}),
        ("xx", "Turn it off", set()),
    ],
)
async def test_the_longest_phrase_tells_what_is_wanted(
    hass: HomeAssistant, language: str, text: str, wanted: set[str]
) -> None:
    assert Request(hass, text, None, language).wanted == wanted


@in_one_home(
    ("language", "text"),
    [
        ("en", "Did somebody leave the hallway light burning?"),
        ("en", "is the front door locked"),
        ("en", "Can you tell me if the light is on?"),
        ("en", "Why is the light on"),
        ("en", "Which lights are on?"),
        ("en", "The hallway light is on, right?"),
        ("de", "Das Licht im Flur ist noch an, oder?"),
        ("de", "Hat jemand das Flurlicht brennen lassen?"),
        ("de", "Brennt im Flur noch Licht?"),
        ("de", "Kannst du mir sagen, ob das Licht an ist?"),
        ("fr", "Est-ce que quelqu'un a laissé la lumière allumée ?"),
        ("fr", "La lumière du couloir est-elle allumée ?"),
        ("fr", "La porte est fermée ?"),
        ("es", "¿Alguien dejó la luz encendida?"),
        ("es", "¿Está encendida la luz del pasillo?"),
        ("it", "Qualcuno ha lasciato la luce accesa?"),
        ("it", "È accesa la luce?"),
        ("it", "Ho lasciato la luce accesa?"),
        ("es", "¿He dejado la luz encendida?"),
        ("nl", "Heeft iemand het licht aan gelaten?"),
        ("nl", "Staat het licht in de gang nog aan"),
        ("pl", "Czy ktoś zostawił włączone światło?"),
        ("pt", "Alguém deixou a luz acesa?"),
        ("pt-BR", "A luz do corredor está acesa?"),
        ("sv", "Har någon lämnat lampan tänd?"),
        ("sv", "Är dörren låst"),
        ("zh-Hans", "走廊的灯是不是开着?"),
        ("zh-Hans", "有人忘了关灯吗"),
    ],
)
async def test_words_that_ask_for_a_state_are_a_question(
    hass: HomeAssistant, language: str, text: str
) -> None:
    assert Request(hass, text, None, language).asks


@in_one_home(
    ("language", "text"),
    [
        ("en", "Can you turn on the light?"),
        ("en", "Why don't you turn off the TV?"),
        ("en", "Is it possible to turn on the light?"),
        ("en", "Have the lights on by seven"),
        ("en", "It is dark in here"),
        ("en", "What is on tonight? Dim the lights for it"),
        ("de", "Kannst du das Licht anmachen?"),
        ("de", "Es ist zu dunkel hier"),
        ("fr", "Est-ce que tu peux allumer la lumière ?"),
        ("fr", "Il fait sombre ici"),
        ("es", "¿Puedes encender la luz que está en el pasillo?"),
        ("es", "Está oscuro aquí"),
        ("es", "Hay que encender la luz"),
        ("it", "Sono a casa, accendi le luci"),
        ("it", "Ho lasciato la luce accesa, spegnila"),
        ("pt", "Deixei a luz acesa, apaga"),
        ("sv", "Var snäll och tänd lampan"),
        ("it", "Puoi accendere la luce?"),
        ("it", "È buio qui"),
        ("nl", "Kun je het licht aandoen?"),
        ("pl", "Czy możesz włączyć światło?"),
        ("pt", "Podes acender a luz?"),
        ("pt", "Está escuro aqui"),
        ("sv", "Kan du tända lampan?"),
        ("zh-Hans", "可以打开灯吗?"),
        ("zh-Hans", "把灯打开"),
        ("ja", "電気はついていますか?"),
    ],
)
async def test_a_command_is_no_question_however_polite(
    hass: HomeAssistant, language: str, text: str
) -> None:
    assert not Request(hass, text, None, language).asks


def test_a_book_is_no_question(hass: HomeAssistant) -> None:
    assert not Request(hass, "is the light on " * MOST_COMPARED).asks
