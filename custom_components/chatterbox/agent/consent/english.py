"""English."""

from typing import Final

from .wording import Action, NumberWords, Wording

_YES: Final = (
    "yes|yeah|yep|yup|yes (sir|ma'am)|affirmative|ok|okay|alright|all right",
    "sure [thing]|for sure|definitely|absolutely|certainly|of course|by all means|you bet|exactly|indeed",
    "correct|perfect|precisely|(that's|that is) (right|correct)|accept|accepted|agreed|confirm|confirmed|approved",
    "I (agree|confirm|approve)|I'm sure|I am sure",
    "[that] sounds good|let's do (it|that)|I'd like that|please do|please proceed|proceed",
    "(go ahead|go for it|do it|do that) [now]",
    "(yes|yeah|yep|sure) [please] (thanks|thank you) [very much|so much]|(yes|yeah) I do|okay then|ok then",
    "alright then",
)

WORDING: Final = Wording(
    yes=(*_YES, "go ahead and {action}"),
    behind_yes=(
        *(*_YES, "go ahead and {action}", "right now|right away", "{action} now"),
        *("you (can|may)|you (can|may) {action}", "[(that's|that is|it's)] (fine|okay|ok)|[a|one] hundred percent"),
    ),
    no=(
        "no|nope|nah|negative|decline|deny|no sorry|I'm afraid not|I think not|no way|never|never mind|nevermind",
        "no (thanks|thank you) [very much|so much]|hell no|no need|there's no need|I said no|no I don't",
        "no (that's|that is|it's) (okay|ok|fine|alright|all right)|keep {it} (locked|closed|shut|off|as it is)",
        "(absolutely|definitely|certainly|of course|probably|better|rather|please) not",
        "not (yet|now|really|today|at all|right now|this time)|later|maybe later|another time",
        "leave it [alone|be|locked|closed|shut|off|as it is]|forget (it|that|about it)|skip it",
        "cancel [it|that]|stop [it|that]|abort [it|that]|wait|hold on|I don't want (it|that|to)|I don't think so",
        "(don't|dont|do not) do (it|that)",
        "(don't|dont|do not) {action}",
        "not {it}",
    ),
    no_alone=("[no] [please] (don't|dont|do not)|[no] not|[no] I'd rather not",),
    courtesies=("please|oh|uh|um|erm|hm",),
    actions={
        Action.UNLOCK: ("(unlock|open) [{it}]", "open {it} up", "let (me|us|him|her|them) in"),
        Action.LOCK: ("lock [{it}]", "lock {it} up"),
        Action.OPEN: ("open [{it}]", "open {it} up"),
        Action.CLOSE: ("(close|shut) [{it}]",),
        Action.DISARM: ("(disarm|deactivate|disable) [{it}]", "(turn|switch) {it} off", "(turn|switch) off {it}"),
        Action.ARM: ("(arm|activate|enable) [{it}]", "(turn|switch) {it} on", "(turn|switch) on {it}"),
        Action.TURN_ON: ("(turn|switch) {it} on", "(turn|switch) on [{it}]"),
        Action.TURN_OFF: ("(turn|switch) {it} off", "(turn|switch) off [{it}]"),
        Action.RUN: ("(run|start|activate|trigger) [{it}]",),
    },
    it=("it|that|that one|this one",),
    them=("them|both|both of them|all of (it|them)|them (all|both)|everything|all",),
    named=("[the|that|my|our] {name}",),
    placed=("(in|at|from|of) [the|my|our] {place}",),
)

NUMBERS: Final = NumberWords(
    digits=("zero|oh|o|nought|naught", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"),
    teens=(
        *("ten", "eleven", "twelve", "thirteen", "fourteen"),
        *("fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
    ),
    tens=("twenty", "thirty", "forty|fourty", "fifty", "sixty", "seventy", "eighty", "ninety"),
    compounds=("{ten} {unit}",),
    irregular={},
    repeats={"double": 2, "triple": 3, "treble": 3},
    before=(
        "[yes|okay|ok|please] [um|uh]",
        "[yes|okay|ok] [um|uh] (my|the) (pin|code|number|pin code|pin number|passcode) is",
        "[yes|okay|ok] [um|uh] (it's|it is|that's|pin|code|pin code)",
    ),
    after=("please|thanks|thank you",),
    large=("hundred", "hundreds", "thousand", "thousands"),
    weak=("one|oh|o",),
    idioms=("[a|one] hundred percent|a thousand (thanks|times)|thousand thanks",),
)
