"""The CPU of this machine as a device. Its parts are imported late, because they load LLVM."""
