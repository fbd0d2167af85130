"""Swedish."""

from typing import Final

from .wording import Action, NumberWords, Wording

_YES: Final = (
    "ja|jo|jo tack|jodå|japp|jepp|jajamän|javisst|ja visst|ja då|visst|absolut|självklart|naturligtvis|såklart",
    "så klart|givetvis|ok",
    "okej|okay",
    "gärna|ja gärna|jättegärna|gör (det|så)|kör|kör på|kör på du|det går bra|gå vidare|fortsätt",
    "stämmer|det stämmer|precis|just det|exakt|korrekt|jag (bekräftar|håller med|är säker)|bekräftat|definitivt",
    "det får du [gärna] [göra]|du får gärna [göra det]|ja det (vill jag|kan du)|överens",
    "ja tack [så mycket]|ja tusen tack|gärna tack",
)

WORDING: Final = Wording(
    yes=_YES,
    behind_yes=(
        *_YES,
        "nu|nu genast|med en gång|är du snäll|tack|varsågod|säkert|det är bra|hundra procent",
        "du kan {action}",
    ),
    no=(
        "nej|nä|nix|nepp|nej tack [så mycket]|nej tusen tack|nej då|aldrig|aldrig i livet|självklart inte",
        "naturligtvis inte|såklart inte",
        "givetvis inte",
        "absolut inte|verkligen inte|helst inte|inte alls|inte än|inte nu|nu inte|inte idag|inte ännu|senare",
        "en annan gång",
        "låt bli|låt det vara|låt den vara|strunt i det|strunta i det|glöm det|skit i det|det behövs inte|behövs inte",
        "avbryt|avbryt det|stopp|stoppa|sluta|vänta|vänta lite|jag vill inte|nej jag vill inte|inte på några villkor",
        "gör (det|så) inte|gör inte det|(öppna|lås upp|stäng av|slå på|sätt på|tänd) [{it}] inte",
        "(öppna|tänd|starta) inte [{it}]|lås inte upp [{it}]|(stäng inte av|slå inte på) [{it}]",
        "inte {it}",
    ),
    no_alone=("[nej] inte",),
    courtesies=("snälla|eh|öh|åh|hm",),
    actions={
        Action.UNLOCK: ("(lås upp|öppna|låsa upp|låser du upp) [{it}]", "lås {it} upp"),
        Action.LOCK: ("(lås|låsa) [{it}]",),
        Action.OPEN: ("öppna [{it}]",),
        Action.CLOSE: ("stäng [{it}]|stänga [{it}]",),
        Action.DISARM: ("(stäng av|slå av|larma av|avaktivera|inaktivera) [{it}]",),
        Action.ARM: ("(larma på|slå på|sätt på|aktivera) [{it}]|larma",),
        Action.TURN_ON: ("(sätt på|slå på|tänd|starta) [{it}]",),
        Action.TURN_OFF: ("(stäng av|slå av|släck) [{it}]",),
        Action.RUN: ("(starta|aktivera) [{it}]|kör {it}",),
    },
    it=("den|det|den där|den här",),
    accents_matter=("får", "låt", "lås", "nä", "åh", "är"),
    them=("dem|dom|båda|båda två|alla|allt|allihop",),
    named=("[den|min|vår|vårt] {name}",),
    placed=("(i|på|vid) [min|mitt|vår|vårt] {place}",),
)

NUMBERS: Final = NumberWords(
    digits=("noll", "ett|en|etta", "två", "tre|trea", "fyra", "fem", "sex", "sju", "åtta", "nio"),
    teens=(
        *("tio", "elva", "tolv", "tretton", "fjorton"),
        *("femton", "sexton", "sjutton", "arton", "nitton"),
    ),
    tens=("tjugo", "trettio", "fyrtio", "femtio", "sextio", "sjuttio", "åttio", "nittio"),
    compounds=("{ten}{unit}", "{ten} {unit}"),
    irregular={},
    repeats={"dubbel": 2, "dubbelt": 2, "två gånger": 2, "trippel": 3, "tre gånger": 3},
    before=(
        "[ja|okej|ok] [eh]",
        "[ja|okej|ok] [eh] (min|mitt) (kod|pin|pinkod|nummer) är",
        "[ja|okej|ok] [eh] (koden|pinkoden|numret|pin|kod|det) är",
        "[ja|okej|ok] [eh] (koden|pinkoden|pin|kod)",
    ),
    after=("tack|snälla",),
    large=("*hundra*", "*tusen*"),
    weak=("en|ett",),
    idioms=("tusen tack|hundra procent|tusen gånger",),
)
