"""What a real recogniser hears of what a real voice says."""
