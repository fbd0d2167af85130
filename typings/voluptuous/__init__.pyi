"""What `import voluptuous as vol` gives inside Home Assistant 2026.10 and later: its own engine, under the old name."""

from probatio import *
