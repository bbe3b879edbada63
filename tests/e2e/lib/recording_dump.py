#!/usr/bin/env python3
"""Reads recordings (include/capture.h) on its own account: a second opinion for the tests.

usage: recording_dump.py [--json] [--stacks N] FILE...

Prints per file: threads, samples, weights against CPU time, losses. Damage in what is committed is
an error (exit status 1); a file that is cut short is not.
"""
import argparse
import collections
import json
import os
import struct
import sys

HEADER_FIELDS = [
    ("magic", "8s"), ("version", "I"), ("header_bytes", "I"), ("chunk_bytes", "I"), ("arch", "I"),
    ("pid", "I"), ("ppid", "I"), ("period", "Q"), ("frequency_hz", "I"), ("clock", "I"),
    ("time_unit_ns", "Q"), ("start_time_ns", "Q"), ("start_realtime_ns", "Q"),
    ("start_cpu_ns", "Q"), ("n_chunks", "Q"), ("end_time_ns", "Q"), ("end_cpu_ns", "Q"),
    ("end", "I"), ("exit_status", "I"), ("n_ticks", "Q"), ("handler_ns", "Q"), ("n_threads", "Q"),
    ("n_threads_missed", "Q"), ("lost", "16Q"), ("n_forks", "Q"),
    ("weight_unit", "Q"), ("paused_cpu_ns", "Q"), ("n_threads_found", "Q"), ("n_children_missed", "Q"),
]
HEADER = struct.Struct("<" + "".join(code for _, code in HEADER_FIELDS))
CHUNK = struct.Struct("<4I")
CHUNK_MAGIC = 0x4B4E4843
BRIEF = struct.Struct("<8sII")
BRIEF_MAGIC = b"SAMPBRIF"
LOSSES = ["nested", "disk", "nodes", "no-stream", "tail", "blocked", "all-blocked"]
CLOCKS = ["none", "perf", "perf-user", "timer", "event", "wall", "stand-in"]
EXITED = 1
CUTS = ["", "no rule", "bad memory", "no progress", "too deep", "nodes full"]


class Damaged(Exception):
    pass


