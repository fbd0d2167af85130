"""The meaning of answers, in all languages that the agent speaks."""

import pytest

from custom_components.chatterbox.speech.text import Statement, answer_content

DONE, STATE, CANNOT = Statement.DONE, Statement.STATE, Statement.CANNOT
ANNOUNCEMENT, OTHER = Statement.ANNOUNCEMENT, Statement.OTHER

REPORTS = [
    ("en", "Turn on the floor lamp", "OK, I've turned on the floor lamp.", (DONE,)),
    (
        "en",
        "Turn on the floor lamp",
        "Done! Let me know if you need anything else.",
        (DONE,),
    ),
    (
        "en",
        "Turn on the floor lamp",
        "The **Floor Lamp** is now on. Is there anything else?",
        (STATE,),
    ),
    (
        "en",
        "Turn on the floor lamp",
        "I'm sorry, but I can\u2019t control lights.",
        (CANNOT,),
    ),
    (
        "de",
        "Schalte die Stehlampe ein",
        "Alles klar, ich habe die Stehlampe eingeschaltet.",
        (DONE,),
    ),
    (
        "de",
        "Schalte die Stehlampe ein",
        "Die Stehlampe ist jetzt an. Kann ich sonst noch etwas tun?",
        (STATE,),
    ),
    ("de", "Schalte die Stehlampe ein", "Das kann ich leider nicht.", (CANNOT,)),
    (
        "de",
        "Schalte die Stehlampe ein",
        "Tut mir leid, ich habe keinen Zugriff auf die Stehlampe.",
        (CANNOT,),
    ),
    ("fr", "Allume le lampadaire", "D'accord, j'ai allumé le lampadaire.", (DONE,)),
    (
        "fr",
        "Allume le lampadaire",
        "Désolé, je ne peux pas allumer le lampadaire.",
        (CANNOT,),
    ),
    ("es", "Enciende la lámpara", "Listo, he encendido la lámpara.", (DONE, DONE)),
    ("es", "Enciende la lámpara", "Lo siento, no puedo hacer eso.", (CANNOT,)),
    ("it", "Accendi la lampada", "Fatto, ho acceso la lampada.", (DONE, DONE)),
    (
        "it",
        "Accendi la lampada",
        "Mi dispiace, non posso accendere la lampada.",
        (CANNOT,),
    ),
    ("nl", "Doe de lamp aan", "Oké, ik heb de lamp aangezet.", (DONE,)),
    ("nl", "Doe de lamp aan", "Sorry, ik kan de lamp niet aanzetten.", (CANNOT,)),
    ("pl", "Włącz lampę", "Dobrze, włączyłem lampę.", (DONE,)),
    ("pl", "Włącz lampę", "Przepraszam, nie mogę tego zrobić.", (CANNOT,)),
    ("pt", "Acende o candeeiro", "Certo, acendi o candeeiro.", (DONE,)),
    ("pt-BR", "Ligue a luminária", "Pronto, liguei a luminária.", (DONE, DONE)),
    (
        "pt-BR",
        "Ligue a luminária",
        "Desculpe, não consigo ligar a luminária.",
        (CANNOT,),
    ),
    ("sv", "Tänd lampan", "Okej, jag har tänt lampan.", (DONE,)),
    ("sv", "Tänd lampan", "Tyvärr kan jag inte göra det.", (CANNOT,)),
    ("sv", "Tänd lampan", "Tyvärr, jag kan inte tända lampan.", (CANNOT,)),
    ("zh-Hans", "打开落地灯", "好的，我已经打开了落地灯。", (DONE,)),  # noqa: RUF001 - Chinese punctuation
    ("zh-Hans", "打开落地灯", "抱歉，我无法控制灯。", (CANNOT,)),  # noqa: RUF001 - Chinese punctuation
    ("ja", "電気をつけて", "I've turned on the light.", (DONE,)),
]

REASONS = [
    ("en", "The light is already on."),
    ("en", "It's raining, so I left the window shut."),
    ("en", "I can't do that, the baby is asleep."),
    ("en", "The baby is sleeping."),
    ("en", "I'd rather not."),
    ("en", "I won't do that."),
    ("en", "That would wake the baby."),
    ("en", "The alarm is armed: I kept the door locked."),
    ("en", "Better wait until the rain stops."),
    ("en", "The window is open."),
    ("en", "The front door was locked at 22:15."),
    ("en", "Please tell me which lamp you mean."),
    ("de", "Das Licht ist schon an."),
    ("de", "Es regnet, deshalb habe ich das Fenster zugelassen."),
    ("de", "Das Baby schläft gerade."),
    ("de", "Ich habe das Licht nicht eingeschaltet, weil das Baby schläft."),
    ("fr", "La lumière est déjà allumée."),
    ("fr", "Il pleut, donc j'ai laissé la fenêtre fermée."),
    ("fr", "Le bébé dort."),
    ("es", "La luz ya está encendida."),
    ("es", "Está lloviendo, así que he dejado la ventana cerrada."),
    ("es", "El bebé está durmiendo."),
    ("it", "La luce è già accesa."),
    ("it", "Piove, quindi ho lasciato la finestra chiusa."),
    ("it", "Il bambino dorme."),
    ("nl", "Het licht is al aan."),
    ("nl", "Het regent, dus ik heb het raam dichtgelaten."),
    ("nl", "De baby slaapt."),
    ("pl", "Światło jest już włączone."),
    ("pl", "Pada deszcz, więc zostawiłem okno zamknięte."),
    ("pl", "Dziecko śpi."),
    ("pt", "A luz já está acesa."),
    ("pt", "Está a chover, por isso deixei a janela fechada."),
    ("pt-BR", "O bebê está dormindo."),
    ("sv", "Lampan är redan tänd."),
    ("sv", "Det regnar, så jag lämnade fönstret stängt."),
    ("sv", "Barnet sover."),
    ("zh-Hans", "灯已经是开着的。"),
    ("zh-Hans", "外面在下雨，所以我没有打开窗户。"),  # noqa: RUF001 - Chinese punctuation
    ("zh-Hans", "宝宝在睡觉。"),
]

