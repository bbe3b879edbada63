/* sanitizer.h - libraries that must be loaded before ours: the runtimes of compilers' sanitizers.
 *
 * A program built by gcc's -fsanitize=address ends at its start where any preloaded library comes
 * before its runtime; with -fsanitize=thread our hooks, before the runtime's, would see functions of
 * a libc that it has not prepared. Both name their runtime as the first library they need
 * (DT_NEEDED), so that is named before ours in LD_PRELOAD: by sampler-run for the command, by the
 * library for what that starts. (clang links its runtimes into the program unless told otherwise by
 * -shared-libsan.) */
#ifndef SAMPLER_SANITIZER_H
#define SAMPLER_SANITIZER_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Between a runtime that we have put into LD_PRELOAD, for one program, and what follows. ld.so skips
 * empty names; one that the user has put there is for all programs. */
#define SANITIZER_MARK "::"

#define SANITIZER_NAME_BYTES 64 /* of a runtime's file name, with its NUL */

/* Whether `path`, of `length` bytes, is that of such a runtime: libasan.so.8,
 * libclang_rt.asan-x86_64.so. */
static inline bool sanitizer_is_runtime(const char *path, size_t length)
{
    static const char *const begins[] = {
        "libasan.so",        "libtsan.so",        "liblsan.so",         "libhwasan.so",
        "libclang_rt.asan-", "libclang_rt.tsan-", "libclang_rt.hwasan-"};
    size_t name = length;
    while (name > 0 && path[name - 1] != '/')
        name--;
    for (size_t i = 0; i < sizeof begins / sizeof begins[0]; i++) {
        size_t n = strlen(begins[i]);
        if (length - name >= n && memcmp(path + name, begins[i], n) == 0)
            return true;
    }
    return false;
}

/* The bytes of the runtime that a list as LD_PRELOAD has it begins with; 0 = none. */
static inline size_t sanitizer_first_bytes(const char *list)
{
    size_t length = 0;
    while (list[length] != '\0' && list[length] != ':' && list[length] != ' ')
        length++;
    return sanitizer_is_runtime(list, length) ? length : 0;
}

#endif
