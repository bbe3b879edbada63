/* keep.h - copies of texts that stay for the life of the process.
 *
 * Memory     The first ones share a buffer of our own; what does not fit gets a mapping. A mapping for
 *            each would cost every process a system call and a page fault a text.
 * Context    SETUP. */
#ifndef SAMPLER_KEEP_H
#define SAMPLER_KEEP_H

/* NULL when there is no memory. */
char *keep_text(const char *text);

#endif
