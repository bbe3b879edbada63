/* my_code.c - see my_code.h. */
#include "select/my_code.h"

#include <string.h>

#include "select/runtime_module.h"
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
    static const char *const FOLDERS[] = {"/usr/",   "/lib/",         "/lib32/",
                                          "/lib64/", "/nix/",         "/gnu/store/",
                                          "[vdso]",  "linux-vdso.so", NULL};
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

static bool contains_any(struct text path, const char *const *parts)
{
    for (; *parts != NULL; parts++)
        if (contains(path, *parts))
            return true;
    return false;
}

/* Of languages whose runtimes make code; their native parts lie there as well. */
static bool is_in_script_package(struct text path)
{
    static const char *const PACKAGES[] = {"/site-packages/", "/dist-packages/", "/node_modules/",
                                           "/lib/python2.",   "/lib/python3.",   NULL};
    return contains_any(path, PACKAGES);
}

static bool is_source_of_library(struct text path)
{
    static const char *const PACKAGES[] = {"/.cargo/registry/", "/.cargo/git/", "/.rustup/",
                                           "/go/pkg/mod/", NULL};
    static const char *const BUILT_IN[] = {"/rustc/", "/rust/deps/", "<frozen ", "node:", NULL};
    return contains_any(path, PACKAGES) || is_in_script_package(path) ||
           starts_with_any(path, BUILT_IN) || is_in_system_folder(path);
}

/* "java.lang.String java.lang.Long.toString(long)" and .NET's "void [System.Runtime] System.GC::Collect()":
 * their runtimes tell no files. */
static bool is_named_as_library(struct text name)
{
    static const char *const JAVA[] = {"java.", "javax.", "jdk.", "sun.", "com.sun.", NULL};
    const char *arguments = memchr(name.bytes, '(', name.length);
    size_t at = arguments != NULL ? (size_t)(arguments - name.bytes) : name.length;
    while (at > 0 && name.bytes[at - 1] != ' ')
        at--;
    return starts_with_any(text_from(name, at), JAVA) || contains(name, "[System.");
}

static bool is_made(const struct profile *profile, const struct profile_function *function)
{
    struct text module = profile_text(profile, profile->modules[function->module].path);
    return text_is(module, PROFILE_JIT_MODULE);
}

static bool has_made(const struct profile *profile)
{
    for (uint32_t id = 1; id < profile->n_functions; id++)
        if (is_made(profile, &profile->functions[id]))
            return true;
    return false;
}

/* Of a profile with functions made at run time. */
static bool is_of_runtime(const struct profile *profile, const struct profile_function *function)
{
    struct text module = profile_text(profile, profile->modules[function->module].path);
    return is_made(profile, function) ? is_named_as_library(profile_text(profile, function->name))
                                      : is_runtime_module(module) || is_in_script_package(module);
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
    bool any_place = false, any_own = false, has_runtime = has_made(profile);
    for (uint32_t id = 0; id < profile->n_functions; id++) {
        const struct profile_function *function = &profile->functions[id];
        bool own = is_own(profile, function) && !(has_runtime && is_of_runtime(profile, function));
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
