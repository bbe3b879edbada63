"""Writes .sprofile files as docs/formats/sprofile.md describes them, for tests that need to know every line and weight."""

import os
import struct
import zlib

TABLES = ("end", "texts", "scalars", "modules", "functions", "frames", "stacks", "processes", "threads", "metadata", "samples")
NANOSECONDS = 2


def varint(number):
    out = b""
    while number >= 128:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def column(numbers):
    return b"\1\1" + b"".join(map(varint, numbers))


def block(table, first_row, n_rows, content):
    stored = zlib.compress(content)
    head = b"BLCK" + struct.pack("<IQIII", TABLES.index(table), first_row, n_rows, len(stored), len(content))
    return head + struct.pack("<I", zlib.crc32(head)) + stored


class Sprofile:
    """
        profile = Sprofile()
        f = profile.function("f", "a.c", 10)
        profile.add([(f, 12), (f, 13, "part.h")], 1000000)     the stack, outermost first, and its time in ns
    a frame is function, line, file of the line, address and flags; what comes last may be left out
        profile.write("x.sprofile")
    """

    def __init__(self, start_realtime_ns=0, host=os.uname().nodename):
        self.rows = {name: {} for name in ("texts", "modules", "functions", "frames", "stacks")}
        self.samples = []
        self.start_realtime_ns = start_realtime_ns
        self.host = host

    def id(self, table, row):
        """The number of a row, from 1; equal rows have one."""
        return self.rows[table].setdefault(row, len(self.rows[table]) + 1)

    def text(self, text):
        return self.id("texts", text.encode()) if text else 0

    def function(self, name, file="", line=0, module="", build_id=""):
        module = self.id("modules", (self.text(module), self.text(build_id), 0, 0)) if module else 0
        return self.id("functions", (self.text(name), 0, self.text(file), line, 0, module))

    def add(self, frames, weight_ns):
        stack = 0
        for function, line, *more in frames:
            file, address, flags = (*more, *("", 0, 0)[len(more):])
            frame = self.id("frames", (function, line, 0, flags, address, self.text(file)))
            stack = self.id("stacks", (stack, frame))
        self.samples.append((0, stack, 0, weight_ns))

    def write(self, path):
        scalars = (0, self.start_realtime_ns, 0, 1000000, 0, 1, self.text("cpu"), NANOSECONDS) + 6 * (0,)
        metadata = [(self.text("host"), self.text(self.host))]
        texts = list(self.rows["texts"])
        blocks = [block("texts", 1, len(texts), b"\1" + column(map(len, texts)) + b"".join(texts))]
        tables = [("scalars", [scalars], 0)] + [(name, list(self.rows[name]), 1) for name in ("modules", "functions", "frames", "stacks")]
        for name, rows, first in tables + [("metadata", metadata, 0), ("samples", self.samples, 0)]:
            if rows:
                content = bytes([len(rows[0])]) + b"".join(map(column, zip(*rows)))
                blocks.append(block(name, first, len(rows), content))
        with open(path, "wb") as out:
            out.write(b"SPROFILE" + struct.pack("<II", 1, 0) + b"".join(blocks))
            head = b"BLCK" + struct.pack("<IQIII", 0, len(blocks), 0, 0, 0)
            out.write(head + struct.pack("<I", zlib.crc32(head)))
