/* runtime_name.h - what runtimes call their functions, taken apart: as people say them, and where
 * they are written.
 *
 *   JS:*fib /srv/app.js:1:13     fib                     /srv/app.js  1    node, V8
 *   JS:^ /srv/app.js:3:46        (anonymous) app.js:3:46 /srv/app.js  3
 *   py::fib:/srv/app.py          fib                     /srv/app.py       Python
 *   int32 [app] Sum::Of(int32)[OptimizedTier1]
 *                                int32 [app] Sum::Of(int32)        .NET
 *   anything else                as it is
 *
 * V8's marks of how a function was compiled (~ interpreted, ^ and + in between, * optimized) are left
 * out, as are .NET's, so that one function is one, however often it was compiled.
 *
 * Source of .NET's: coreclr/vm/prestub.cpp, GetJitOptimizationTierStr. */
#ifndef SAMPLER_RUNTIME_NAME_H
#define SAMPLER_RUNTIME_NAME_H

#include <stdbool.h>
#include <stdint.h>

#include "text.h"

struct runtime_name {
    struct text name;     /* length 0: the function has none                        */
    struct text file;     /* length 0: not said                                     */
    struct text place;    /* "app.js:3:46"; length 0: not said                      */
    struct text identity; /* what tells it from others of its name; `name` or longer */
    uint32_t line;
};

/* Views of `said`. */
struct runtime_name runtime_name_split(struct text said);

/* A file as a path, where a runtime has it as a URL. */
struct text runtime_file(struct text said);

/* Of a function in JavaScript. */
bool runtime_name_is_v8(struct text said);

#endif
