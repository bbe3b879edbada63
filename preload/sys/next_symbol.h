/* next_symbol.h - the definition of a function that comes after ours: what dlsym(RTLD_NEXT) finds.
 *
 * Not dlsym itself, since that takes the loader's lock, which a constructor may hold that waits for
 * the thread that asks; and since it clears what dlerror() has for the program. Nothing here locks,
 * allocates or changes errno.
 *
 * Context    SETUP, HOOK, EXIT; also in a thread without thread-local storage of its own. */
#ifndef SAMPLER_NEXT_SYMBOL_H
#define SAMPLER_NEXT_SYMBOL_H

/* The address of the function `name`, in its default version, in the modules after ours as they were
 * loaded; in those before, if it is in none of these. NULL when nobody else has it. */
void *next_symbol(const char *name);

#endif
