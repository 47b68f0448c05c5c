"""Interpreter of machine code in numpy."""
