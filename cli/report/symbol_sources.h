/* symbol_sources.h - where names are looked for, as the options say it. */
#ifndef SAMPLER_CLI_SYMBOL_SOURCES_H
#define SAMPLER_CLI_SYMBOL_SOURCES_H

#include "names/module.h"
#include "options/options.h"

/* Borrows the options; no other thread runs yet. Folders of --debug-dir that are none are told of on stderr, unless --quiet. */
struct symbol_sources symbol_sources_open(const struct options *options);

/* What goes on in there, for progress_start_described; `context` is the sources. */
const char *symbol_sources_describe(void *context, char *out, size_t out_bytes);

/* What was learned is kept for the next run: after all that somebody waits for. */
void symbol_sources_close(struct symbol_sources *sources);

#endif
