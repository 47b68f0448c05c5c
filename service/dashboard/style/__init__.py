"""The page that shows every part of the pages' visual language."""
