"""Portuguese, of both sides of the ocean."""

from typing import Final

from .wording import Action, NumberWords, Wording

_YES: Final = (
    "sim|sim senhor|sim senhora|claro|claro que sim|com certeza|certamente|certo|lógico|óbvio|evidentemente|perfeito",
    "ok|okay|tá|tá bom|tá bem|tá certo|está bem|está bom|(está|tá) (certo|ok)|beleza|combinado|de acordo|concordo",
    "exato|exatamente",
    "pode|pode sim|pode fazer|podes|podes fazer|faz isso|faça isso|faz|faça|avança|vai em frente|vá em frente",
    "manda ver",
    "isso|isso mesmo|é isso|correto|afirmativo|[eu] confirmo|confirmado|positivo|quero|quero sim|absolutamente",
    "(sem dúvida|sem dúvidas)|estou de acordo|tudo certo|obviamente|[pode] prosseguir|prossiga|tenho certeza",
    "sim (obrigado|obrigada|muito obrigado|muito obrigada|mil obrigado|mil obrigada)",
)

WORDING: Final = Wording(
    yes=_YES,
    behind_yes=(*_YES, "agora|agora mesmo|já|por gentileza|cem por cento", "(pode|podes|quero) {action}"),
    no=(
        "não|não [muito|mil] (obrigado|obrigada)|não (senhor|senhora)|nunca|jamais|negativo|de jeito nenhum",
        "de modo nenhum",
        "nem pensar",
        "claro que não|com certeza não|melhor não|é melhor não|ainda não|agora não|hoje não|de forma alguma",
        "nada disso|acho que não|recuso|não concordo",
        "depois|mais tarde|outra hora|deixa|deixe|deixa (pra lá|para lá|estar|assim|quieto)|deixe (estar|assim)",
        "esquece|esqueça|cancela|cancele|cancelar|para|pare|espera|espere|não quero|não precisa|não é preciso",
        "não faz falta",
        "não (faça|faz|faças) [isso]|não (abra|abre|abras|destranque|destranca|ligue|liga|desligue|desliga)",
        "não {action}|não {it}",
    ),
    courtesies=("por favor|se faz favor|ah|oh|é|hum|eh",),
    actions={
        Action.UNLOCK: (
            "(abre|abra|abrir|destranca|destranque|destrancar|desbloqueia|desbloqueie|desbloquear) [{it}]",
            "abri-la|abri-lo|destrancá-la|destrancá-lo",
        ),
        Action.LOCK: ("(tranca|tranque|trancar|bloqueia|bloqueie|bloquear) [{it}]",),
        Action.OPEN: ("(abre|abra|abrir) [{it}]|abri-la|abri-lo",),
        Action.CLOSE: ("(fecha|feche|fechar) [{it}]|fechá-la|fechá-lo",),
        Action.DISARM: ("(desarma|desarme|desarmar|desativa|desative|desativar|desliga|desligue|desligar) [{it}]",),
        Action.ARM: ("(arma|arme|armar|ativa|ative|ativar) [{it}]",),
        Action.TURN_ON: ("(liga|ligue|ligar|acende|acenda|acender) [{it}]",),
        Action.TURN_OFF: ("(desliga|desligue|desligar|apaga|apague|apagar) [{it}]",),
        Action.RUN: ("(executa|execute|executar|inicia|inicie|ativa|ative|roda|rode) [{it}]",),
    },
    it=("ela|ele|essa|esse|esta|este",),
    accents_matter=("é",),
    them=("as duas|os dois|ambas|ambos|todas|todos|tudo",),
    named=("[a|o|minha|meu|nossa|nosso] {name}",),
    placed=("(em|de|na|no|da|do) [minha|meu|nossa|nosso] {place}",),
)

NUMBERS: Final = NumberWords(
    digits=("zero", "um|uma", "dois|duas", "três", "quatro", "cinco", "seis|meia", "sete", "oito", "nove"),
    teens=(
        *("dez", "onze", "doze", "treze", "catorze|quatorze", "quinze"),
        *("dezesseis|dezasseis", "dezessete|dezassete", "dezoito", "dezenove|dezanove"),
    ),
    tens=("vinte", "trinta", "quarenta", "cinquenta", "sessenta", "setenta", "oitenta", "noventa"),
    compounds=("{ten} e {unit}",),
    irregular={},
    repeats={"duplo": 2, "duas vezes": 2, "duas vezes o": 2, "triplo": 3, "três vezes": 3, "três vezes o": 3},
    before=(
        "[sim|ok|claro] [ah]",
        "[sim|ok|claro] [ah] (o|meu|o meu) (código|pin|número) é",
        "[sim|ok|claro] [ah] (a|minha|a minha) senha é",
        "[sim|ok|claro] [ah] (é|é o|pin|código|o código|senha)",
    ),
    after=("por favor|obrigado|obrigada",),
    units=("um|uma", "dois|duas", "três", "quatro", "cinco", "seis", "sete", "oito", "nove"),
    large=("cem", "*cent[oa]*", "duzent*", "trezent*", "quinhent*", "mil"),
    weak=("um|uma",),
    idioms=("mil (obrigado|obrigada|vezes|desculpas)|cem por cento|cento por cento",),
)
