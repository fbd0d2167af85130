"""Spanish."""

from typing import Final

from .grammar import GAP, YEAR, Grammar, words

_DONE: Final = words("""
    encendido apagado prendido cerrado abierto bloqueado desbloqueado puesto ajustado configurado establecido programado
    añadido agregado eliminado quitado borrado cancelado pausado detenido parado iniciado reanudado reproducido
    silenciado subido bajado aumentado reducido disminuido atenuado activado desactivado armado desarmado conectado
    desconectado enviado mandado guardado cambiado modificado movido marcado saltado ejecutado regulado fijado
    devuelto
""")
_STATE: Final = words("""
    encendid apagad prendid cerrad abiert bloquead desbloquead ajustad configurad añadid agregad eliminad cancelad
    pausad detenid iniciad reanudad silenciad subid bajad atenuad activad desactivad conectad desconectad programad
    regulad
""")
_PAST: Final = words("""
    encendí apagué prendí cerré abrí bloqueé desbloqueé puse ajusté configuré establecí programé añadí agregué eliminé
    quité borré cancelé pausé detuve paré inicié reanudé reproduje silencié subí bajé aumenté reduje atenué activé
    desactivé conecté desconecté envié mandé guardé cambié marqué
""")
_BECAME: Final = words("""
    encendió apagó prendió cerró abrió bloqueó desbloqueó ajustó configuró añadió agregó eliminó canceló pausó detuvo
    inició reanudó silenció subió bajó activó desactivó encendieron apagaron prendieron cerraron abrieron bloquearon
    añadieron agregaron activaron desactivaron
""")
_TO_DO: Final = words("""
    encender apagar prender cerrar abrir bloquear desbloquear poner ajustar configurar programar añadir agregar eliminar
    quitar cancelar pausar detener iniciar reanudar silenciar subir bajar atenuar activar desactivar enviar
""")
_DOING: Final = words("""
    encendiendo apagando prendiendo cerrando abriendo bloqueando desbloqueando ajustando configurando añadiendo
    agregando pausando iniciando subiendo bajando activando desactivando
""")
_THING_MADE: Final = words("recordatorio temporizador alarma evento tarea automatización escena nota")
_ADVERB: Final = words("ya también ahora correctamente acabo")
_OUTSIDE: Final = words("tiendas? museo restaurante supermercado farmacia panadería carretera")
_NO_CLAUSE: Final = (
    r"(?!(?:está|están|es|son|ha|han|he|fue|fueron|que|se|el|la|los|las|un|una|mi|tu|su|hay|todo|toda|todos|todas|lo"
    r"|esta|este|ninguna|cuando)\b)"
)

GRAMMAR: Final = Grammar(
    claims=(
        rf"\b(?:he|hemos)(?: {_ADVERB})* {_DONE}\b",
        rf"\b(?:he creado|creé|se ha creado){GAP}{{0,3}} {_THING_MADE}\b",
        rf"\b{_THING_MADE}{GAP}{{0,6}} (?:se ha creado|ha sido cread[oa])\b",
        rf"(?:^|[\s,])(?:ya |también )?(?:(?:te|la|lo|las|los) )?{_PAST}(?=\s|,|$)",
        rf"\bacabo de {_TO_DO}\b",
        rf"\bse (?:ha|han)(?: {_ADVERB})* {_DONE}\b",
        rf"^(?:ya )?se {_BECAME}(?=\s|$)",
        rf"\b(?:ha|han) sido(?: {_ADVERB})* {_STATE}[oa]s?\b",
        rf"\b(?:fue|fueron) {_STATE}[oa]s?{GAP}{{0,3}} (?:correctamente|con éxito)\b",
        rf"\b(?:está|están) ahora {_STATE}[oa]s?\b",
        rf"\bahora{GAP}{{0,5}}? (?:está|están) {_STATE}[oa]s?\b",
        rf"\b(?:está|están) {_STATE}[oa]s?{GAP}{{0,3}}? ahora$",
        (
            r"\b(?:está|están) (?:ahora )?(?:sonando|funcionando|reproduciéndose) ahora\b"
            r"|\bahora (?:está|están) (?:sonando|funcionando|reproduciéndose)\b"
        ),
        r"\b(?:calefacción|termostato|volumen) está ahora (?:a|al|en)\b",
        rf"\bestoy {_DOING}\b|^{_DOING} (?:el|la|los|las|todas|todos|tus?|x)\b",
        r"^(?:ya )?(?:está )?(?:todo )?(?:listo|hecho)(?:$|,)",
        (
            rf"^{_NO_CLAUSE}[^\s,]+ (?:(?!(?:está|están|es|son|ha|han|que|se|hay)\b)[^\s,]+ ){{0,5}}{_STATE}[oa]s?"
            r"(?: (?:a|al|en|para) [^,]{1,40})?$"
        ),
    ),
    vetoes=(
        r"\b(?:no|nunca|jamás|ningun[oa]?|ningún|nada|nadie|sin|imposible|todavía|aún)\b",
        r"\b(?:intentado|intenté|fallado|falló|errores|error|pudo|pude|podido|puedo|puede[ns]?|podría\w*|debe[ns]?|debo)\b",
        r"\b(?:si|cuando|una vez|en cuanto|después|mientras|hasta que|antes de|para que|apenas)\b",
        r"\b(?:hace|ayer|anoche|hoy|esta mañana|antes|última vez|veces|anteriormente)\b",
        YEAR,
        rf"\b{_OUTSIDE}\b",
        r"\b(?:por (?!ti\b|usted\b|favor\b)|según|parece|al parecer|había|habían|hubiera)",
        r"\b(?:comprueba|verifica|asegúrate|confirma|di|dime|pediste|pidió|dijiste|quieres|quiere|has|va|van|voy)\b",
        r"\bse \w+ó\b.{0,80} a las? \d",
        r"^(?:sí|no)\b(?!,? (?:he|ya he|hemos)\b)",
    ),
    openings=words("""
        vale okay ok de_acuerdo claro claro_que_sí perfecto por_supuesto muy_bien sin_problema ningún_problema entendido
        bien bueno genial
    """),
    breaks=r",? \b(?:pero|así que|por eso|por lo que|sin embargo)\b",
    closings=words("""
        algo necesitas? desea[sn]? quiere[sn]? puedo hay_algo qué en_qué te_puedo le_puedo te_gustaría le_gustaría
        alguna_otra
    """)
    + r"\b",
)
