"""Dutch."""

from typing import Final

from .grammar import GAP, YEAR, Grammar, words

_DONE: Final = words("""
    aangezet uitgezet aangedaan uitgedaan ingeschakeld uitgeschakeld gezet gesloten geopend opengedaan dichtgedaan
    opengezet dichtgezet vergrendeld ontgrendeld op_slot_gedaan van_slot_gehaald ingesteld toegevoegd verwijderd gewist
    afgevinkt gestart gestopt gepauzeerd hervat gedimd verlaagd verhoogd aangepast gewijzigd veranderd geactiveerd
    gedeactiveerd gedempt teruggestuurd gestuurd opgeslagen afgespeeld overgeslagen geannuleerd stilgezet uitgevoerd
    naar_beneden_gedaan naar_boven_gedaan omhoog_gedaan omlaag_gedaan opgehaald neergelaten gereset herstart
""")
_HAPPENED: Final = words("""
    aangezet uitgezet aangedaan uitgedaan opengedaan dichtgedaan dichtgezet op_slot_gedaan toegevoegd verwijderd gewist
    afgevinkt gestart gestopt gepauzeerd hervat gedimd verlaagd verhoogd aangepast gewijzigd teruggestuurd gestuurd
    geannuleerd overgeslagen naar_beneden_gedaan naar_boven_gedaan omhoog_gedaan omlaag_gedaan
""")
_THING_MADE: Final = words("herinnering timer wekker afspraak taak automatisering scène notitie")
_STATE: Final = words("""
    aan uit open dicht op_slot van_slot vergrendeld ontgrendeld gesloten geopend gedempt ingeschakeld uitgeschakeld
    ingesteld gedimd gepauzeerd actief geactiveerd aangezet uitgezet
""")
_RUNS: Final = words("ventilator muziek verwarming stofzuiger robot robotstofzuiger airco timer playlist")
_TO_DO: Final = words("openen sluiten aanzetten uitzetten vergrendelen ontgrendelen starten stoppen dimmen instellen")
_BUSY_WITH: Final = words("""
    aan_te_zetten uit_te_zetten te_openen te_sluiten in_te_schakelen uit_te_schakelen te_vergrendelen
""")
_AT_THE_END: Final = r"(?=$|,| (?:en|naar|aan|op|tot|in|voor|met|van|om)\b)"
_OUTSIDE: Final = words("winkels? museum restaurant supermarkt apotheek bakker")
_NO_CLAUSE: Final = (
    r"(?!(?:is|zijn|was|waren|heb|heeft|hebben|wordt|worden|de|het|een|er|ik|je|jij|u|die|dat|geen|alle|om)\b)"
)

GRAMMAR: Final = Grammar(
    claims=(
        rf"\b(?:ik heb|heb ik|we hebben|wij hebben)\b{GAP}{{0,14}}? {_DONE}{_AT_THE_END}",
        rf"\b(?:ik heb|heb ik){GAP}{{0,6}}? {_THING_MADE}\b{GAP}{{0,6}}? aangemaakt{_AT_THE_END}",
        rf"\b(?:is|zijn)\b{GAP}{{0,10}}? {_HAPPENED}{_AT_THE_END}",
        rf"\b{_THING_MADE}\b{GAP}{{0,6}} is aangemaakt{_AT_THE_END}",
        rf"\b(?:is|zijn) (?:succesvol|met succes) {_DONE}\b",
        rf"\b(?:is|zijn|staat|staan|gaat|gaan) nu{GAP}{{0,3}}? {_STATE}{_AT_THE_END}",
        r"\b(?:verwarming|thermostaat|volume) staat nu op\b",
        rf"\b{_RUNS}\b{GAP}{{0,4}}? (?:draait|speelt|loopt|werkt) nu\b",
        rf"\bik ben\b.{{0,80}} aan het {_TO_DO}$|\bbezig\b.{{0,80}} {_BUSY_WITH}$",
        r"^(?:het is |dat is |is |alles is )?(?:klaar|gedaan|geregeld|gebeurd|voor elkaar|gefixt)(?:$|,)",
        (
            rf"^{_NO_CLAUSE}[^\s,]+ (?:(?!(?:is|zijn|heb|heeft|die|dat)\b)[^\s,]+ ){{0,5}}{_DONE}"
            r"(?: (?:op|naar|aan|tot) [^,]{1,40})?$"
        ),
    ),
    vetoes=(
        r"\b(?:niet|geen|niets|niks|nooit|niemand|zonder|nog|helaas)\b",
        r"\b(?:kan|kun|kunt|kunnen|kon|konden|zou|zouden|zal|zullen|ga ik|ik ga|wil|wilt|moet|moeten|mag|mogen)\b",
        r"\b(?:wordt|worden|geprobeerd|poging|mislukt|gelukt|fout)\b",
        r"\b(?:als|wanneer|zodra|nadat|voordat|toen|totdat|terwijl|indien|of|die|dat (?!is\b)|zodat)\b",
        r"\b(?:geleden|gisteren|gisteravond|vandaag|vanmorgen|vanochtend|vannacht|eerder|laatst|al|reeds|sinds|keer)\b",
        r"\bom (?:\w+ uur\b|\d)",
        YEAR,
        rf"\b{_OUTSIDE}\b",
        r"\b(?:door|volgens|lijkt|blijkbaar|schijnbaar)\b",
        r"\b(?:controleer|zeg|zorg|je vroeg|u vroeg|je hebt|heb je|hebt u|u hebt|heeft u|je wilde)\b",
        r"^(?:ja|nee)\b(?!,? (?:ik heb|heb ik)\b)",
    ),
    openings=words("""
        oké oke ok okay natuurlijk prima goed geen_probleem zeker uiteraard in_orde begrepen graag_gedaan perfect top
        zo dus
    """),
    breaks=r",? \b(?:maar|echter|daarom|dus)\b",
    closings=words("""
        kan_ik zal_ik mag_ik is_er heb_je heeft_u nog_(?:iets|wat) wat_(?:kan|nog|wil) wil_je wilt_u anders_nog
        iets_anders waarmee verder_nog
    """)
    + r"\b",
)