QUESTIONS = [
    ("en", "Are you sure? The baby sleeps."),
    ("de", "Bist du sicher? Das Baby schläft."),
    ("fr", "Vous êtes sûr ? Le bébé dort."),
    ("es", "¿Seguro? El bebé duerme."),
    ("it", "Sei sicuro? Il bambino dorme."),
    ("nl", "Weet je het zeker? De baby slaapt."),
    ("pl", "Na pewno? Dziecko śpi."),
    ("pt", "Tens a certeza? O bebé está a dormir."),
    ("pt-BR", "Tem certeza? O bebê está dormindo."),
    ("sv", "Är du säker? Barnet sover."),
    ("zh-Hans", "您确定吗？宝宝在睡觉。"),  # noqa: RUF001 - Chinese punctuation
]


CONDITIONS = [
    ("en", "Say yes and I'll turn it on."),
    ("en", "I'll unlock it once you confirm."),
    ("en", "With your permission I'll open it."),
    ("de", "Sag ja, und ich werde sie einschalten."),
    ("de", "Wenn du willst, werde ich sie einschalten. Ich prüfe das."),
    ("fr", "Dites oui et je vais allumer la lampe."),
    ("es", "Dime que sí y voy a encender la luz."),
    ("it", "Dimmi di sì: devo controllare."),
    ("nl", "Zeg ja en ik zal het licht aanzetten."),
    ("pl", "Powiedz tak. Zaraz włączę."),
    ("pt", "Diga sim e vou ligar a luz."),
    ("sv", "Säg ja så ska jag. Jag ska tända lampan."),
    ("zh-Hans", "如果您同意，我会打开灯。"),  # noqa: RUF001 - Chinese punctuation
]

ANNOUNCEMENTS = [
    ("en", "Let me check if the window is open."),
    ("en", "Sure! I'll turn on the light now."),
    ("en", "Let me check once more when the shop closes."),
    ("de", "Ich prüfe, ob das Fenster offen ist."),
    ("fr", "Je vais vérifier la météo d'aujourd'hui."),
    ("es", "Voy a comprobar si la ventana está abierta."),
    ("it", "Fammi controllare se la finestra è aperta."),
    ("nl", "Ik ga even controleren of het raam open is."),
    ("pl", "Zaraz sprawdzę, czy okno jest otwarte."),
    ("pt", "Vou verificar se a janela está aberta."),
    ("sv", "Jag ska kolla om fönstret är öppet."),
    ("zh-Hans", "让我检查一下窗户。"),
]


@pytest.mark.parametrize(("language", "answer"), CONDITIONS)
def test_what_awaits_a_word_of_the_person_is_no_announcement(
    language: str, answer: str
) -> None:
    content = answer_content(answer, "", language)

    assert Statement.ANNOUNCEMENT in content.statements
    assert not content.ends_with_announcement


@pytest.mark.parametrize(("language", "answer"), ANNOUNCEMENTS)
def test_an_announcement_awaits_nothing(language: str, answer: str) -> None:
    content = answer_content(answer, "", language)

    assert not content.has_conditions
    assert Statement.ANNOUNCEMENT in content.statements


@pytest.mark.parametrize(("language", "sentence", "answer", "statements"), REPORTS)
def test_a_plain_report_is_read(
    language: str, sentence: str, answer: str, statements: tuple[Statement, ...]
) -> None:
    content = answer_content(answer, sentence, language)

    assert content.statements == statements
    assert not content.asks
    assert not content.has_reservations


@pytest.mark.parametrize(("language", "answer"), REASONS)
def test_a_reason_is_no_report(language: str, answer: str) -> None:
    content = answer_content(answer, "", language)

    assert content.has_reservations or OTHER in content.statements
    assert not content.ends_with_announcement


@pytest.mark.parametrize(("language", "answer"), QUESTIONS)
def test_a_question_is_noticed_wherever_it_stands(language: str, answer: str) -> None:
    assert answer_content(answer, "", language).asks


def test_a_long_answer_is_not_read() -> None:
    assert answer_content("I've turned on the lamp. " * 100, "", "en").statements == (
        OTHER,
    )
