/* first_bracket.h - whether a file may be JSON, by its first bytes. For recognising formats: it
 * needs no memory and no parser. */
#ifndef SAMPLER_FIRST_BRACKET_H
#define SAMPLER_FIRST_BRACKET_H

#include <stddef.h>
#include <stdint.h>

/* The '{' or '[' that `head` begins with, after a byte order mark and white space; NUL if it begins
 * with something else. */
char json_first_bracket(const uint8_t *head, size_t head_bytes);

#endif
