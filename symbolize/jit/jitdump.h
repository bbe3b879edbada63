/* jitdump.h - jit-PID.dump, the second way in which runtimes tell profilers of their code: with times,
 * moves and source lines.
 *
 *   header  "DTiJ" as a number, version, size of the header, machine, pad, pid, time, flags
 *   record  id, size, time, then by id
 *     0 LOAD   pid, tid, vma, address, size, index, name\0, the code
 *     1 MOVE   pid, tid, vma, old address, new address, size, index
 *     2 DEBUG  address, number of entries, then of each: address, line, column, file\0
 *
 * Source    linux tools/perf/Documentation/jitdump-specification.txt. Written by node (--perf-prof),
 *           V8, LLVM's and Wasmtime's JIT, perf's agent for Java.
 * Time      CLOCK_MONOTONIC, unless flag 0 is set (a counter of the processor: then only the order
 *           counts). An address has the name it had when it was last seen.
 * Lines     V8 adds the 64 bytes of an ELF header, which `perf inject` takes off again, to their
 *           addresses, and of some functions writes names of files that do not end where it says.
 *           So lines are taken if all entries of a function make sense, and none otherwise. */
#ifndef SAMPLER_JITDUMP_H
#define SAMPLER_JITDUMP_H

#include "jit/code_said.h"

enum jitdump_outcome {
    JITDUMP_READ, /* up to where it is damaged, or was being written */
    JITDUMP_NONE, /* not of this kind, or not of this process */
    JITDUMP_NO_MEMORY,
};

/* Keeps views of `dump`. */
enum jitdump_outcome jitdump_read(struct text dump, uint32_t pid, struct codes_said *codes);

#endif
