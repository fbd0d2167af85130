"""French."""

from typing import Final

from .grammar import GAP, YEAR, Grammar, words

_STEM: Final = words("""
    allumé éteint rallumé verrouillé déverrouillé fermé refermé ouvert réglé baissé rebaissé monté remonté descendu
    augmenté diminué réduit tamisé lancé démarré arrêté stoppé activé désactivé ajouté supprimé retiré enlevé effacé
    annulé programmé coupé rétabli repris sauté envoyé renvoyé changé modifié ajusté défini configuré
    enregistré déplacé coché armé désarmé abaissé remis exécuté enclenché interrompu relancé
""")
_DONE: Final = rf"(?:{_STEM}(?:e|s|es)?|mise?s?(?! à jour\b)|passée?s? (?:à|au|en)|demandé (?:à|au))"
_MADE: Final = r"créée?s?"
_THING_MADE: Final = words("rappel minuteur alarme réveil événement tâche automatisation scène note")
_TO_DO: Final = words("""
    allumer éteindre verrouiller déverrouiller fermer ouvrir régler mettre baisser monter augmenter diminuer réduire
    lancer démarrer arrêter activer désactiver ajouter supprimer retirer programmer couper envoyer
""")
_STATE: Final = rf"(?:{_STEM}(?:e|s|es)?|en pause|en marche|en route|muets?|en sourdine)"
_NOW: Final = r"(?:maintenant|désormais|à présent)"
_ADVERB: Final = words("bien aussi donc également tout tous toutes maintenant immédiatement juste")
_OUTSIDE: Final = words("magasins? boutique musée restaurant supermarché pharmacie boulangerie route")
_NO_CLAUSE: Final = (
    r"(?!(?:est|sont|a|ont|ai|as|été|qui|que|il|elle|ils|je|j'\S+|vous|tu|on|ne|n'\S+|le|la|les|l'\S+|une?|des|ce"
    r"|cette|votre|vos|quand|pour|c'est|toutes?|tous)\b)"
)

GRAMMAR: Final = Grammar(
    claims=(
        rf"\b(?:j'ai|je l'ai|je les ai|je vous l'ai|je t'ai|je vous ai|nous avons|on a)(?: {_ADVERB})* {_DONE}\b",
        rf"\bj'ai(?: {_ADVERB})* {_MADE}{GAP}{{0,4}} {_THING_MADE}\b",
        rf"\bje viens (?:de |d'){_TO_DO}\b",
        rf"\bvien(?:t|nent) d'être {_DONE}\b",
        rf"\b(?:a|ont)(?: {_ADVERB})* été(?: {_ADVERB})* {_DONE}(?=\s|,|$)",
        rf"\b{_THING_MADE}\b{GAP}{{0,6}} a(?: {_ADVERB})* été(?: {_ADVERB})* {_MADE}(?=\s|,|$)",
        rf"\b(?:est|sont) {_NOW} {_STATE}(?=\s|,|$)",
        rf"\b(?:est|sont) {_STATE} {_NOW}",
        rf"\b(?:tourne|joue|fonctionne)(?:nt)? {_NOW}",
        rf"^voilà,?{GAP}{{0,6}} (?:est|sont) {_STATE}(?=\s|,|$)",
        rf"\bje suis en train (?:de |d'){_TO_DO}\b",
        rf"\ben train de s'?e? ?(?:ouvrir|fermer) {_NOW}",
        r"^(?:voilà,? |c'est bon,? )?(?:c'est |tout est )?(?:chose )?faite?(?:$|,)",
        (
            rf"^(?:{_NO_CLAUSE}[^\s,]+ )(?:(?!(?:est|sont|a|ont|été|qui|que)\b)[^\s,]+ ){{0,5}}"
            rf"(?<!\bde )(?<!\bla )(?<!\bà )(?<!\bnon )(?<!\btoujours ){_STEM}(?:e|s|es)?"
            r"(?: (?:à|au|aux|sur|pour) [^,]{1,40})?$"
        ),
    ),
    vetoes=(
        r"\b(?:ne|pas|aucune?|rien|jamais|personne|sans|impossible|désolée?)\b|\bn'",
        r"\b(?:essayé|tenté|échoué|échec|erreurs?|pu|réussi)\b",
        r"\b(?:si|quand|lorsque?|une fois|dès|après|avant|jusqu'à|tant que|pour que|afin|pendant)\b|\b(?:s'il|lorsqu')",
        (
            r"\b(?:il y a|depuis|hier|aujourd'hui|ce matin|cette nuit|tout à l'heure|déjà|fois|précédemment|plus tôt"
            r"|auparavant)\b|\bà \d+ ?h\b"
        ),
        YEAR,
        rf"\b{_OUTSIDE}\b",
        r"\bpar\b|\bd'après\b|\bselon\b|\b(?:semble|paraît|apparemment)\b",
        r"\b(?:serai\w*|seront|sera|serez|pourr\w+|peu[xt]|peuvent|pouvez|doi[st]|doivent|dois-je|devrai\w*|va|vont|vais)\b",
        r"\b(?:vérifiez|vérifie|assurez|dites|dis|confirmez|veuillez|vous (?:avez|aviez|m'avez)|avai(?:s|t|ent))\b",
        r"^(?:oui|non)\b(?!,? (?:j'ai|je)\b)",
    ),
    openings=words("""
        d'accord ok okay bien_sûr très_bien entendu parfait pas_de_problème pas_de_souci aucun_problème bien
        certainement avec_plaisir c'est_noté c'est_bon volontiers
    """),
    breaks=r",? \b(?:mais|cependant|toutefois)\b|, (?:donc|alors)\b",
    closings=words("""
        puis-je est-ce_que y_a-t-il avez-vous as-tu voulez-vous veux-tu souhaitez-vous souhaites-tu besoin
        autre_chose quoi_d'autre que_puis-je vous_faut-il désirez-vous dois-je
    """)
    + r"\b",
)
