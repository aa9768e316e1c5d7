#!/usr/bin/env python3
"""Keeps the kernels of one GPU architecture in a CUDA library, for a bundle.

one_architecture.py LIBRARY CAPABILITY, such as libcusparse.so.12 90: overwrites the others' machine code and all PTX
with zeros, in place, and leaves holes there. Headers stay, so that the driver finds what is left. Code that the library
links when it runs stays, too.
"""

import struct
import subprocess
import sys
from pathlib import Path

MAGIC = b"\x50\xed\x55\xba"  # of a fat binary
FAT_HEADER = struct.Struct("<IHHQ")  # magic, version, bytes of the header, bytes behind it
ENTRY = struct.Struct("<HHIQ12xI")  # kind, version, bytes of the header, bytes behind it; architecture
PTX, MACHINE_CODE = 1, 2


def entries(library):
    """Yields kind, architecture, begin and end of each entry of the fat binaries in a library's bytes."""
    at = 0
    while (at := library.find(MAGIC, at)) >= 0:
        _, version, header, size = FAT_HEADER.unpack_from(library, at)
        begin = at + header
        at += len(MAGIC)
        if version != 1 or header < FAT_HEADER.size or begin + size > len(library):
            continue  # other bytes
        end = begin + size
        while begin < end:
            kind, _, header, size, architecture = ENTRY.unpack_from(library, begin)
            yield kind, architecture, begin + header, begin + header + size
            begin += header + size
        at = end


def main():
    path, capability = Path(sys.argv[1]), int(sys.argv[2])
    library = bytearray(path.read_bytes())
    code = [e for e in entries(library) if e[0] == MACHINE_CODE]
    if code and not any(architecture == capability for _, architecture, _, _ in code):
        sys.exit(f"{path.name} has no kernels of compute capability {capability}")
    for kind, architecture, begin, end in list(entries(library)):
        if kind == PTX or (kind == MACHINE_CODE and architecture != capability):
            library[begin:end] = bytes(end - begin)
    path.write_bytes(library)
    subprocess.run(["fallocate", "--dig-holes", str(path)], check=False)


if __name__ == "__main__":
    main()
