/* line.h - text put together in a buffer of the caller's: no stdio, no heap, no locale.
 *
 * Always NUL-terminated. When full, what does not fit is dropped and `cut` is set; a path that is
 * cut must not be used.
 *
 * Context    line_init, line_add...: any. The rest: any but SIGNAL, unless stated otherwise. */
#ifndef SAMPLER_LINE_H
#define SAMPLER_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sys/context.h"

struct line {
    char *bytes;
    size_t length;     /* without the NUL     */
    size_t size_bytes; /* of the buffer, >= 1 */
    bool cut;
};

SIGNAL_SAFE void line_init(struct line *line, char *bytes, size_t size_bytes);
SIGNAL_SAFE void line_add(struct line *line, const char *text);
SIGNAL_SAFE void line_add_bytes(struct line *line, const char *bytes, size_t n_bytes);
SIGNAL_SAFE void line_add_number(struct line *line, uint64_t number);

/* Our message to the user: "sampler: TEXT\n" on stderr, in one write; about 1180 bytes of TEXT at
 * most. Silent when fd 2 is no longer the file it was at the start: the program has closed it, and
 * the number may belong to a file of its own now. No copy of the descriptor is kept, as it would
 * hold a pipe open whose reader waits for its end. errno is left alone. */
void line_say(struct line *line);

/* Whether fd 2 still is the file it was at the start. */
bool line_stderr_is_same(void);

/* SETUP: remembers what fd 2 is. */
void line_remember_stderr(void);

#endif
