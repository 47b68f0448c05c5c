"""What ended a job's search, in words: for its page and the terminal."""

_WORDS = {
    "trials": "all trials of its budget were made",
    "seconds": "the seconds of its budget were spent",
    "exhausted": "every configuration was tried",
    "no_gain": "the last trials gained nothing",
    "roofline": "the asked part of the roofline is reached",
    "cancelled": "someone stopped it",
}


def stop_words(reason: str) -> str:
    """What ended a search, from the reason that its job keeps."""
    return _WORDS.get(reason, reason)
