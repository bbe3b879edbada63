/* permitted.c - see permitted.h. */
#include "source/permitted.h"

#include <stddef.h>
#include <string.h>
#include <sys/utsname.h>

/* Of languages that compilers and runtimes tell lines of; lower case. What holds settings (json, ini, env, ...)
 * and what is only read by shells is not among them. */
static const char *const extensions[] = {
    "ada", "adb", "ads", "asm",   "bas",    "c",     "c++",  "cbl",   "cc",  "cjs",  "clj",
    "cob", "cpp", "cr",  "cs",    "cts",    "cu",    "cuh",  "cxx",   "d",   "dart", "def",
    "di",  "el",  "erl", "ex",    "exs",    "f",     "f03",  "f08",   "f77", "f90",  "f95",
    "for", "fs",  "go",  "gperf", "groovy", "h",     "h++",  "hh",    "hpp", "hrl",  "hs",
    "hxx", "i",   "ii",  "inc",   "inl",    "ipp",   "java", "jl",    "js",  "jsx",  "kt",
    "kts", "l",   "ll",  "lisp",  "lua",    "m",     "ml",   "mli",   "mjs", "mm",   "mts",
    "nim", "p",   "pas", "php",   "pl",     "pm",    "pp",   "pxd",   "pyx", "py",   "r",
    "rb",  "re",  "rl",  "rs",    "s",      "scala", "scm",  "swift", "sx",  "tcc",  "tcl",
    "tpp", "ts",  "tsx", "txx",   "v",      "vala",  "vb",   "y",     "yy",  "zig"};

static bool is_extension(const char *bytes, size_t length)
{
    for (size_t i = 0; i < sizeof extensions / sizeof extensions[0]; i++)
        if (strlen(extensions[i]) == length && strncasecmp(extensions[i], bytes, length) == 0)
            return true;
    return false;
}

bool path_is_source_code(struct text path)
{
    static const char include[] = "/include/";
    struct text name = text_base_name(path);
    const char *dot = memrchr(name.bytes, '.', name.length);
    if (dot == NULL)
        return memmem(path.bytes, path.length, include, sizeof include - 1) != NULL;
    size_t at = (size_t)(dot - name.bytes) + 1;
    return at > 1 && is_extension(name.bytes + at, name.length - at);
}

bool profile_is_of_this_host(const struct profile *profile)
{
    struct utsname here;
    bool is_known = uname(&here) == 0;
    size_t n = 0;
    for (size_t i = 0; is_known && i < profile->n_metadata; i++) {
        const struct profile_metadata *row = &profile->metadata[i];
        if (!text_is(profile_text(profile, row->key), "host"))
            continue;
        is_known = text_is(profile_text(profile, row->value), here.nodename);
        n++;
    }
    return is_known && n > 0;
}
