/* my_code.c - see my_code.h. */
#include "select/my_code.h"

#include <string.h>

#include "text.h"

static bool starts_with_any(struct text path, const char *const *prefixes)
{
    for (; *prefixes != NULL; prefixes++)
        if (text_starts(path, *prefixes))
            return true;
    return false;
}

static bool contains(struct text text, const char *part)
{
    return memmem(text.bytes, text.length, part, strlen(part)) != NULL;
}

static bool is_in_system_folder(struct text path)
{
    static const char *const FOLDERS[] = {"/usr/", "/lib/",       "/lib32/", "/lib64/",
                                          "/nix/", "/gnu/store/", "[vdso]",  NULL};
    return starts_with_any(path, FOLDERS);
}

/* libc.so.6, libfoo-1.2.so; not a.solver. */
static bool is_shared_library(struct text path)
{
    for (size_t i = 0; i + 3 <= path.length; i++)
        if (memcmp(path.bytes + i, ".so", 3) == 0 &&
            (i + 3 == path.length || path.bytes[i + 3] == '.'))
            return true;
    return false;
}

static bool is_source_of_library(struct text path)
{
    static const char *const PACKAGES[] = {
        "/.cargo/registry/", "/.cargo/git/",    "/.rustup/",     "/go/pkg/mod/",
        "/site-packages/",   "/dist-packages/", "/node_modules/"};
    for (size_t i = 0; i < sizeof PACKAGES / sizeof *PACKAGES; i++)
        if (contains(path, PACKAGES[i]))
            return true;
    return text_starts(path, "/rustc/") || text_starts(path, "/rust/deps/") ||
           is_in_system_folder(path);
}

static bool is_own(const struct profile *profile, const struct profile_function *function)
{
    struct text module = profile_text(profile, profile->modules[function->module].path);
    struct text file = profile_text(profile, function->file);
    if ((module.length == 0 && file.length == 0) ||
        text_ends(profile_text(profile, function->name), "@plt"))
        return false;
    if (module.length > 0 && is_in_system_folder(module) &&
        (is_shared_library(module) || text_starts(module, "[")))
        return false;
    return !is_source_of_library(file);
}

bool my_code_mark_others(const struct profile *profile, uint8_t *marks, uint8_t bit,
                         struct err *err)
{
    bool any_place = false, any_own = false;
    for (uint32_t id = 0; id < profile->n_functions; id++) {
        const struct profile_function *function = &profile->functions[id];
        bool own = is_own(profile, function);
        any_place = any_place || function->module != 0 || function->file != 0;
        any_own = any_own || own;
        if (!own)
            marks[id] |= bit;
    }
    if (!any_place)
        return err_fail(err, ERR_UNSUPPORTED, ERR_NO_OFFSET,
                        "--my-code: holds neither modules nor source files, which tell code of "
                        "libraries; .sprofile files do");
    return any_own || err_fail(err, ERR_UNSUPPORTED, ERR_NO_OFFSET,
                               "--my-code: all of it is code of libraries and of the system");
}
