"""`script/unverified-actions`: measures the recognition of reported actions and writes the table of its page."""

from tests.support.page_tables import write_table

from .measurement import PAGE, measure, measured_table

if __name__ == "__main__":
    write_table("script/unverified-actions", PAGE, lambda: measured_table(measure()))
