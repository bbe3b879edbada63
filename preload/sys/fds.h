/* fds.h - file descriptors of ours in a program that thinks all numbers are its own.
 *
 * Ours are close-on-exec and high: above the soft limit where the hard limit leaves room (a number
 * the program itself can never get), else high up within it. The hooks on close, close_range ...
 * ask fds_is_ours and spare them. What bypasses the hooks can still close one and open something
 * else under its number, so an owner checks identity before it uses one for anything that matters.
 * Context    fds_adopt: SETUP, HOOK. fds_close: SETUP, HOOK, EXIT. The rest: any. */
#ifndef SAMPLER_PRELOAD_SYS_FDS_H
#define SAMPLER_PRELOAD_SYS_FDS_H

#include <stdbool.h>

#include "sys/context.h"

/* Takes `fd` (closes it) and returns the same file under a number for us; -1 with errno when there
 * is none. */
SIGNAL_SAFE int fds_adopt(int fd);

/* Whether numbers are so few that the program shall have them all: fds_adopt gives none then. */
SIGNAL_SAFE bool fds_are_scarce(void);

/* Closes one of ours. */
SIGNAL_SAFE void fds_close(int fd);

SIGNAL_SAFE bool fds_is_ours(int fd);

/* Whether it is or once was ours. */
SIGNAL_SAFE bool fds_was_ours(int fd);

/* The smallest one of ours that is >= fd, or -1. */
SIGNAL_SAFE int fds_next(int fd);

/* The number is no longer ours: the program had another file put there. */
SIGNAL_SAFE void fds_forget(int fd);

#endif
