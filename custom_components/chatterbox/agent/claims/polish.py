"""Polish."""

from typing import Final

from .grammar import GAP, YEAR, Grammar, words

_PAST: Final = rf"""{
    words('''
    włączy wyłączy zapali zgasi otworzy zablokowa odblokowa zaryglowa ustawi zmieni usuną usunę skreśli odhaczy
    uruchomi zatrzyma wstrzyma wznowi odtworzy pominą pominę aktywowa dezaktywowa uzbroi rozbroi zwiększy zmniejszy
    podniosł opuści obniży podwyższy przyciemni rozjaśni ściszy podgłośni wyciszy wysła odesła zapisa anulowa
    przełączy dostosowa odsłoni zasłoni podkręci skręci zamkną zamknę zaplanowa zaktualizowa
''')
}(?:łem|łam|em|am|liśmy)"""
_DONE: Final = words("""
    włączon wyłączon zapalon zgaszon zamknięt otwart zablokowan odblokowan zaryglowan ustawion zmienion dodan usunięt
    skreślon uruchomion zatrzyman wstrzyman wznowion odtworzon pominięt aktywowan dezaktywowan uzbrojon rozbrojon
    zwiększon zmniejszon podniesion opuszczon obniżon przyciemnion rozjaśnion ściszon wyciszon wysłan odesłan zapisan
    anulowan dostosowan przesunięt przełączon odsłonięt zasłonięt
""")
_THING_MADE: Final = words("przypomnieni minutnik alarm budzik wydarzeni zadani automatyzacj scen")
_DOING: Final = words("""
    włączam wyłączam zapalam gaszę otwieram zamykam ustawiam uruchamiam zatrzymuję wstrzymuję wznawiam zwiększam
    zmniejszam podnoszę opuszczam przyciemniam blokuję odblokowuję dodaję usuwam wysyłam aktywuję
""")
_ENDING: Final = "[yaeio]"
_RUNS: Final = words("wentylator muzyka ogrzewanie odkurzacz robot klimatyzacja minutnik playlista")
_OUTSIDE: Final = words(r"sklep\w* muzeum restauracj\w* supermarket\w* aptek\w* piekarni\w*")
_NO_CLAUSE: Final = (
    r"(?!(?:jest|są|był|była|było|były|został|została|zostało|zostały|zostanie|który|która|które|że|się|ma|ja|nie|to"
    r"|wszystko)\b)"
)

GRAMMAR: Final = Grammar(
    claims=(
        rf"\b{_PAST}\b",
        rf"\bdoda(?:łem|łam|liśmy)\b{GAP}{{0,10}} (?:do|na)\b|\butworzy(?:łem|łam){GAP}{{0,3}} {_THING_MADE}",
        rf"\b{_THING_MADE}\w*{GAP}{{0,6}} zosta(?:ł|ła|ło|ły) utworzon{_ENDING}\b",
        rf"^(?:już |właśnie )?{_DONE}o\b|\b{_DONE}o$",
        rf"\bzosta(?:ł|ła|ło|ły|li)(?: pomyślnie| właśnie| teraz)? {_DONE}{_ENDING}\b",
        rf"\b(?:jest|są) teraz {_DONE}{_ENDING}\b",
        rf"\bteraz{GAP}{{0,5}}? (?:jest|są) {_DONE}{_ENDING}\b",
        rf"\b{_RUNS}\b{GAP}{{0,3}}? (?:teraz (?:działa|gra|pracuje)|(?:działa|gra|pracuje) teraz)\b",
        rf"^(?:już |teraz |właśnie )?{_DOING}\b",
        r"^(?:już |wszystko )?(?:gotowe|zrobione|załatwione)(?:$|,)",
        rf"^(?:{_NO_CLAUSE}[^\s,]+ ){{1,6}}{_DONE}{_ENDING}(?: (?:na|do) [^,]{{1,40}})?$",
    ),
    vetoes=(
        r"\b(?:nie|żad\w+|nic|niczego|nigdy|nikt|bez|jeszcze)\b",
        r"\b(?:prób\w+|spróbow\w+|uda(?:ło|je)|błąd|błędu|mogę|może\w*|mógł\w*|mogł\w*|można|mam|ma|muszę|powin\w+)\b",
        r"\b(?:gdy|gdyby|kiedy|jeśli|jeżeli|zanim|dopóki|czy|aby|żeby|że|po tym|jak tylko|po czym)\b",
        r"\b(?:temu|wczoraj|dziś|dzisiaj|rano|wcześniej|ostatnio|poprzednio|razy|od)\b|\bo (?:\d|\w+ej\b)",
        YEAR,
        rf"\b{_OUTSIDE}\b",
        r"\b(?:przez|według|podobno|chyba|prawdopodobnie|wygląda)\b",
        r"\b(?:zostanie|zostaną|zostałoby|zostałby|zostałaby|będzie|będą|sprawdź|powiedz|upewnij|proszę|poprosiłeś|prosiłeś)\b",
        r"^(?:tak|nie)\b(?!,? \w+(?:łem|łam)\b)",
    ),
    openings=words("""
        dobrze ok okay jasne oczywiście pewnie świetnie w_porządku nie_ma_problemu nie_ma_sprawy rozumiem się_robi
        proszę_bardzo
    """),
    breaks=r",? \b(?:ale|więc|dlatego|jednak)\b",
    closings=words("""
        czy coś w_czym co_jeszcze potrzebujesz jeszcze_coś chcesz
    """)
    + r"\b",
)
