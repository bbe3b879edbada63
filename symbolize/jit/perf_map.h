/* perf_map.h - /tmp/perf-PID.map, by which runtimes tell profilers where their code lies.
 *
 *   START SIZE NAME\n    both hexadecimal, 0x or not; the name is the rest of the line
 *
 * Source    linux tools/perf/Documentation/jit-interface.txt. Written by node (--perf-basic-prof),
 *           Java (-XX:+DumpPerfMapAtExit), .NET (DOTNET_PerfMapEnabled=1), Erlang (+JPperf true),
 *           Python from 3.12 (-X perf), LuaJIT, PHP, Julia.
 * Time      It has none: of two lines about one place the later one is believed. */
#ifndef SAMPLER_PERF_MAP_H
#define SAMPLER_PERF_MAP_H

#include "jit/code_said.h"

/* Lines that are none, and one without its end (the program was killed as it wrote), are passed over. Keeps views
 * of `map`. */
void perf_map_read(struct text map, struct codes_said *codes);

#endif
