/* vdso.h - functions of the vDSO, the code that the kernel maps into each process.
 *
 * Found in its own symbol table: libc's functions of these names are the first definition in the
 * global scope, so perhaps the program's or another preloaded library's (a faked clock).
 *
 * Context    SETUP. */
#ifndef SAMPLER_VDSO_H
#define SAMPLER_VDSO_H

/* The address of the function `name`; NULL when this kernel's vDSO has none, or there is no
 * vDSO. */
void *vdso_symbol(const char *name);

#endif
