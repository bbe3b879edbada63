/* runtime_module.h - programs and libraries that run code of another language, known by their names.
 *
 * Graphs of calls do not tell them: a database that compiles its queries calls generated code as an
 * interpreter does, and is what its developers look at. */
#ifndef SAMPLER_SELECT_RUNTIME_MODULE_H
#define SAMPLER_SELECT_RUNTIME_MODULE_H

#include <stdbool.h>

#include "text.h"

/* Of a path: python3.12, libpython3.12.so.1.0, node, libjvm.so, beam.smp; with what numbers behind it. */
bool is_runtime_module(struct text path);

/* Of a Python that can say which function it interprets, which is 3.12 and later; others say that of
 * code they compile, or of none. */
bool is_python_with_names(struct text path);

#endif
