"""German."""

from typing import Final

from .grammar import GAP, YEAR, Grammar, words

_DONE: Final = words("""
    eingeschaltet ausgeschaltet angeschaltet abgeschaltet umgeschaltet scharfgeschaltet stummgeschaltet geschaltet
    angemacht ausgemacht aufgemacht zugemacht angeknipst ausgeknipst geöffnet geschlossen abgeschlossen aufgeschlossen
    zugeschlossen verriegelt entriegelt abgesperrt aufgesperrt gesperrt entsperrt gedimmt gestellt eingestellt
    gesetzt festgelegt geändert angepasst erhöht gesenkt abgesenkt verringert reduziert herabgesetzt
    aufgedreht heruntergedreht runtergedreht hochgedreht heruntergefahren runtergefahren hochgefahren herabgelassen
    heruntergelassen hochgezogen zugezogen aufgezogen gestartet gestoppt angehalten unterbrochen pausiert fortgesetzt
    abgespielt übersprungen hinzugefügt eingetragen ergänzt entfernt gelöscht gestrichen abgehakt aktiviert deaktiviert
    ausgeführt gespeichert gemerkt geschickt zurückgeschickt gesendet angewiesen verschoben abgebrochen
    weitergeschaltet umgekehrt beschleunigt gedrosselt ausgelöst angehoben verstellt durchgesagt angekündigt
""")
_MADE: Final = words("erstellt angelegt eingerichtet")
_THING_MADE: Final = words("erinnerung timer wecker termin aufgabe automatisierung szene eintrag notiz")
_STATE: Final = words("""
    offen geöffnet geschlossen abgeschlossen aufgeschlossen verriegelt entriegelt eingeschaltet ausgeschaltet gedimmt
    stumm stummgeschaltet stumm_geschaltet pausiert aktiv aktiviert deaktiviert scharf eingestellt gestellt gesetzt
    heruntergefahren hochgefahren gesperrt entsperrt
""")
_RUNS: Final = words("ventilator lüfter musik heizung staubsauger saugroboter klimaanlage playlist wiedergabe timer")
_TO_DO: Final = words("""
    einzuschalten auszuschalten anzumachen auszumachen zu_öffnen zu_schließen abzuschließen aufzuschließen
    zu_verriegeln zu_entriegeln zu_starten zu_stoppen zu_dimmen
""")
_AT_THE_END: Final = r"(?=$|,| und\b)"
_ON: Final = rf"(?:{_STATE}\b|(?:an|aus|auf|zu){_AT_THE_END})"
_OUTSIDE: Final = words("geschäft laden museum restaurant supermarkt apotheke bäckerei straße bauarbeiten")
_NO_CLAUSE: Final = r"(?!(?:ist|sind|war|waren|wurden?|hat|habe|haben|wird|werden|ich|du|dass|der|die|das|zu)\b)"

GRAMMAR: Final = Grammar(
    claims=(
        rf"\b(?:ich hab(?:e|s|'s)?|hab(?:e)? ich|wir haben|haben wir)\b{GAP}{{0,14}}? {_DONE}{_AT_THE_END}",
        rf"\b(?:ich habe?|habe? ich)\b{GAP}{{0,8}}? {_THING_MADE}\b{GAP}{{0,8}}? {_MADE}{_AT_THE_END}",
        rf"\bwurden?\b{GAP}{{0,12}}? {_DONE}{_AT_THE_END}",
        rf"\b{_THING_MADE}\b{GAP}{{0,6}}? wurden?{GAP}{{0,6}}? {_MADE}{_AT_THE_END}",
        rf"\b(?:ist|sind)\b{GAP}{{0,8}}? {_DONE} worden\b",
        rf"\b(?:ist|sind)\b{GAP}{{0,4}}? (?:jetzt|nun)\b{GAP}{{0,5}}? {_ON}",
        rf"^(?:jetzt|nun) (?:ist|sind){GAP}{{1,6}}? {_ON}",
        rf"\b{_RUNS}\b{GAP}{{0,3}}? läuft (?:jetzt|nun)\b",
        r"\b(?:öffnet|schließt|öffnen|schließen) sich (?:jetzt|nun)\b",
        rf"\bbin (?:gerade )?dabei\b.{{0,80}} {_TO_DO}$",
        r"^(?:ist |das ist |ist schon |alles |schon )?(?:erledigt|fertig|gemacht|getan)(?:$|,)",
        rf"^(?:{_NO_CLAUSE}[^\s,]+ ){{1,6}}{_DONE}$",
    ),
    vetoes=(
        r"\b(?:nicht|kein\w*|nichts|nie|niemals|niemand|weder|ohne|leider|noch)\b",
        r"\b(?:kann\w*|könn\w*|konnt\w*|soll\w*|möcht\w*|muss|müss\w*|will|wollen|darf|dürf\w*|lässt|lassen)\b",
        r"\b(?:wird|wirst|werden?|würden?|versuch\w*|fehler\w*|fehlgeschlagen|gescheitert|misslungen)\b",
        r"\b(?:wenn|falls|sobald|nachdem|bevor|ehe|bis|ob|dass|wann|während|damit|als (?:ich|du|sie|wir))\b",
        r"\bum \d|\buhr\b.{0,80} wurden?\b|\bwurden?\b.{0,80} uhr\b",
        r"\bvor (?:\w+ )?(?:sekunde|minute|stunde|tag|woche)n?\b",
        (
            r"\b(?:gestern|vorhin|zuvor|zuletzt|früher|bereits|schon (?!erledigt)|seit"
            r"|heute (?:früh|morgen|nacht|mittag)"
            r"|heute \w+mal|\w+mal geöffnet)\b"
        ),
        YEAR,
        rf"\b{_OUTSIDE}\b",
        r"\b(?:durch|von (?!der\b|deiner?\b|ihrer?\b|\d))",
        r"\b(?:scheint|scheinbar|offenbar|anscheinend|laut|vermutlich|angeblich|du hast|sie haben|hast du|haben sie)\b",
        r"\b(?:bitte|prüfe|sag|stelle? sicher|vergewissere)\b",
        r"^(?:ja|nein)\b(?!,? (?:ich|habe ich|hab ich)\b)",
    ),
    openings=words("""
        okay ok gut alles_klar gerne gern klar natürlich selbstverständlich in_ordnung kein_problem sehr_gerne jawohl
        prima super verstanden so also
    """),
    breaks=r",? \b(?:aber|doch|jedoch|deshalb|daher|deswegen|sodass|also)\b",
    closings=words(r"""
        kann_ich soll_ich darf_ich möchte?st_du möchten_sie brauch\w* gibt_es ist_(?:noch|sonst) noch_(?:was|etwas)
        sonst was_(?:noch|sonst|kann|darf|möchte\w*) womit wie_kann willst_du wollen_sie
    """)
    + r"\b",
)
