"""The speaker of a sentence, and the automation or script behind it."""