class Cursor:
    """The records of one chunk."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def varint(self):
        value = shift = 0
        while True:
            if self.at >= len(self.data):
                raise Damaged("a record goes beyond what is committed")
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                if value >= 1 << 64:
                    raise Damaged("a number of more than 64 bits")
                return value

    def text(self):
        n = self.varint()
        if self.at + n > len(self.data):
            raise Damaged("a text goes beyond what is committed")
        self.at += n
        return self.data[self.at - n : self.at]


class Thread:
    def __init__(self, stream, tid, start_units, start_cpu_ns, name):
        self.stream, self.tid, self.name = stream, tid, name
        self.start_units, self.units = start_units, start_units
        self.start_cpu_ns, self.end_cpu_ns = start_cpu_ns, None
        self.begin_cpu_ns = self.own_cpu_ns = 0
        self.n_samples = self.n_credits = self.steps = self.credit_steps = self.max_steps = 0
        self.clock, self.why_errno = None, 0
        self.label = ""


def read_all(path):
    """The recordings of a file: one, or those of processes that ended before their first sample."""
    with open(path, "rb") as file:
        data = file.read()
    if data[:8] != BRIEF_MAGIC:
        return [Recording(path, data)]
    recordings, at = [], 0
    while at < len(data):
        magic, n_header, n_records = BRIEF.unpack_from(data, at)
        if magic != BRIEF_MAGIC:
            raise Damaged("offset %d: no brief recording" % at)
        at += BRIEF.size
        header = bytearray(data[at : at + n_header])
        struct.pack_into("<II", header, 12, n_header, CHUNK.size + n_records)  # header_bytes, chunk_bytes
        chunk = CHUNK.pack(CHUNK_MAGIC, 0, 0, n_records) + data[at + n_header : at + n_header + n_records]
        at += n_header + n_records
        if at > len(data):
            raise Damaged("the last brief recording is cut")
        recordings.append(Recording(path, bytes(header) + chunk))
    return recordings


class Recording:
    def __init__(self, path, data=None):
        self.path = path
        if data is None:
            with open(path, "rb") as file:
                data = file.read()
        if len(data) < HEADER.size or data[:8] != b"SAMPLREC":
            raise Damaged("no recording")
        values = list(HEADER.unpack_from(data))
        names = [name for name, _ in HEADER_FIELDS]
        lost_at = names.index("lost")
        self.lost = values[lost_at : lost_at + 16]
        flat = values[:lost_at] + values[lost_at + 16 :]
        for name, value in zip([n for n in names if n != "lost"], flat):
            setattr(self, name, value)
        if self.version not in (1, 2, 3, 4):
            raise Damaged("version %d" % self.version)
        self.infos, self.modules = {}, {}
        self.children = []  # (time, why, path)
        self.pauses = []  # (ns since the start, True = stops), in order of time
        self.labels = collections.Counter()  # label -> steps
        self.images = collections.defaultdict(dict)
        self.threads = []
        self.nodes = {}  # stream -> [None, node 1, node 2 ...]
        self.weights = collections.Counter()  # (stream, node) -> steps
        self.tag_bytes, self.tag_count = collections.Counter(), collections.Counter()
        self.read_chunks(data)

    def read_chunks(self, data):
        chunks = []
        for at in range(self.header_bytes, len(data), self.chunk_bytes):
            if at + CHUNK.size > len(data):
                break
            magic, stream, sequence, committed = CHUNK.unpack_from(data, at)
            if magic == 0:
                continue
            if magic != CHUNK_MAGIC:
                raise Damaged("offset %d: no chunk" % at)
            if committed > self.chunk_bytes - CHUNK.size:
                raise Damaged("offset %d: %d bytes committed" % (at, committed))
            start = at + CHUNK.size
            chunks.append((stream, sequence, data[start : start + committed]))
        chunks.sort(key=lambda chunk: chunk[:2])
        expected = collections.Counter()
        thread_of = {}
        for stream, sequence, records in chunks:
            if sequence != expected[stream]:
                raise Damaged("stream %d: chunk %d follows %d" % (stream, sequence, expected[stream] - 1))
            expected[stream] += 1
            thread_of[stream] = self.read_records(stream, thread_of.get(stream), Cursor(records))

    def read_records(self, stream, thread, c):
        nodes = self.nodes.setdefault(stream, [None])
        while c.at < len(c.data):
            start = c.at
            tag = c.varint()
            if tag == 1:
                key = c.text().decode()
                self.infos[key] = c.text()
            elif tag == 2:
                tid, units, cpu, name = c.varint(), c.varint(), c.varint(), c.text()
                thread = Thread(stream, tid, units, cpu, name.decode(errors="replace"))
                self.threads.append(thread)
            elif tag == 3:
                thread.name = c.text().decode(errors="replace")
            elif tag == 4:
                thread.units += c.varint()
                thread.end_cpu_ns = c.varint()
            elif tag == 5:
                thread.clock, thread.why_errno = c.varint(), c.varint()
            elif tag == 6:
                ident, flags, begin, end, bias, dev, ino, size, mtime = (c.varint() for _ in range(9))
                build_id, path = c.text(), c.text()
                self.modules[ident] = dict(flags=flags, start=begin, end=end, bias=bias, dev=dev, ino=ino,
                                           size=size, mtime=mtime, build_id=build_id.hex(),
                                           path=path.decode(errors="replace"))
            elif tag == 7:
                ident, offset = c.varint(), c.varint()
                self.images[ident][offset] = c.text()
            elif tag == 8:
                parent, place, offset = c.varint(), c.varint(), c.varint()
                if parent >= len(nodes):
                    raise Damaged("stream %d: node %d has parent %d" % (stream, len(nodes), parent))
                nodes.append((parent, place, offset))
            elif tag == 9:
                nodes.append((0, None, c.varint()))
            elif tag in (10, 11, 12):
                delta = c.varint()
                steps = 1 if tag == 10 else c.varint()
                node = c.varint()
                if not 0 < node < len(nodes):
                    raise Damaged("stream %d: a sample of node %d of %d" % (stream, node, len(nodes) - 1))
                thread.units += delta
                thread.steps += steps
                self.labels[thread.label] += steps
                self.weights[stream, node] += steps
                if tag == 12:
                    thread.n_credits += 1
                    thread.credit_steps += steps
                else:
                    thread.n_samples += 1
                    thread.max_steps = max(thread.max_steps, steps)
            elif tag == 13:
                thread.label = c.text().decode(errors="replace")
            elif tag == 14:
                self.children.append((c.varint(), c.varint(), c.text()))
            elif tag == 15:
                units, stops = c.varint(), c.varint()
                self.pauses.append((units * self.time_unit_ns, stops != 0))
                self.pauses.sort()
            elif tag == 16:
                thread.begin_cpu_ns += c.varint()
                thread.own_cpu_ns += c.varint()
            elif tag != 0:
                raise Damaged("stream %d: tag %d" % (stream, tag))
            self.tag_bytes[tag] += c.at - start
            self.tag_count[tag] += 1
        return thread

    def thread_exit_ns(self):
        """What the process used beyond its threads' clocks, at most 2 ms for each of them that ended beside the first;
        known where all of them were recorded to their end."""
        cpu = [t.end_cpu_ns - t.start_cpu_ns if t.end_cpu_ns else -1 for t in self.threads]
        if self.end != EXITED or self.n_threads_missed or len(cpu) < 2 or min(cpu) < 0:
            return 0
        rest = self.end_cpu_ns - self.start_cpu_ns - sum(cpu)
        return rest if 0 < rest <= 2000000 * (len(cpu) - 1) else 0

    def check_modules(self):
        """Every node's module is there."""
        for nodes in self.nodes.values():
            for node in nodes[1:]:
                if node[1] is not None and node[1] >> 1 and node[1] >> 1 not in self.modules:
                    raise Damaged("module %d was never recorded" % (node[1] >> 1))

    def stack(self, stream, node):
        """Frames root first, as (module path or cut, offset)."""
        frames = []
        while node:
            parent, place, offset = self.nodes[stream][node]
            if place is None:
                frames.append(("cut", CUTS[offset]))
            else:
                module = self.modules.get(place >> 1)
                frames.append((module["path"] if module else "-", offset))
            node = parent
        return frames[::-1]

    def summary(self):
        steps = sum(t.steps for t in self.threads)
        samples = sum(t.n_samples for t in self.threads)
        begin_ns, own_ns = (sum(getattr(t, name) for t in self.threads) for name in ("begin_cpu_ns", "own_cpu_ns"))
        cpu = self.end_cpu_ns - self.start_cpu_ns - self.paused_cpu_ns - own_ns if self.end_cpu_ns else None
        sample_bytes = sum(self.tag_bytes[t] for t in (10, 11, 12))
        cut = sum(w for (s, n), w in self.weights.items() if self.stack(s, n)[0][0] == "cut")
        return dict(
            pid=self.pid, end=self.end, exit_status=self.exit_status, hz=self.frequency_hz,
            n_ticks=self.n_ticks, n_samples=samples, steps=steps, weight_s=steps * self.period / 1e9,
            credit_steps=sum(t.credit_steps for t in self.threads),
            cpu_s=cpu / 1e9 if cpu is not None else None,
            explained=round(steps * self.period / cpu, 5) if cpu else None,
            start_cpu_ms=self.start_cpu_ns / 1e6, thread_exit_ns=self.thread_exit_ns(),
            thread_begin_ns=begin_ns, own_ns=own_ns, n_threads=self.n_threads,
            missed=self.n_threads_missed, n_streams=len(self.nodes),
            n_nodes=sum(len(n) - 1 for n in self.nodes.values()), n_modules=len(self.modules),
            clocks=sorted({CLOCKS[t.clock] for t in self.threads if t.clock is not None}),
            lost={LOSSES[i] if i < len(LOSSES) else str(i): n for i, n in enumerate(self.lost) if n},
            n_forks=self.n_forks, cut_share=round(cut / steps, 5) if steps else 0,
            bytes_per_sample=round(sample_bytes / samples, 2) if samples else None,
            handler_ns_per_tick=round(self.handler_ns / self.n_ticks) if self.n_ticks else None,
            fallback=next(("perf_event_open: " + os.strerror(t.why_errno) for t in self.threads if t.why_errno), ""),
            command=self.infos.get("command", b"").decode(errors="replace").split("\0"),
            names=sorted({t.name for t in self.threads}), n_threads_found=self.n_threads_found,
            paused_cpu_s=self.paused_cpu_ns / 1e9, labels=dict(self.labels),
        )


def checked(path):
    try:
        recordings = read_all(path)
        for recording in recordings:
            recording.check_modules()
    except Damaged as damage:
        sys.exit("%s: %s" % (path, damage))
    return recordings


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--stacks", type=int, default=0)
    parser.add_argument("files", nargs="+")
    options = parser.parse_args()
    for path, recording in ((path, recording) for path in options.files for recording in checked(path)):
        summary = recording.summary()
        if options.json:
            print(json.dumps(summary))
        else:
            print(path, *("%s=%s" % item for item in summary.items()), sep="\n  ")
        for (stream, node), steps in recording.weights.most_common(options.stacks):
            print(steps, ";".join("%s+%s" % (p.rsplit("/", 1)[-1], hex(o) if isinstance(o, int) else o)
                                  for p, o in recording.stack(stream, node)))


if __name__ == "__main__":
    main()
