/* shell_word.h - a word of a command line that a person is to copy into a shell. */
#ifndef SAMPLER_CLI_SHELL_WORD_H
#define SAMPLER_CLI_SHELL_WORD_H

#include <stddef.h>

/* Adds `word` as append does (append.h), in quotes where a shell would take any of its bytes for
 * something else. */
void append_shell_word(const char *word, char *out, size_t out_bytes, size_t *used);

#endif
