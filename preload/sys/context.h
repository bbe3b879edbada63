/* context.h - the four contexts code in preload/ runs in, and the marker of the one that is
 * checked.
 *
 *   SETUP   our constructor: one thread, the program has not started yet
 *   HOOK    inside a libc function the program called and we interposed: any lock of the program
 *           may be held
 *   SIGNAL  the handler of our clock: anything may be half done, any lock may be held by the
 *           interrupted code
 *   EXIT    the program is over: other threads may still run
 *
 * "any context" in a comment means all four. Functions that may run in SIGNAL are marked
 * SIGNAL_SAFE on their declaration. That puts them into a section whose calls
 * scripts/check_signal_safe.sh follows in the release objects: each must land in the same section
 * or be listed, with its reason, in preload/signal_safe.allow, which may name no function of ours.
 * No calls through pointers there.
 *
 * What runs in SIGNAL because someone chose it, and cannot be safe by nature (an engine that the
 * user requested by name, the program's own handler), is SIGNAL_UNSAFE_BY_CHOICE. The check lets
 * calls of these pass, follows them no further, and names each in its output. */
#ifndef SAMPLER_CONTEXT_H
#define SAMPLER_CONTEXT_H

#define SIGNAL_SAFE __attribute__((section(".text.signal_safe")))
#define SIGNAL_UNSAFE_BY_CHOICE __attribute__((noinline, section(".text.signal_unsafe_by_choice")))

#define likely(condition) __builtin_expect(!!(condition), 1)
#define unlikely(condition) __builtin_expect(!!(condition), 0)

#endif
