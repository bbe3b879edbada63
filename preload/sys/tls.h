/* tls.h - thread-local storage for the handler, in threads that have none of libc's.
 *
 * A thread made by a raw clone may share its thread pointer with the thread that made it, or have
 * one of its own runtime's, or 0: `errno` and everything else thread-local would then be another's
 * memory, or none. So the handler finds out which thread it is in without touching any, and where
 * the storage is not libc's own for this very thread it puts a block of ours in its place while it
 * runs (signals/storage.h).
 *
 *   thread pointer -> [ zeros: what libc and we keep there | self pointers ]
 *
 * A block has room for the initial-exec variables of libc and of this library, all of them zero at
 * first; dynamic thread-local storage (other libraries') is not available on it.
 *
 * Context    tls_setup: SETUP. The rest: any, also without thread-local storage. */
#ifndef SAMPLER_TLS_H
#define SAMPLER_TLS_H

#include <stdint.h>
#include <sys/types.h>

#include "sys/context.h"

void tls_setup(void);

/* The calling thread's thread pointer; reads no memory. */
SIGNAL_SAFE uint64_t tls_pointer(void);

SIGNAL_SAFE void tls_pointer_set(uint64_t pointer);

/* Where libc says, in the thread's storage, that its descriptor lies: pthread_self(), without a call
 * of libc. In threads with storage only. */
SIGNAL_SAFE uint64_t tls_descriptor(void);

/* As os_gettid, without errno. */
SIGNAL_SAFE pid_t tls_gettid(void);

/* The thread pointer of a new block, 0 without memory. The caller owns the block; it must not be
 * the current thread pointer of any thread when it is freed. */
SIGNAL_SAFE uint64_t tls_block_make(void);
SIGNAL_SAFE void tls_block_free(uint64_t pointer);

#endif
