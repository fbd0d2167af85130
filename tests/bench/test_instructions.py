"""Sentences and instructions of a page are told apart as a reader would."""

import pytest

from bench.instructions import count, is_instruction, sentences_of, user_pages

PAGE = """# Open it

Open the page. It shows **Now**. To close it, choose **Close**.

| say | hear |
| --- | --- |
| Say it. | You hear it. |

To change it:

1. Choose *Ask me?* and save. It holds
   at once.
- **It fails**: Restart it.
- another device

> **You:** stop it.

```yaml
open: it.
```
"""


def test_whole_sentences_of_paragraphs_and_lists_are_read() -> None:
    assert [*sentences_of(PAGE)] == [
        *("Open the page.", "It shows Now.", "To close it, choose Close."),
        *("Choose *Ask me?* and save.", "It holds at once.", "Restart it."),
    ]


def test_sentences_words_and_instructions_are_counted() -> None:
    counts = count(sentences_of(PAGE))

    assert (counts.sentences, counts.instructions) == (6, 4)
    assert counts.words_each == pytest.approx(22 / 6)


@pytest.mark.parametrize(
    ("sentence", "instructs"),
    [
        ("Don't open it.", True),
        ("If it fails: Restart it.", True),
        ("Or choose another one.", True),
        ("Answers come at once.", False),
        ("You can open it.", False),
    ],
)
def test_an_instruction_begins_with_what_to_do(
    sentence: str, *, instructs: bool
) -> None:
    assert is_instruction(sentence) is instructs


def test_pages_of_users_are_no_pages_of_developers() -> None:
    pages = user_pages()

    assert {"start.md", "talking.md", "recipes.md"} < {*pages}
    assert not {"index.md", "events.md", "library.md", "glossary.md"} & {*pages}
