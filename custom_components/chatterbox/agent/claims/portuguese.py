"""Portuguese, of Portugal and of Brazil."""

from typing import Final

from .grammar import GAP, YEAR, Grammar, words

_PAST: Final = words("""
    liguei apaguei desliguei acendi tranquei destranquei fechei abri ajustei defini configurei adicionei acrescentei
    coloquei pus removi eliminei excluí pausei parei iniciei retomei reproduzi ativei desativei aumentei diminuí
    reduzi baixei subi abaixei levantei enviei mandei mudei alterei cancelei silenciei marquei salvei guardei programei
    regulei pulei avancei executei bloqueei desbloqueei interrompi reiniciei
""")
_DONE: Final = words("""
    ligad desligad apagad aces trancad destrancad fechad abert ajustad definid configurad adicionad acrescentad colocad
    removid eliminad excluíd pausad parad iniciad retomad ativad desativad aumentad diminuíd reduzid baixad abaixad
    levantad enviad mandad mudad alterad cancelad silenciad marcad salv guardad programad regulad executad bloquead
    desbloquead interrompid reiniciad
""")
_TO_DO: Final = words("""
    ligar desligar apagar acender trancar destrancar fechar abrir ajustar definir configurar adicionar colocar remover
    pausar parar iniciar ativar desativar aumentar diminuir reduzir baixar enviar
""")
_DOING: Final = words("""
    ligando desligando apagando acendendo trancando destrancando fechando abrindo ajustando definindo configurando
    adicionando iniciando ativando desativando aumentando diminuindo
""")
_STATE: Final = rf"(?:{_DONE}[oa]s?|sem som|em pausa|a tocar|tocando|a funcionar|funcionando|mudos?)"
_THING_MADE: Final = words("lembrete temporizador alarme evento tarefa automação cena nota")
_OUTSIDE: Final = words("loja museu restaurante supermercado farmácia padaria estrada")
_NO_CLAUSE: Final = (
    r"(?!(?:está|estão|é|são|foi|foram|que|se|o|a|os|as|um|uma|seu|sua|há|tudo|todas?|todos?|este|esta|nenhuma|quando"
    r"|eu|você)\b)"
)

GRAMMAR: Final = Grammar(
    claims=(
        rf"(?:^|[\s,])(?:eu )?(?:já )?{_PAST}(?=\s|,|$)",
        rf"\bcriei{GAP}{{0,3}} {_THING_MADE}\b",
        rf"\bacabei de {_TO_DO}\b",
        rf"\b(?:foi|foram)(?: agora| todas| todos| corretamente| também)? {_DONE}[oa]s?\b",
        rf"\b{_THING_MADE}\b{GAP}{{0,6}} foi criad[oa]\b",
        rf"\b(?:está|estão) agora {_STATE}(?=\s|,|$)",
        rf"\bagora{GAP}{{0,5}}? (?:está|estão) {_STATE}(?=\s|,|$)",
        rf"\b(?:está|estão) {_STATE}{GAP}{{0,3}}? agora$",
        rf"\bestou (?:{_DOING}|a {_TO_DO})\b|^{_DOING} (?:o|a|os|as|todas|todos|x|seu|sua)\b",
        r"^(?:já )?(?:está )?(?:pronto|prontinho|feito|tudo feito|tudo pronto)(?:$|,)",
        (
            rf"^{_NO_CLAUSE}[^\s,]+ (?:(?!(?:está|estão|é|são|foi|foram|que|se|há)\b)[^\s,]+ ){{0,5}}{_DONE}[oa]s?"
            r"(?: (?:a|ao|à|às|em|para) [^,]{1,40})?$"
        ),
    ),
    vetoes=(
        r"\b(?:não|nunca|jamais|nenhuma?|nenhum|nada|ninguém|sem (?!som\b)|impossível|ainda)",
        r"\b(?:tentei|tentado|falhou|falha|erros?|consegui\w*|pude|posso|pode|podem|poder\w*|dev\w+)\b",
        r"\b(?:se|quando|assim que|depois|enquanto|até que|antes|caso|para que|logo que)\b",
        r"\b(?:há|atrás|ontem|hoje|esta manhã|última vez|vezes|anteriormente|mais cedo)\b|\bàs \d",
        YEAR,
        rf"\b{_OUTSIDE}\b",
        r"\b(?:por (?!você\b|favor\b|isso\b)|pel[oa]s?|segundo|parece|aparentemente|tinham?|havia)\b",
        r"\b(?:verifique|verifica|confirme|certifique|diga|avise|será|serão|seria\w*)\b",
        r"\bvocê (?:me )?(?!está)\w+(?:ou|iu|eu)\b",
        r"\b(?:vou|vai|vão|quer|queres)\b",
        r"^(?:sim|não)\b(?!,? (?:já|eu|liguei|apaguei|desliguei|tranquei|fechei)\b)",
    ),
    openings=words("""
        certo ok okay claro perfeito com_certeza sem_problemas? sem_problema entendido bem muito_bem está_bem tudo_bem
        combinado ótimo
    """),
    breaks=r",? \b(?:mas|porém|por isso|então|no entanto)\b",
    closings=words("""
        posso mais_alguma algo mais_algo há_mais precisa[sm]? deseja[sm]? quer(?:es|em)? o_que em_que gostaria[sm]?
        alguma_outra
    """)
    + r"\b",
)
