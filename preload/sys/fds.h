/* fds.h - our file descriptors in a program that thinks all numbers are its own.
 *
 * Ours are close-on-exec and high: above the soft limit where the hard limit leaves room (a number
 * the program itself can never get), else high up within it. The hooks on close, close_range ...
 * ask fds_is_ours and spare them. What bypasses the hooks can still close one and open something
 * else under its number, so an owner checks identity before it uses one for anything that matters.
 *
 * Shape      one bit for each number below 65536. A higher one works, but is not protected from
 *            close, and fds_was_ours takes any of them for ours.
 * When full  fds_adopt fails with EMFILE where the hard limit is so low (fds_are_scarce) that the
 *            program shall have all numbers; its owner then opens files for moments only, or does
 *            without.
 * Context    any, but for the last two; fds_adopt blocks all signals for the moment it raises the
 *            soft limit.
 */
#ifndef SAMPLER_FDS_H
#define SAMPLER_FDS_H

#include <stdbool.h>
#include <sys/resource.h>

#include "sys/context.h"

/* Takes `fd` (and closes it, also on failure); returns the same file under a number of ours, or -1
 * with errno. */
SIGNAL_SAFE int fds_adopt(int fd);

/* Whether descriptors are so scarce that the program shall have them all: fds_adopt gives none
 * then. */
SIGNAL_SAFE bool fds_are_scarce(void);

/* Closes one of ours; a negative number is no error. errno may change. */
SIGNAL_SAFE void fds_close(int fd);

SIGNAL_SAFE bool fds_is_ours(int fd);

/* Whether it is, or once was, ours: a tick already sent names the number its event had. */
SIGNAL_SAFE bool fds_was_ours(int fd);

/* The smallest one of ours that is >= fd, or -1. */
SIGNAL_SAFE int fds_next(int fd);

/* The number is no longer ours: the program has put another file there. */
SIGNAL_SAFE void fds_forget(int fd);

/* The soft limit as the program has it, also while another thread of it is in fds_adopt;
 * RLIM_INFINITY when it cannot be read. HOOK */
rlim_t fds_soft_limit(void);

/* In a forked child: what another thread was doing in fds_adopt when the process was copied does
 * not go on here. `soft_limit` is what the limit was right before. HOOK */
void fds_forked(rlim_t soft_limit);

#endif
