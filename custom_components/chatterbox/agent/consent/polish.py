"""Polish. "No" is a colloquial yes there, and is understood only where nothing else could be meant."""

from typing import Final

from .wording import Action, NumberWords, Wording

_YES: Final = (
    "tak|no tak|tak jest|jasne|no jasne|jasne że tak|pewnie|no pewnie|pewnie że tak|oczywiście|oczywiście że tak",
    "[bardzo] dobrze|dobra|no (dobra|dobrze)|spoko|w porządku|ok|okej|okay|zgoda|zgadzam się|naturalnie",
    "jak najbardziej|śmiało",
    "zdecydowanie [tak]",
    "zrób to|zrób tak|poproszę|potwierdzam|potwierdzone|dokładnie|zgadza się|na pewno|bez wątpienia",
    "absolutnie tak|koniecznie|chętnie|akceptuję|jestem (pewien|pewna)|(działaj|dawaj)",
    "tak (dziękuję|dzięki|dziękuję bardzo)",
)

WORDING: Final = Wording(
    yes=_YES,
    behind_yes=(*_YES, "teraz|od razu|już teraz|proszę bardzo|sto procent|na sto procent", "możesz|możesz {action}"),
    no=(
        "nie|no nie|nie (dziękuję|dzięki|dziękuję bardzo|bardzo dziękuję)|nigdy|nigdy w życiu|oczywiście że nie",
        "pewnie że nie|absolutnie nie",
        "jasne że nie",
        "w żadnym (razie|wypadku)|nie ma (mowy|opcji)|odmawiam|nie bardzo|nie sądzę|nie akceptuję|lepiej nie",
        "raczej nie|jeszcze nie|nie teraz|teraz nie|dzisiaj nie|proszę nie",
        "później|innym razem|zostaw|zostaw (to|tak|ją|go|je)|zostaw [{it}] (zamknięte|zamkniętą|zamknięty)|daj spokój",
        "zapomnij|zapomnij o tym|nieważne|nie trzeba",
        "anuluj|anuluj to|przerwij|stop|stój|zatrzymaj|zatrzymaj się|czekaj|poczekaj|nie chcę|nie chcę tego",
        "nie potrzeba",
        "nie rób (tego|nic)|nie (otwieraj|odblokowuj|włączaj|wyłączaj|zamykaj|uruchamiaj|rozbrajaj) [{it}]",
        "nie {it}",
    ),
    courtesies=("proszę|eee|yyy|oh|ach|hmm",),
    actions={
        Action.UNLOCK: ("(otwórz|odblokuj|otworzyć|odblokować|otwieraj) [{it}]", "(otwórz|otwieraj) zamek"),
        Action.LOCK: ("(zablokuj|zarygluj|zablokować) [{it}]", "zamknij [{it}] na klucz"),
        Action.OPEN: ("(otwórz|otworzyć|otwieraj) [{it}]",),
        Action.CLOSE: ("(zamknij|zamknąć|zamykaj) [{it}]",),
        Action.DISARM: ("(rozbrój|rozbroić|wyłącz|wyłączyć|dezaktywuj) [{it}]",),
        Action.ARM: ("(uzbrój|uzbroić|włącz|włączyć|aktywuj) [{it}]",),
        Action.TURN_ON: ("(włącz|włączyć|zapal) [{it}]",),
        Action.TURN_OFF: ("(wyłącz|wyłączyć|zgaś) [{it}]",),
        Action.RUN: ("(uruchom|uruchomić|włącz|aktywuj|odpal) [{it}]",),
    },
    it=("je|ją|go|to|te",),
    accents_matter=("ją",),
    them=("oba|obie|oboje|wszystko|wszystkie",),
    named=("[te|tę|ten|nasze|moje] {name}",),
    placed=("(w|we|na|przy|w obszarze) {place}",),
)

NUMBERS: Final = NumberWords(
    digits=(
        *("zero", "jeden|jedna|jedno|jedynka", "dwa|dwie|dwójka", "trzy|trójka", "cztery|czwórka"),
        *("pięć|piątka", "sześć|szóstka", "siedem|siódemka", "osiem|ósemka", "dziewięć|dziewiątka"),
    ),
    teens=(
        *("dziesięć", "jedenaście", "dwanaście", "trzynaście", "czternaście"),
        *("piętnaście", "szesnaście", "siedemnaście", "osiemnaście", "dziewiętnaście"),
    ),
    tens=(
        *("dwadzieścia", "trzydzieści", "czterdzieści", "pięćdziesiąt"),
        *("sześćdziesiąt", "siedemdziesiąt", "osiemdziesiąt", "dziewięćdziesiąt"),
    ),
    compounds=("{ten} {unit}",),
    irregular={},
    repeats={"podwójna": 2, "podwójne": 2, "dwa razy": 2, "trzy razy": 3, "potrójna": 3},
    before=(
        "[tak|ok|dobrze] [proszę]",
        "[tak|ok|dobrze] [mój] (kod|pin|numer) to",
        "[tak|ok|dobrze] (to|pin|kod|mój kod|mój pin)",
    ),
    after=("proszę|dziękuję",),
    units=("jeden", "dwa|dwie", "trzy", "cztery", "pięć", "sześć", "siedem", "osiem", "dziewięć"),
    large=(
        *("sto", "dwieście", "trzysta", "czterysta", "pięćset", "sześćset", "siedemset", "osiemset", "dziewięćset"),
        *("tysiąc*", "tysięcy"),
    ),
    weak=("jeden|jedna|jedno",),
    idioms=("sto procent|sto razy",),
)
