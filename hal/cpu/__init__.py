"""The CPU of this machine as a device: its parts are imported late, for they load LLVM."""
