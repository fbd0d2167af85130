"""Spanish."""

from typing import Final

from .wording import Action, NumberWords, Wording

_YES: Final = (
    "sí|sip|ok|okay|okey|vale|dale|venga|claro|claro que sí|por supuesto [que sí]|desde luego|perfecto",
    "de acuerdo|hazlo|hágalo|procede|proceda|correcto|exacto|exactamente|así es|eso es|está bien|muy bien",
    "efectivamente|en efecto|suena bien|hagámoslo|continúa|confirmo|confirmado|afirmativo|acepto",
    "sí (señor|señora|puedes|puede)",
    "estoy (seguro|segura)|sin duda|con gusto|absolutamente|cierto",
    "sí [por favor] (gracias|muchas gracias|mil gracias)",
)

WORDING: Final = Wording(
    yes=_YES,
    yes_alone=(
        "si [si|claro|gracias|muchas gracias|por supuesto|confirmo|adelante|hazlo|vale|señor|señora]|claro que si",
        "si {order}",
        "por supuesto que si",
    ),
    behind_yes=(
        *(*_YES, "ahora|ahora mismo|adelante|seguro|cien por (cien|ciento)"),
        "(puedes|puede) {action}",
    ),
    no=(
        "no|nop|nada|no lo creo|no [muchas|muchísimas|mil] gracias|nunca|jamás|negativo|para nada|ni hablar",
        "de ninguna manera|en absoluto",
        "claro que no|por supuesto que no|desde luego que no|mejor no|que no|todavía no|aún no|ahora no|hoy no",
        "más tarde|luego|en otro momento|déjalo|déjala|déjalo (así|estar)|déjala (así|estar)|olvídalo|no importa",
        "cancela|cancelar|cancélalo|para|detente|alto|espera|no quiero|no lo quiero|no hace falta|no es necesario",
        "no (lo|la) (hagas|haga|abras|abra|cierres|desbloquees|enciendas|apagues|actives|desactives)",
        "no (hagas|abras) (eso|nada)|no {it}|no (abras|abra|desbloquees|desbloquee|cierres|enciendas|apagues) [{it}]",
        "(déjala|déjalo) (cerrada|cerrado|como está)",
    ),
    courtesies=("por favor|eh|ah|oh|mm",),
    actions={
        Action.UNLOCK: (
            "(ábrela|ábrelo|abrirla|abrirlo|desbloquéala|desbloquéalo|desbloquearla|desbloquearlo)",
            "(abre|abra|abrir|desbloquea|desbloquee|desbloquear) [{it}]",
        ),
        Action.LOCK: ("(bloquéala|bloquéalo)", "(bloquea|bloquee|bloquear) [{it}]|cierra [{it}] con llave"),
        Action.OPEN: ("(ábrela|ábrelo|abrirla|abrirlo)", "(abre|abra|abrir) [{it}]"),
        Action.CLOSE: ("(ciérrala|ciérralo|cerrarla|cerrarlo)", "(cierra|cierre|cerrar) [{it}]"),
        Action.DISARM: (
            "(desármala|desactívala|desactívalo|apágala|apágalo)",
            "(desarma|desarme|desactiva|desactive|desactivar|apaga|apague) [{it}]",
        ),
        Action.ARM: ("(ármala|actívala|actívalo)", "(arma|arme|activa|active|activar) [{it}]"),
        Action.TURN_ON: ("(enciéndela|enciéndelo|préndela|préndelo)", "(enciende|encienda|encender|prende) [{it}]"),
        Action.TURN_OFF: ("(apágala|apágalo)", "(apaga|apague|apagar) [{it}]"),
        Action.RUN: ("(ejecútalo|ejecútala|actívalo|actívala)", "(ejecuta|ejecute|inicia|activa|lanza) [{it}]"),
    },
    it=("la|lo|eso",),
    accents_matter=("sí",),
    them=("las dos|los dos|ambas|ambos|todas|todos|todo",),
    named=("[la|el|mi|nuestra|nuestro] {name}",),
    placed=("(en|de) [la|el|mi|nuestra|nuestro] {place}|del {place}",),
)

NUMBERS: Final = NumberWords(
    digits=("cero", "uno|un|una", "dos", "tres", "cuatro", "cinco", "seis", "siete", "ocho", "nueve"),
    teens=(
        *("diez", "once", "doce", "trece", "catorce", "quince"),
        *("dieciséis|diez y seis", "diecisiete|diez y siete", "dieciocho|diez y ocho", "diecinueve|diez y nueve"),
    ),
    tens=("veinte", "treinta", "cuarenta", "cincuenta", "sesenta", "setenta", "ochenta", "noventa"),
    compounds=("{ten} y {unit}",),
    irregular={
        **{20 + n: f"veinti{unit}" for n, unit in enumerate(("uno|veintiún", "dós", "trés", "cuatro", "cinco"), 1)},
        **{26 + n: f"veinti{unit}" for n, unit in enumerate(("séis", "siete", "ocho", "nueve"))},
    },
    repeats={"doble": 2, "triple": 3},
    before=(
        "[sí|vale|ok] [eh]",
        "[sí|vale|ok] [eh] (el|mi) (código|pin|número|clave) (es|es el)",
        "[sí|vale|ok] [eh] (la|mi) clave es",
        "[sí|vale|ok] [eh] (es|es el|pin|código|el código|mi código)",
    ),
    after=("por favor|gracias",),
    large=("cien", "*cient[oa]*", "quinient*", "mil"),
    weak=("un|una",),
    idioms=("mil gracias|cien por (cien|ciento)|mil veces|mil disculpas",),
)
