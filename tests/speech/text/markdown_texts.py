"""Hypothesis strategies: answers as models write them, in Markdown and in every language, and worse ones."""

from hypothesis import strategies as st

_WORDS = st.sampled_from(
    [
        *(
            "The",
            "kitchen",
            "light",
            "is",
            "on",
            "Küche",
            "Étage",
            "niño",
            "don't",
            "well-known",
            "R&D",
            "Nº1",
            "#1",
            "~5",
        ),
        *(
            "21.5 °C",
            "50 %",
            "12 km/h",
            "€5",
            "7:30",
            "10:30\u201311:00",
            "2*3",
            "x²",
            "H₂O",
            "3 < 5",
            "5.",
            "—",
            "…",
        ),
        *(
            "snake_case",
            "light.kitchen",
            "灯已经打开了",
            "温度",
            "안녕",
            "مرحبا",
            "свет",
            "„Bad“",
            "«oui»",
            "(on)",
        ),
    ]
)
_ENDS = st.sampled_from(["", "", ".", "!", "?", ":", ",", "。", "…", ".)", '."'])
_SPOILED = st.sampled_from(
    [
        *(
            "**on**",
            "*on*",
            "_on_",
            "__on__",
            "***on***",
            "~~off~~",
            "`code`",
            "**two words**",
            "_two words_",
            "`two words`",
        ),
        *(
            "[text](https://x.org/a?b=c)",
            "[two words](http://x.org)",
            '[a](https://x "title")',
            "![alt](x.png)",
            "![](x.png)",
        ),
        *(
            "https://example.org/path?q=1",
            "www.example.org",
            "<https://example.org>",
            "[1]",
            "[^2]",
            "[ref][1]",
        ),
        *("😀", "👍🏽", "❤️", "👨‍👩‍👧", "1️⃣", "🇩🇪", "✅", "→", "•", ":-)", ";)"),
        *(
            "<b>bold</b>",
            "<br>",
            "<br/>",
            "<i>two words</i>",
            '<a href="https://x">link</a>',
            "<!-- hidden words -->",
        ),
        *(
            r"$21^\circ\text{C}$",
            "$x^2 + y$",
            r"\frac{1}{2}",
            "2026-11-22",
            "2026-11-22T08:30:00Z",
            "{x}",
            ":smile:",
        ),
        *(
            "==x==",
            "[^note]",
            "[1]:",
            "[^1]:",
            "❌",
            "✔️",
            "A: ✅",
            "Wi\u2011Fi",
            "\\n",
            "$5",
            "<summary>x</summary>",
        ),
        *(
            "&amp;",
            "&nbsp;",
            "&lt;",
            "&#39;",
            "&deg;",
            r"\*",
            r"snake\_case",
            "2 * 3",
            "```inline code```",
        ),
    ]
)
_SENTENCES = (
    st.lists(_WORDS | _SPOILED, min_size=1, max_size=8)
    .map(" ".join)
    .flatmap(lambda text: _ENDS.map(text.__add__))
)
_BLOCKS = st.one_of(
    _SENTENCES,
    st.tuples(
        st.sampled_from(
            ["# ", "## ", "- ", "* ", "1. ", "2) ", "> ", "- [x] ", "  - ", "• "]
        ),
        _SENTENCES,
    ).map("".join),
    st.lists(_SENTENCES, min_size=1, max_size=3).map(
        lambda cells: f"| {' | '.join(cells)} |"
    ),
    st.sampled_from(
        [
            "|---|:--:|",
            "---",
            "***",
            "===",
            "```python\nprint('x')\n```",
            "~~~\ncode\n~~~",
            "",
            "<!-- note -->",
            "$$",
        ]
    ),
)


def markdown() -> st.SearchStrategy[str]:
    """Return an answer in Markdown, blocks joined by one line break or two."""
    return st.lists(
        st.tuples(_BLOCKS, st.sampled_from(["\n", "\n\n"])), max_size=6
    ).map(lambda blocks: "".join(block + gap for block, gap in blocks))


def marks() -> st.SearchStrategy[str]:
    """Return a text that is mostly marks, as nobody would write it."""
    pieces = st.sampled_from(
        [
            *"*_`~#-+>|[]()!<&;\\:\"'\n\t .,?灯a5—",
            *(
                "](",
                "<a ",
                "href=",
                "</b>",
                "<!--",
                "-->",
                "&amp;",
                "http://",
                "www.",
                "```",
                "\u200d",
                "\ufe0f",
                "😀",
                "x" * 210,
            ),
        ]
    )
    return st.lists(pieces | _SPOILED | _WORDS, max_size=25).map("".join)


def cut(text: str) -> st.SearchStrategy[list[str]]:
    """Return the text in pieces, cut anywhere."""
    places = st.sets(st.integers(0, len(text)), max_size=12).map(sorted)
    return places.map(
        lambda cuts: [
            text[start:end]
            for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)
        ]
    )
