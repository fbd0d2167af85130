"""German."""

from typing import Final

from .wording import Action, NumberWords, Wording

_YES: Final = (
    "ja|ja doch|jawohl|jo|jep|ok|okay|klar|na klar|na klaro|klingt gut|korrekt|aber klar|sicher|na sicher|aber sicher",
    "natürlich|aber natürlich|selbstverständlich|unbedingt|definitiv|absolut|auf jeden Fall|genau|richtig|stimmt",
    "[sehr|aber] gerne|[sehr|aber] gern|einverstanden|in Ordnung|geht klar|bestätigt|ich bestätige|bestätige",
    "[bitte] (mach|tu) (das|es) [bitte|ruhig]|[bitte] (machen|tun) Sie (das|es) [bitte]|ich bin [mir] sicher|leg los",
    "ja (mach|mach mal|gut|passt|kannst du|das kannst du|darfst du)|ja (vielen|tausend) Dank",
    "(ja|gerne|klar) [bitte] (danke|vielen Dank|dankeschön)|ich bitte darum|nur zu|so machen wir's|das möchte ich",
)

WORDING: Final = Wording(
    yes=_YES,
    behind_yes=(*_YES, "jetzt|sofort|gleich jetzt|hundertprozentig"),
    no=(
        "nein|nee|ne|nö|nope|nein danke|nein vielen Dank|niemals|nie|auf keinen Fall|keinesfalls|kommt nicht in Frage",
        "lass es|lass das|lass es [lieber] (sein|bleiben)|lass das [lieber] (sein|bleiben)|lieber nicht|besser nicht",
        "noch nicht|jetzt nicht|heute nicht|gerade nicht|später|vielleicht später|ein andermal|natürlich nicht",
        "sicher nicht|absolut nicht|nein (tausend|herzlichen) Dank|lass zu|lass {it} (zu|aus)",
        "gar nicht|bloß nicht|nicht nötig|das ist nicht nötig|ich möchte (das|es) nicht",
        "abbrechen|brich ab|abbruch|stopp|stop|halt|warte|vergiss es|vergiss das|lass mal|bitte nicht",
        "ich will (das|es) nicht|das (will|möchte) ich nicht",
        "(mach|tu) (das|es) [bitte|lieber] nicht|nicht machen",
        "[bitte] nicht {action}",
        "nicht {it}",
    ),
    no_alone=("[nein|nee|nö] [bitte] nicht",),
    courtesies=("bitte|äh|ähm|oh|ach|hm",),
    actions={
        Action.UNLOCK: (
            "[{it}] (aufschließen|entriegeln|aufsperren|entsperren|öffnen|aufmachen)",
            "(schließ|schließe|sperr|mach) [{it}] auf|(entriegel|entriegle|entsperre|öffne) [{it}]",
        ),
        Action.LOCK: (
            "[{it}] (abschließen|zuschließen|verriegeln|zusperren|absperren)",
            "(schließ|schließe|sperr) [{it}] (ab|zu)|(verriegel|verriegle) [{it}]",
        ),
        Action.OPEN: ("[{it}] (öffnen|aufmachen)", "öffne [{it}]|mach [{it}] auf"),
        Action.CLOSE: ("[{it}] (schließen|zumachen)", "(schließ|schließe) [{it}]|mach [{it}] zu"),
        Action.DISARM: (
            "[{it}] (entschärfen|ausschalten|abschalten|deaktivieren|unscharf schalten|ausmachen)",
            "(entschärfe|deaktiviere) [{it}]|(schalt|schalte|mach) [{it}] (aus|ab|unscharf)",
        ),
        Action.ARM: (
            "[{it}] (scharfschalten|scharf schalten|einschalten|aktivieren|scharf stellen)",
            "aktiviere [{it}]|(schalt|schalte|stell|mach) [{it}] (scharf|ein|an)",
        ),
        Action.TURN_ON: ("[{it}] (einschalten|anschalten|anmachen)", "(schalt|schalte|mach) [{it}] (ein|an)"),
        Action.TURN_OFF: ("[{it}] (ausschalten|abschalten|ausmachen)", "(schalt|schalte|mach) [{it}] (aus|ab)"),
        Action.RUN: ("[{it}] (starten|ausführen|aktivieren)", "(starte|aktiviere) [{it}]|führ [{it}] aus"),
    },
    it=("sie|ihn|es|das",),
    accents_matter=("möchte",),
    them=("sie|beide|alle|alles|alle beide|sie (beide|alle)",),
    named=("[die|den|das|der|unsere|unser|unseren] {name}",),
    placed=("(in|im|im Bereich|in der|in dem|in meinem|in meiner|am|an der|vom|von der) {place}",),
)

NUMBERS: Final = NumberWords(
    digits=("null", "eins|ein|eine", "zwei|zwo", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun"),
    teens=(
        *("zehn", "elf", "zwölf", "dreizehn", "vierzehn"),
        *("fünfzehn", "sechzehn", "siebzehn", "achtzehn", "neunzehn"),
    ),
    tens=("zwanzig", "dreißig", "vierzig", "fünfzig", "sechzig", "siebzig", "achtzig", "neunzig"),
    compounds=("{unit}und{ten}", "{unit} und {ten}"),
    irregular={},
    repeats={"doppel": 2, "zweimal die": 2, "zwei mal die": 2, "dreimal die": 3, "drei mal die": 3},
    before=(
        "[ja|okay|ok|bitte] [äh|ähm]",
        "[ja|okay|ok] [äh|ähm] (der|mein|die|meine) (code|pin|nummer|zahl|geheimzahl) (ist|lautet)",
        "[ja|okay|ok] [äh|ähm] (es ist|pin|code|die pin|der code|die)",
    ),
    after=("bitte|danke",),
    units=("ein", "zwei|zwo", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun"),
    large=("*hundert*", "*tausend*"),
    weak=("ein|eine",),
    idioms=("tausend Dank|tausend Mal|tausendmal|hundertprozentig|hundert Prozent|hundertpro",),
)
