"""Swedish."""

from typing import Final

from .grammar import GAP, YEAR, Grammar, words

_DONE: Final = words("""
    tänt släckt låst stängt öppnat startat stoppat pausat återupptagit dimmat sänkt höjt ökat minskat lagt_till lagt_in
    lagt tagit_bort aktiverat avaktiverat skickat dragit slagit_på slagit_av satt_på satt_igång stängt_av justerat
    ändrat ställt ställt_in sparat avbrutit hoppat låst_upp tystat bockat_av kört
""")
_DONE_TO: Final = words("""
    tänts släckts låsts stängts öppnats startats stoppats pausats dimmats sänkts höjts ökats minskats lagts_till tagits
    aktiverats avaktiverats ställts satts ändrats justerats skickats slagits dragits återupptagits tystats
    sparats avbrutits låsts_upp
""")
_PAST: Final = words("""
    tände släckte låste stängde öppnade startade stoppade pausade dimmade sänkte höjde ökade minskade lade_till la_till
    tog_bort aktiverade avaktiverade skickade drog satte_på ställde_in
""")
_STATE: Final = words("""
    tänd tänt tända släckt släckta låst låsta stängd stängt stängda öppen öppet öppna på av avstängd avstängt avstängda
    igång påslagen påslaget påslagna inställd inställt inställda tystad tystade pausad pausade dimmad dimmade olåst
    upplåst aktiverad aktiverat avaktiverad
""")
_SHORT_STATE: Final = words("""
    tänd tänt tända släckt släckta låst låsta stängd stängt stängda öppnad öppnat avstängd avstängt inställd inställt
    inställda tillagd tillagt tillagda borttagen borttaget startad startat pausad pausat aktiverad aktiverat upplåst
    satt
""")
_TO_DO: Final = words("tända släcka låsa stänga öppna starta stoppa pausa dimma sänka höja aktivera")
_NOW_DOING: Final = words("tänder släcker låser stänger öppnar startar stoppar pausar dimmar sänker höjer aktiverar")
_THING_MADE: Final = words("påminnelse timer larm händelse uppgift automation scen")
_ADVERB: Final = words("precis nu också just")
_OUTSIDE: Final = words(r"butik\w* affären museet restaurang\w* apoteket bageriet")
_NO_CLAUSE: Final = r"(?!(?:är|var|har|hade|som|jag|du|det|den|de|ingen|alla|att|om|när)\b)"

GRAMMAR: Final = Grammar(
    claims=(
        rf"\b(?:jag har|har jag|vi har)(?: {_ADVERB})* (?!lagt ihop\b|satt mig\b){_DONE}\b",
        rf"\bjag har(?: {_ADVERB})* skapat{GAP}{{0,3}} {_THING_MADE}",
        rf"\b{_THING_MADE}\w*{GAP}{{0,6}} har skapats\b",
        rf"^(?:(?:nu )?jag(?: {_ADVERB})* )?{_PAST}\b",
        rf"\bhar(?: {_ADVERB})* (?:{_DONE_TO}|blivit {_SHORT_STATE})\b",
        rf"\bär nu {_STATE}(?=$|,| på\b| i\b| och\b)",
        rf"\bär {_STATE} nu$",
        rf"^nu är{GAP}{{1,5}}? {_STATE}(?=$|,| och\b)",
        r"\b(?:spelas|stängs|öppnas|tänds|släcks|låses) nu\b",
        rf"\bjag håller på att {_TO_DO}\b|^nu {_NOW_DOING} jag\b",
        r"^(?:så där,? )?(?:nu är det |det är |allt är )?(?:klart|fixat|gjort|ordnat)(?:$|,)",
        rf"^(?:{_NO_CLAUSE}[^\s,]+ ){{1,6}}{_SHORT_STATE}(?: (?:på|i|till) [^,]{{1,40}})?$",
    ),
    vetoes=(
        r"\b(?:inte|ingen|inget|inga|aldrig|ingenting|utan|tyvärr|än)\b",
        r"\b(?:försök\w*|lyckades|misslyckades|fel|kunde|kan|ska|skulle|kommer att|tänker|vill|måste|bör)\b",
        r"\b(?:om|när|så snart|så fort|efter|innan|förrän|tills|medan|ifall|huruvida)\b",
        r"\b(?:sedan|i går|igår|i dag|idag|i morse|i natt|tidigare|redan|senast|gånger|nyss|hade)\b",
        YEAR,
        rf"\b{_OUTSIDE}\b",
        r"\bklockan \d|ts av (?!och\b)\w|\bav (?:en|ett|av)\b",
        r"\b(?:verkar|enligt|tydligen|kontrollera|säg|se till|du bad|du har|har du|vid midnatt|som)\b",
        r"^(?:ja|nej)\b(?!,? (?:jag har|jag)\b)",
    ),
    openings=words("""
        okej ok okay självklart visst javisst bra absolut inga_problem inget_problem det_är_lugnt uppfattat perfekt
        naturligtvis
    """),
    breaks=r",? \b(?:men|så(?! där| snart| fort)|därför|dock)\b",
    closings=words("""
        kan_jag ska_jag finns_det är_det_något något_(?:mer|annat) behöver_du vill_du vad_(?:mer|annat|kan|vill) har_du
        undrar_du
    """)
    + r"\b",
)
