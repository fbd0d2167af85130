"""English."""

from typing import Final

from .grammar import GAP, YEAR, Grammar, words

_DONE: Final = words("""
    turned switched opened closed shut locked unlocked dimmed brightened started stopped paused unpaused resumed
    muted unmuted played skipped added removed deleted cleared cancelled canceled completed marked checked_off
    crossed_off activated deactivated enabled disabled armed disarmed increased decreased raised lowered reduced
    adjusted changed updated moved sent returned run executed reset restarted saved booked ordered announced
    docked told instructed commanded targeted initiated pressed toggled selected renamed launched set put begun
    scheduled snoozed
""")
_PAST: Final = words("""
    turned switched opened closed shut locked unlocked dimmed brightened started stopped paused unpaused resumed
    muted unmuted skipped added removed deleted cleared cancelled canceled activated deactivated enabled disabled
    armed disarmed increased decreased raised lowered reduced adjusted changed set
""")
_MADE: Final = words("created made written scheduled")
_THING_MADE: Final = words("reminder timer alarm event automation task scene entry appointment note")
_ANSWERED_IN_WORDS: Final = words("""
    set_out put_together put_aside added_up added_them added_these run_through run_out moved_on changed_my
    updated_my told_you sent_you_the_answer
""")
_STATE: Final = words("""
    on off open opened closed shut locked unlocked muted unmuted paused playing running set dimmed opening closing
    locking unlocking activated deactivated armed disarmed enabled disabled returning cleaning turned switched
    lowered raised resumed stopped
""")
_DOING: Final = words("""
    turning switching opening closing locking unlocking starting stopping setting dimming brightening pausing
    resuming activating deactivating adding removing lowering raising muting unmuting increasing decreasing
    adjusting skipping sending
""")
_ADVISING: Final = words("""
    is are isn't takes? requires? needs? means saves? helps? keeps? lowers raises reduces makes? causes? lets gives uses
""")
_ADVERB: Final = words("now just also successfully all both then gone_ahead_and went_ahead_and")
_THE: Final = words("the your all both it them x my this that every a an back next up down on off")
_OUTSIDE: Final = words("stores? shops? museum restaurant supermarket pharmacy bakery road")
_NO_CLAUSE: Final = r"(?!(?:is|are|was|were|be|been|has|have|had|that|which|who|if|to|i|you|it|they|gets?|the|a|an)\b)"

GRAMMAR: Final = Grammar(
    claims=(
        rf"\b(?:i|we)(?:'ve| have)(?: {_ADVERB})* (?!{_ANSWERED_IN_WORDS}\b){_DONE}\b",
        rf"\b(?:i|we)(?:'ve| have)(?: {_ADVERB})* {_MADE}{GAP}{{0,5}} {_THING_MADE}\b",
        rf"\b(?:i|we)(?: {_ADVERB})* (?!{_ANSWERED_IN_WORDS}\b){_PAST}\b",
        rf"\b(?:has|have)(?: {_ADVERB})* been(?: {_ADVERB})* {_DONE}\b",
        rf"\b{_THING_MADE}s?\b{GAP}{{0,6}} (?:has|have)(?: {_ADVERB})* been(?: {_ADVERB})* {_MADE}\b",
        rf"\b(?:was|were) (?:successfully {_DONE}|{_DONE}{GAP}{{0,2}} successfully|added to)\b",
        (
            rf"\b(?:timer|vacuum|robot|cleaner|mower|music|playback|speakers?|countdown|playlist)\b{GAP}{{0,6}}"
            rf" (?:has|have)(?: {_ADVERB})* (?:started|resumed|begun|stopped)\b"
        ),
        rf"\b(?:is|are)(?: all| both)? now {_STATE}\b",
        rf"\b(?:is|are)(?: all| both)? {_STATE}{GAP}{{0,3}} now$",
        rf"\bi'm(?: now| just)? {_DOING}\b",
        rf"^(?:now )?{_DOING}{GAP}{{0,2}}? {_THE}\b(?!.*\b{_ADVISING}\b)",
        r"^(?:that's |it's |that is |it is )?(?:all )?(?:done|taken care of)(?:$|,)",
        r"^all set(?:$|,)",
        rf"^(?!set\b){_PAST}(?: {_THE}\b| to (?:the|your|x)\b| \d|$)",
        rf"^(?:{_NO_CLAUSE}[^\s,]+ ){{1,5}}{_PAST}(?: (?:on|off|up|down))?(?: (?:to|for|at) [^,]{{1,40}})?$",
    ),
    vetoes=(
        r"n't\b|\b(?:not|no|never|none|nothing|nobody|neither|nor|cannot|unable|without|unsuccessful\w*)\b",
        r"\b(?:fail(?:ed|s|ing|ure)?|errors?|tr(?:y|ied|ying)|attempt(?:ed|ing)?)\b",
        r"\b(?:can|could|may|might|should|would|will|shall|must|going to|about to|(?:need|have|has) to)\b|'ll\b|'d\b",
        r"\b(?:please|make sure|ensure|check (?:that|if|whether)|verify|confirm that|let me|let's|say|press|tap)\b",
        r"\b(?:if|once|when|whenever|until|unless|as soon as|after|before|in case|whether|while)\b",
        r"\b(?:ago|yesterday|earlier|previously|already|last|this morning|today|twice|times|since|so far)\b",
        r"\b(?:seems?|appears?|looks like|apparently|according|you (?:said|told|asked|mentioned|wanted))\b",
        r"\b(?:that|which|who) (?:has|have|is|are|was|were)\b",
        YEAR,
        rf"\b{_OUTSIDE}\b",
        r"\bby (?!\d|one\b|two\b|three\b|five\b|ten\b|half\b)",
        r"^(?:yes|yeah|yep|no)\b(?!,? (?:i|we)\b)",
    ),
    openings=words("""
        okay ok sure alright all_right great perfect certainly absolutely got_it no_problem of_course right very_well
        sure_thing there_you_go well good
    """),
    breaks=r",? \b(?:but|however|so(?! far)|and (?=i'll|i will|it will|i can|you can))\b",
    closings=words("""
        is_there are_there anything what would_you do_you can_i could_i may_i shall_i should_i need how_else how_about
        can_you could_you
    """)
    + r"\b",
)
