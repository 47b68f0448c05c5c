"""What compiling and running needs on a machine: what is installed, Intel's offline compiler, and how it gets here."""
