"""Toolchain of a machine: installed components, Intel's offline compiler, and its installation."""
