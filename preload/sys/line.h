/* line.h - text put together in a buffer of the caller: no stdio, no heap, no locale.
 *
 * Always NUL-terminated. When full, what does not fit is dropped and `cut` is set.
 * Context   line_init, line_add...: any. The rest: any but SIGNAL. */
#ifndef SAMPLER_PRELOAD_SYS_LINE_H
#define SAMPLER_PRELOAD_SYS_LINE_H

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

/* Our word to the user: "sampler: TEXT\n" on stderr, in one write. Silent when fd 2 is no longer
 * the file it was at the start: the program closed it, and the number may belong to a file of its
 * own now. No copy of it is kept, since that would hold a pipe open whose reader waits for its end.
 */
void line_say(struct line *line);

/* Whether fd 2 still is the file it was at the start. */
bool line_stderr_is_same(void);

/* SETUP: remembers what fd 2 is. */
void line_remember_stderr(void);

#endif
