"""`script/confirmations`: measures how well a yes is understood, prints the table and writes it into its page."""

from tests.support.page_tables import write_table

from .measurement import PAGE, measure, measured_table

if __name__ == "__main__":
    write_table("script/confirmations", PAGE, lambda: measured_table(measure()))
