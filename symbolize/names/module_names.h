/* module_names.h - the names of one module as the profile shows them.
 *
 * Every distinct name is demangled once. In short mode, functions of the module that would come out
 * with the same short name though their full ones differ (overloads, instances of one template)
 * keep their full names, so that no two functions are merged silently. */
#ifndef SAMPLER_MODULE_NAMES_H
#define SAMPLER_MODULE_NAMES_H

#include "model/profile.h"
#include "names/module.h"
#include "names/names.h"

/* Sets *out to a heap array: text id in the profile by text id in the module, set for those that
 * are names of frames, 0 for the rest. False when out of memory. */
MUST_CHECK bool module_names_make(const struct module_symbols *symbols, enum names_mode mode,
                                  struct profile_builder *builder, uint32_t **out);

#endif
