"""Italian."""

from typing import Final

from .grammar import GAP, YEAR, Grammar, words

_DONE: Final = words("""
    acces spent chius apert bloccat sbloccat impostat regolat mess aggiunt rimoss eliminat cancellat tolt
    annullat avviat fermat arrestat interrott ripres riprodott saltat attivat disattivat inserit disinserit alzat
    abbassat aumentat diminuit ridott attenuat inviat mandat rimandat rispedit salvat memorizzat cambiat modificat
    spostat programmat silenziat segnat armat disarmat lanciat eseguit riavviat sollevat
""")
_DOING: Final = words("""
    accendendo spegnendo chiudendo aprendo bloccando sbloccando impostando regolando mettendo aggiungendo rimuovendo
    avviando fermando attivando disattivando alzando abbassando inviando
""")
_THING_MADE: Final = words("promemoria timer sveglia evento attività automazione scena nota")
_ADVERB: Final = words("appena anche quindi subito ora adesso tutte tutti")
_STATE: Final = rf"(?:{_DONE}[oaie]|in pausa|in funzione|in riproduzione|in esecuzione|muti)"
_NOW: Final = r"(?:ora|adesso)"
_OUTSIDE: Final = words("negozio museo ristorante supermercato farmacia panificio strada")
_NO_CLAUSE: Final = (
    r"(?!(?:è|sono|ho|hai|ha|che|si|il|lo|la|i|gli|le|l'\S+|un|una|del|ci|mi|ti|tutto|tutte|tutti|questo|questa"
    r"|quando|nessuna)\b)"
)

GRAMMAR: Final = Grammar(
    claims=(
        rf"\b(?:ho|abbiamo|l'ho|le ho|li ho)(?: {_ADVERB})* {_DONE}[oaie]\b",
        rf"\bho(?: {_ADVERB})* creat[oaie]{GAP}{{0,3}} {_THING_MADE}\b",
        rf"\b(?:è|sono)(?: {_ADVERB})* stat[oaie](?: {_ADVERB})* {_DONE}[oaie]\b",
        rf"\b{_THING_MADE}\b{GAP}{{0,6}} (?:è|sono) stat[oaie] creat[oaie]\b",
        rf"\b(?:è|sono) {_NOW} {_STATE}\b",
        rf"\b{_NOW}{GAP}{{0,5}}? (?:è|sono) {_STATE}\b",
        rf"\b(?:è|sono) {_STATE}{GAP}{{0,3}}? {_NOW}$",
        rf"\bsi sta (?:chiudendo|aprendo) {_NOW}\b|\b{_NOW}{GAP}{{0,4}} si sta (?:chiudendo|aprendo)\b",
        rf"\bsto {_DOING}\b",
        r"^(?:tutto |ecco )?fatto(?:$|,)",
        (
            rf"^{_NO_CLAUSE}[^\s,]+ (?:(?!(?:è|sono|ho|ha|che|si)\b)[^\s,]+ ){{0,5}}{_DONE}[oaie]"
            r"(?: (?:a|al|alla|alle|in|per|su) [^,]{1,40})?$"
        ),
    ),
    vetoes=(
        r"\b(?:non|nessun[oa]?|niente|nulla|mai|senza|impossibile|provato|riuscit\w*|fallit\w*|errori?)\b",
        r"\b(?:se|quando|una volta|dopo|finché|mentre|prima|affinché|nel caso)\b|^appena\b",
        r"\b(?:fa|ieri|oggi|stamattina|stanotte|ultima volta|volte|già|precedentemente)\b|\balle (?:ore )?\d",
        YEAR,
        rf"\b{_OUTSIDE}\b",
        r"\b(?:da (?!\d)|dall'|secondo|sembra|pare|a quanto)",
        r"\b(?:era|erano|verr\w+|sar(?:à|anno)|sarebbe\w*|sia|siano|poss\w+|pu[oò]|puoi|può|potre\w+|dev\w+|dov\w+)\b",
        r"\b(?:verifica\w*|controlla\w*|assicurati|conferma|di'|dimmi|hai|avete|vuoi|vuole)\b",
        r"^(?:sì|si|no)\b(?!,? (?:ho|l'ho)\b)",
    ),
    openings=words("""
        va_bene ok okay certo certamente perfetto d'accordo nessun_problema naturalmente ecco bene benissimo volentieri
        capito
    """),
    breaks=r",? \b(?:ma|però|tuttavia|perciò|così)\b|, quindi\b",
    closings=words("""
        posso c'è_altro c'è_qualcos'altro altro qualcos'altro hai_bisogno ha_bisogno ti_serve le_serve serve vuoi vuole
        desidera desideri cos'altro che_altro cosa
    """)
    + r"\b",
)
