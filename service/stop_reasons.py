"""Stop reasons of a search in words, for pages and the terminal."""

_WORDS = {
    "trials": "all trials of its budget were made",
    "seconds": "the seconds of its budget were spent",
    "exhausted": "every configuration was tried",
    "no_gain": "the last trials gained nothing",
    "roofline": "the asked part of the roofline is reached",
    "cancelled": "someone stopped it",
}


def stop_words(reason: str) -> str:
    """Describe the stop reason of a search."""
    return _WORDS.get(reason, reason)
