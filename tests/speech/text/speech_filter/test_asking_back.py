"""An answer asks back when it ends with a question, also with a courtesy or the choices after it."""

import pytest

from custom_components.chatterbox.speech.text import asks_back


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "Which light?"),
        ("en", "I found two lights. Which one? "),
        ("en", "Which light? Just let me know."),
        ("en", "Should I turn it off? Thanks!"),
        (
            "en",
            "Should I turn it off? Otherwise I'll leave it on. No rush! I'm here to help.",
        ),
        ("en", "Do you want **both**? 😊"),
        ("en", 'Do you mean the one called "Hall?"'),
        ("en", "(Or shall I wait?)"),
        ("en", "Which light&quest;"),
        ("en", "Is that right?!"),
        ("en", "Which one would you like?\n\n1. **Rear Door Lock**\n2. **Smart Lock**"),
        (
            "en",
            "Would you like me to:\n1. Add a task?\n2. End one?\n\nPlease let me know what to do, or by 7.30.",
        ),
        ("de", "Soll ich das Licht ausschalten? Sag einfach Bescheid."),
        ("de", "Welche Lampe? Vielen Dank!"),
        ("fr", "Voulez-vous que je l'éteigne ? Dites-le-moi."),
        ("fr", "Quelle lampe ? N’hésitez pas."),  # noqa: RUF001  # as French is written
        ("es", "¿Quieres que la apague? Dímelo cuando quieras."),
        ("it", "Vuoi che la spenga? Fammi sapere."),
        ("nl", "Zal ik het licht uitdoen? Laat het me weten."),
        ("es", "¿Cuál de las dos? ¡Avísame! Confírmamelo. Te escucho."),
        ("es", "¿La apago? En caso contrario, sigue así. ¡Gracias! Quedo a la espera."),
        (
            "fr",
            "Quelle lampe ? Confirmez-moi. J'attends votre réponse. Je vous écoute.",
        ),
        ("fr", "Je l'éteins ? À vous de me dire, s'il vous plaît."),
        (
            "it",
            "Quale delle due? Fammelo sapere, resto in attesa. Confermamelo. Ti ascolto.",
        ),
        ("it", "La spengo? Non c'è fretta. Attendo la tua risposta."),
        ("nl", "Welke lamp? Laat maar weten. Ik sta klaar."),
        ("pt", "Quer que eu apague? Avise-me."),
        ("pl", "Mam wyłączyć? Jeśli nie, zostawię. Czekam na odpowiedź."),
        ("sv", "Ska jag släcka? Bara säg till, jag är här."),
        ("zh-Hans", "要我关灯吗\uff1f您可以直接告诉我。我等您的回复。"),
        ("pt-BR", "Quer que eu apague a luz? É só me dizer."),
        ("pl", "Czy mam wyłączyć światło? Inaczej zostawię. Słucham. Daj mi znać."),
        ("sv", "Ska jag släcka? Om inte får den lysa. Ge mig besked. Säg bara till."),
        ("zh-Hans", "要我关灯吗\uff1f"),
        ("zh-Hans", "要我关灯吗\uff1f如有需要请告诉我。请您确认。等您的回复。"),
        ("ar", "هل تريد أن أطفئ الضوء؟"),
        ("el", "Θέλεις να κλείσω το φως;"),  # noqa: RUF001  # Greek
        ("el", "Θέλεις να κλείσω το φως\u037e"),  # noqa: RUF001  # Greek
        ("xx", "Qapla'?"),
    ],
)
def test_it_asks_back(language: str, text: str) -> None:
    assert asks_back(text, language)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", ""),
        ("en", "👍"),
        ("en", "The light is on."),
        (
            "en",
            "Why is the sky blue? Because the air scatters blue light more than red. That is all there is to it.",
        ),
        ("en", "Is it on? Yes."),
        ("en", "Just let me know."),
        ("en", "- one\n- two"),
        ("en", "Done;"),
        ("en", "You asked: is it on? " + "Thanks. " * 4),
        ("en", "Which one? Let me know " + "and so on " * 20 + "."),
        ("en", "The answer was `what?` or so."),
        ("de", "Soll ich? Let me know."),
        ("es", "¿Por qué? ¡Porque sí!"),
        ("fr", "Pourquoi ? Je vois que la lampe est allumée."),
        ("it", "Perché? Restava accesa la luce."),
        ("xx", "Which one? Thanks."),
    ],
)
def test_it_does_not(language: str, text: str) -> None:
    assert not asks_back(text, language)
