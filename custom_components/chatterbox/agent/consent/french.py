"""French."""

from typing import Final

from .wording import Action, NumberWords, Wording

_YES: Final = (
    "[mais|ben|bah|ah|eh bien] oui|[bah] ouais|ok|okay|d'accord|bien sûr [que oui]|bien sur|en effet|effectivement",
    "correct",
    "évidemment|naturellement|entendu|très bien",
    "absolument|certainement|tout à fait|exactement|exact|c'est ça|sans hésiter|avec plaisir|volontiers|parfait",
    "vas-y|allez-y|fais-le|faites-le|fais ça|oui (merci|merci beaucoup)|oui s'il (te|vous) plaît merci",
    "je (confirme|suis d'accord|veux bien)|j'en suis sûr|j'en suis sûre|je suis (sûr|sûre)|confirmé|ça marche",
)

WORDING: Final = Wording(
    yes=_YES,
    behind_yes=(
        *_YES,
        "maintenant|tout de suite|cent pour cent",
        "(tu peux|vous pouvez)|(tu peux|vous pouvez) {action}",
    ),
    no=(
        "[mais|ben|bah|ah|eh bien] non|nan|non (merci|merci beaucoup|merci bien|mille mercis)|pas la peine|jamais",
        "jamais de la vie|pas question|hors de question",
        "bien sûr que non",
        "surtout pas|absolument pas|certainement pas|pas du tout|pas vraiment|je ne pense pas",
        "pas (encore|maintenant|tout de suite|aujourd'hui)",
        "plus tard|une autre fois|laisse|laissez|laisse (tomber|faire|comme ça)|laissez tomber|oublie|oublie ça",
        "annule|annulez|annule ça|arrête|arrêtez|stop|attends|attendez|je ne veux pas|je veux pas|il vaut mieux pas",
        "[non] ne (le|la) fais pas|ne fais pas ça|fais pas ça|ce n'est pas (la peine|nécessaire)|c'est pas la peine",
        "n'(ouvre|ouvrez|active|activez|allume|allumez) pas|n'y touche pas|mieux vaut pas|je préfère pas",
        "ne (l'ouvre|l'ouvrez|l'active|l'allume|l'éteins) pas",
        "[ne] (la|le|les) (déverrouille|déverrouillez|débloque|débloquez) pas|(l'ouvre|l'ouvrez|ouvre|ouvrez) pas",
        "ne {action} pas",
        "pas {it}",
    ),
    courtesies=("s'il (te|vous) plaît|euh|oh|ah|hum",),
    actions={
        Action.UNLOCK: ("(déverrouille|déverrouillez|déverrouiller|ouvre|ouvrez|ouvrir|débloque|débloquez) [{it}]",),
        Action.LOCK: ("(verrouille|verrouillez|verrouiller) [{it}]", "ferme {it} à clé|ferme à clé"),
        Action.OPEN: ("(ouvre|ouvrez|ouvrir) [{it}]",),
        Action.CLOSE: ("(ferme|fermez|fermer) [{it}]",),
        Action.DISARM: ("(désarme|désarmez|désactive|désactivez|désactiver|éteins|éteignez|coupe|coupez) [{it}]",),
        Action.ARM: ("(arme|armez|active|activez|activer) [{it}]",),
        Action.TURN_ON: ("(allume|allumez|allumer|mets en marche) [{it}]",),
        Action.TURN_OFF: ("(éteins|éteignez|éteindre|coupe|coupez) [{it}]",),
        Action.RUN: ("(lance|lancez|lancer|exécute|exécutez|démarre|démarrez|active|activez) [{it}]",),
    },
    it=("la|le|ça|celle-ci|celui-ci",),
    them=("les|les deux|tous|toutes|tout|tous les deux|toutes les deux",),
    named=("[la|le|ma|mon|notre] {name}|l'{name}",),
    placed=("(dans|de|à|côté) [la|le|ma|mon|notre] {place}|(dans|de|à) l'{place}|(du|au) {place}",),
)

_TEENS: Final = (
    *("dix", "onze", "douze", "treize", "quatorze"),
    *("quinze", "seize", "dix sept", "dix huit", "dix neuf"),
)

NUMBERS: Final = NumberWords(
    digits=("zéro", "un|une", "deux", "trois", "quatre", "cinq", "six", "sept", "huit", "neuf"),
    teens=_TEENS,
    tens=(
        *("vingt", "trente", "quarante", "cinquante", "soixante"),
        *("septante", "quatre (vingt|vingts)|huitante|octante", "nonante"),
    ),
    compounds=("{ten} [et] {unit}",),
    irregular={
        **{70 + n: f"soixante [et] {teen}" for n, teen in enumerate(_TEENS)},
        **{90 + n: f"quatre (vingt|vingts) {teen}" for n, teen in enumerate(_TEENS)},
    },
    repeats={"double": 2, "deux fois": 2, "deux fois le": 2, "triple": 3, "trois fois": 3, "trois fois le": 3},
    before=(
        "[oui|ok|d'accord] [euh]",
        "[oui|ok|d'accord] [euh] (le|mon) (code|code pin|pin|numéro) (est|c'est)",
        "[oui|ok|d'accord] [euh] (c'est|code|pin|le code|mon code)",
    ),
    after=("s'il (te|vous) plaît|merci",),
    large=("cent", "cents", "mille"),
    weak=("un|une",),
    idioms=("cent pour cent|merci mille fois|mille (fois|mercis|merci|excuses)|mille fois merci",),
)
