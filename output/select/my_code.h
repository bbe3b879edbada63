/* my_code.h - which functions are the user's own code, for --my-code: a person who looks for the line
 * to change wants the time of libraries to stand where their own code called them.
 *
 * Own code  is in a program file, in a library outside the folders of the system (/usr, /lib ...), or
 *           was generated at run time; and its source file, where it is known, is not one of a
 *           library: below /usr (headers of C++), /rustc and /rust/deps (Rust's own), a package folder of
 *           Rust, Go, Python or npm.
 *           An inlined function of std:: is thus not own code, wherever it was inlined; nor is an entry
 *           of the PLT, the first step of a call of a library.
 *
 * A profile that knows functions made at run time is one of a program in the language of its runtime:
 * then code of the runtime (runtime_module.h), of what comes with it and of native packages is not own
 * code, so that the time of an interpreter is that of the functions it interprets. Of packages an
 * extension with debug information is: others' come without. */
#ifndef SAMPLER_SELECT_MY_CODE_H
#define SAMPLER_SELECT_MY_CODE_H

#include <stdint.h>

#include "err.h"
#include "model/profile.h"

/* Sets `bit` in marks[id] of every function that is not own code. ERR_UNSUPPORTED: the profile holds
 * neither modules nor source files, or no own code. */
MUST_CHECK bool my_code_mark_others(const struct profile *profile, uint8_t *marks, uint8_t bit,
                                    struct err *err);

#endif
