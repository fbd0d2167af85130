"""Dutch."""

from typing import Final

from .wording import Action, NumberWords, Wording

_YES: Final = (
    "ja|ja hoor|jawel|jazeker|jep|ok|oké|okay|zeker|zeker weten|natuurlijk|vanzelfsprekend|uiteraard|absoluut",
    "prima|graag|heel graag|ja graag|akkoord|is goed|dat is goed|doe (maar|het|dat) [maar]|ga je gang",
    "klopt|dat klopt|precies|juist|inderdaad|ik bevestig [het]|bevestigd|ik weet het zeker|in orde|helemaal goed",
    "ja (dank je|dank u|dank je wel|bedankt|duizend dank)|ja (goed|dat mag|toe maar)",
)

WORDING: Final = Wording(
    yes=_YES,
    behind_yes=(*_YES, "nu|nu meteen|meteen|honderd procent", "{action} maar", "je mag {action}"),
    no=(
        "nee|neen|nee (hoor|dank je|dank u|bedankt|dank je wel|duizend dank)|nooit|nooit van mijn leven",
        "geen sprake van",
        "in geen geval",
        "absoluut niet|zeker niet|natuurlijk niet|liever niet|beter niet|alsjeblieft niet|echt niet|helemaal niet",
        "nog niet|nu niet|vandaag niet|later|een andere keer|misschien later|niet (nu|nodig|doen)|dat hoeft niet",
        "hoeft niet",
        "laat maar [zitten]|laat het|laat dat|vergeet het [maar]|annuleer|annuleren|stop|stoppen|wacht|wacht even",
        "(doe|doen) (het|dat) [maar|alsjeblieft] niet|doe maar niet|ik wil het niet|ik wil niet",
        "laat {it} (dicht|gesloten|op slot|uit)|niet {action}",
        "niet {it}",
    ),
    no_alone=("[nee] niet",),
    courtesies=("alsjeblieft|alstublieft|eh|ehm|oh|ach",),
    actions={
        Action.UNLOCK: (
            "(open|ontgrendel|ontsluit) [{it}]|[{it}] (openen|ontgrendelen|openmaken|opendoen)",
            "(maak|doe) [{it}] [maar] open|(haal|doe) {it} [maar] van het slot|[{it}] van het slot",
        ),
        Action.LOCK: ("vergrendel [{it}]|[{it}] vergrendelen", "doe {it} [maar] op slot|op slot"),
        Action.OPEN: ("open [{it}]|[{it}] (openen|openmaken|opendoen)", "(maak|doe) [{it}] [maar] open"),
        Action.CLOSE: ("sluit [{it}]|[{it}] (sluiten|dichtdoen)", "(maak|doe) [{it}] [maar] dicht"),
        Action.DISARM: (
            "(deactiveer|ontwapen) [{it}]|[{it}] (uitschakelen|uitzetten|deactiveren)",
            "(zet|schakel|doe) [{it}] [maar] uit",
        ),
        Action.ARM: (
            "activeer [{it}]|[{it}] (inschakelen|aanzetten|activeren)",
            "(zet|schakel|doe) [{it}] [maar] (aan|in)",
        ),
        Action.TURN_ON: ("[{it}] (aanzetten|aandoen|inschakelen)", "(zet|doe|schakel) [{it}] [maar] (aan|in)"),
        Action.TURN_OFF: ("[{it}] (uitzetten|uitdoen|uitschakelen)", "(zet|doe|schakel) [{it}] [maar] uit"),
        Action.RUN: ("(start|activeer) [{it}]|[{it}] (starten|uitvoeren|activeren)", "voer {it} uit"),
    },
    it=("hem|het|die|deze|dat",),
    accents_matter=("één",),
    them=("ze|allebei|beide|alle|alles|ze allebei|allemaal|ze allemaal",),
    named=("[de|het|mijn|onze|ons] {name}",),
    placed=("(in|op|bij|van) [de|het|mijn|onze|ons] {place}",),
)

NUMBERS: Final = NumberWords(
    digits=("nul", "één|een", "twee", "drie", "vier", "vijf", "zes", "zeven", "acht", "negen"),
    teens=(
        *("tien", "elf", "twaalf", "dertien", "veertien"),
        *("vijftien", "zestien", "zeventien", "achttien", "negentien"),
    ),
    tens=("twintig", "dertig", "veertig", "vijftig", "zestig", "zeventig", "tachtig", "negentig"),
    compounds=("{unit}en{ten}", "{unit} en {ten}"),
    irregular={},
    repeats={"dubbel": 2, "dubbele": 2, "twee keer": 2, "drie keer": 3},
    before=(
        "[ja|oké|ok] [eh]",
        "[ja|oké|ok] [eh] (de|mijn|het) (code|pin|pincode|nummer) is",
        "[ja|oké|ok] [eh] (het is|pin|code|pincode|de code)",
    ),
    after=("alsjeblieft|alstublieft|dank je|bedankt",),
    large=("*honderd*", "*duizend*"),
    weak=("een",),
    idioms=("duizend dank|duizendmaal dank|duizend maal dank|honderd procent",),
)
