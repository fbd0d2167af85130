"""Italian."""

from typing import Final

from .wording import Action, NumberWords, Wording

_YES: Final = (
    "[ma] sì|sisì|sì dai|ok|okay|certo|certamente|certo che sì|ma certo|sicuramente|naturalmente|ovviamente|ovvio",
    "va bene|va benissimo|d'accordo|assolutamente [sì]|esatto|esattamente|giusto|corretto|perfetto|benissimo",
    "fallo [pure]|lo faccia|fai pure|faccia pure|procedi [pure]|proceda|vai [pure]|confermo|confermato",
    "volentieri|con piacere|ne sono (sicuro|sicura)|sono (sicuro|sicura)|affermativo|senz'altro|sono d'accordo",
    "(sì|certo) (grazie|grazie mille|mille grazie|ti ringrazio)",
)

WORDING: Final = Wording(
    yes=_YES,
    yes_alone=(
        "si [si|certo|certamente|grazie|grazie mille|fallo|procedi|confermo|va bene|va benissimo|d'accordo]|sisi",
        "certo che si|assolutamente si|ma si|si (dai|puoi|{action}|puoi {action})",
    ),
    behind_yes=(
        *(*_YES, "adesso|ora|subito|avanti|sicuro|al cento per cento|cento per cento"),
        *("{action} pure", "puoi|puoi {action}"),
    ),
    no=(
        "no|negativo|non confermo|non va bene|no (grazie|grazie mille|mille grazie)|mai|giammai|assolutamente no",
        "certo che no|ma no|meglio di no",
        "per niente|per nulla|neanche per sogno",
        "non (ancora|adesso|ora|oggi|subito)|più tardi|dopo|un'altra volta|in nessun caso|non importa|non serve",
        "lascia (stare|perdere|così)|lasciala (stare|così|chiusa)|lascialo (stare|così)|lasci (stare|perdere)|lascia",
        "annulla|annullare|ferma|fermati|fermo|stop|basta|aspetta|dimentica|dimenticalo|dimenticatene|non voglio",
        "non (farlo|aprirla|aprirlo|aprire|sbloccarla|sbloccarlo|sbloccare|accenderlo|spegnerlo|attivarlo)",
        "non (la|lo) (aprire|sbloccare|accendere|spegnere|attivare)|non lo fare|non fare niente|non lo voglio",
        "preferisco di no|non è necessario",
        "non {it}",
    ),
    courtesies=("per favore|per piacere|ti prego|ehm|eh|oh|ah",),
    actions={
        Action.UNLOCK: (
            "aprila|aprilo|sbloccala|sbloccalo|aprirla|aprirlo|sbloccarla|sbloccarlo",
            "(apri|apra|aprire|sblocca|sblocchi|sbloccare) [{it}]",
        ),
        Action.LOCK: ("bloccala|bloccalo", "(blocca|blocchi|bloccare) [{it}]|chiudi [{it}] a chiave"),
        Action.OPEN: ("aprila|aprilo|aprirla|aprirlo", "(apri|apra|aprire) [{it}]"),
        Action.CLOSE: ("chiudila|chiudilo|chiuderla|chiuderlo", "(chiudi|chiuda|chiudere) [{it}]"),
        Action.DISARM: (
            "disattivala|disattivalo|disinseriscilo|spegnila|spegnilo",
            "(disattiva|disattivi|disattivare|disinserisci|disarma|spegni) [{it}]",
        ),
        Action.ARM: ("attivala|attivalo|inseriscilo", "(attiva|attivi|attivare|inserisci|arma) [{it}]"),
        Action.TURN_ON: ("accendila|accendilo", "(accendi|accenda|accendere) [{it}]"),
        Action.TURN_OFF: ("spegnila|spegnilo", "(spegni|spenga|spegnere) [{it}]"),
        Action.RUN: ("avvialo|avviala|eseguilo|attivala|attivalo", "(avvia|esegui|attiva|lancia) [{it}]"),
    },
    it=("quella|quello|questa|questo",),
    accents_matter=("sì", "è"),
    them=("tutte e due|tutti e due|entrambe|entrambi|tutte|tutti|tutto",),
    named=("[la|il|lo|la mia|il mio] {name}|l'{name}",),
    placed=("(in|nel|nella|nello|di|del|della|dello|al|alla) {place}|(nell'|dell'|all'){place}",),
)

NUMBERS: Final = NumberWords(
    digits=("zero", "uno|un|una", "due", "tre", "quattro", "cinque", "sei", "sette", "otto", "nove"),
    teens=(
        *("dieci", "undici", "dodici", "tredici", "quattordici"),
        *("quindici", "sedici", "diciassette", "diciotto", "diciannove"),
    ),
    tens=("venti", "trenta", "quaranta", "cinquanta", "sessanta", "settanta", "ottanta", "novanta"),
    compounds=("{ten}{unit}",),
    irregular={
        ten * 10 + unit: f"{word}{said}"
        for ten, word in enumerate(
            ("vent", "trent", "quarant", "cinquant", "sessant", "settant", "ottant", "novant"), 2
        )
        for unit, said in ((1, "uno"), (8, "otto"))
    },
    repeats={"doppio": 2, "triplo": 3, "due volte": 2, "tre volte": 3},
    before=(
        "[sì|ok|va bene] [ehm]",
        "[sì|ok|va bene] [ehm] (il|il mio) (codice|pin|codice pin|numero) è",
        "[sì|ok|va bene] [ehm] (è|pin|codice|il codice|il pin)",
    ),
    after=("per favore|grazie",),
    large=(
        *("cento*", "duecento*", "trecento*", "quattrocento*", "cinquecento*", "seicento*", "settecento*"),
        *("ottocento*", "novecento*", "mille*", "*duemila*", "*tremila*", "*quattromila*", "*cinquemila*"),
        *("*seimila*", "*settemila*", "*ottomila*", "*novemila*", "*cimila*", "*ventimila*", "*ntamila*"),
        *("*unmila*", "*unomila*"),
    ),
    weak=("un|una",),
    idioms=("grazie mille|mille grazie|cento per cento|mille volte",),
)
