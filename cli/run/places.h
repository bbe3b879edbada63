/* places.h - where the other parts of Sampler are, seen from our own executable: a tree can be
 * copied anywhere, be it of a build or of an installation. */
#ifndef SAMPLER_CLI_PLACES_H
#define SAMPLER_CLI_PLACES_H

#include <stddef.h>

#include "err.h"

/* The path of `name` in the folder of our own executable; `name` may begin with "../". Nothing
 * says that it is there. */
MUST_CHECK bool place_beside_us(const char *name, char *out, size_t out_bytes, struct err *err);

#endif
