/* runtime_module.c - see runtime_module.h. */
#include "select/runtime_module.h"

#include <string.h>

/* What is left of libpython3.12.so.1.0 without ".so" and what follows. */
static struct text without_suffix(struct text name)
{
    const char *suffix = memmem(name.bytes, name.length, ".so", 3);
    if (suffix != NULL)
        name.length = (size_t)(suffix - name.bytes);
    return name;
}

/* "3.12", also as builds for debugging or with free threads have it: "3.13t", "3.12-dbg". */
static bool is_version(struct text text)
{
    bool any_digit = false;
    if (text_ends(text, "-dbg"))
        text.length -= strlen("-dbg");
    for (size_t i = 0; i < text.length; i++) {
        char c = text.bytes[i];
        any_digit = any_digit || char_is_digit(c);
        if (!char_is_digit(c) && c != '.' && c != '-' && !(any_digit && (c == 't' || c == 'd')))
            return false;
    }
    return true;
}

bool is_python_with_names(struct text path)
{
    struct text name = text_base_name(path);
    struct text version = text_from(name, text_starts(name, "lib") ? 3 : 0);
    unsigned minor = 0;
    if (!text_starts(version, "python3."))
        return false;
    for (size_t i = strlen("python3."); i < version.length && char_is_digit(version.bytes[i]); i++)
        minor = minor < 1000 ? 10 * minor + (unsigned)(version.bytes[i] - '0') : minor;
    return minor >= 12;
}

bool is_runtime_module(struct text path)
{
    static const char *const NAMES[] = {
        "node",       "nodejs",        "libnode",          "deno",
        "electron",   "bun",           "python",           "libpython",
        "java",       "libjvm",        "libjli",           "libjava",
        "libnio",     "libnet",        "libzip",           "libjimage",
        "dotnet",     "libcoreclr",    "libclrjit",        "libclrgc",
        "libhostfxr", "libhostpolicy", "libSystem.Native", "beam.smp",
        "luajit",     "mono-sgen",     "libmonosgen",      "libluajit",
        "php",        "php-fpm",       "libphp",           "ruby",
        "libruby",    "julia",         "libjulia",         "libjulia-internal"};
    struct text name = without_suffix(text_base_name(path));
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
        if (text_starts(name, NAMES[i]) && is_version(text_from(name, strlen(NAMES[i]))))
            return true;
    return false;
}
