/* my_code.c - see my_code.h. */
#include "select/my_code.h"

#include <string.h>

#include "select/runtime_module.h"
#include "text.h"

static struct text module_of(const struct profile *profile, const struct profile_function *function)
{
    return profile_text(profile, profile->modules[function->module].path);
}

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

/* Of languages whose runtimes make code; native extensions lie there as well. */
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

/* ---- code of runtimes ------------------------------------------------------------------------ */

static bool is_jit(struct text module)
{
    return text_is(module, PROFILE_JIT_MODULE);
}

static bool has_jit_functions(const struct profile *profile)
{
    for (uint32_t id = 1; id < profile->n_functions; id++)
        if (is_jit(module_of(profile, &profile->functions[id])))
            return true;
    return false;
}

/* Of those whose runtime tells no files: "java.lang.String java.lang.Long.toString(long)", .NET's
 * "void [System.Runtime] System.GC::Collect()"; parts of the JVM, and of Erlang's. */
static bool is_named_as_library(struct text name)
{
    static const char *const JAVA[] = {"java.",  "javax.", "jdk.",  "sun.", "com.sun.",
                                       "Ljava/", "Ljdk/",  "Lsun/", NULL};
    static const char *const PARTS[] = {"StubRoutines (", "global::", NULL};
    const char *arguments = memchr(name.bytes, '(', name.length);
    struct text called = name;
    if (arguments != NULL)
        called.length = (size_t)(arguments - name.bytes);
    size_t at = called.length;
    while (at > 0 && called.bytes[at - 1] != ' ')
        at--;
    return starts_with_any(text_from(called, at), JAVA) || contains(called, "[System.") ||
           starts_with_any(name, PARTS) || text_ends(name, " stub");
}

/* A script that has its file in /usr/src, as in images of containers, is the user's. */
static bool is_own_jit(const struct profile *profile, const struct profile_function *function)
{
    struct text file = profile_text(profile, function->file);
    if (file.length == 0)
        return !is_named_as_library(profile_text(profile, function->name));
    return !is_source_of_library(file) ||
           (text_starts(file, "/usr/src/") && !is_in_script_package(file));
}

/* Native code beside functions made at run time. An extension whose source is known was built here. */
static bool is_of_runtime(struct text module, struct text file)
{
    return is_runtime_module(module) || contains(module, "/lib-dynload/") ||
           (file.length == 0 && is_in_script_package(module));
}

/* ---------------------------------------------------------------------------------------------- */

static bool is_own_native(const struct profile *profile, const struct profile_function *function)
{
    struct text module = module_of(profile, function);
    struct text file = profile_text(profile, function->file);
    if ((module.length == 0 && file.length == 0) ||
        text_ends(profile_text(profile, function->name), "@plt"))
        return false;
    if (module.length > 0 && is_in_system_folder(module) &&
        (is_shared_library(module) || text_starts(module, "[")))
        return false;
    return !is_source_of_library(file);
}

static bool is_own(const struct profile *profile, const struct profile_function *function,
                   bool has_jit)
{
    struct text module = module_of(profile, function);
    if (is_jit(module))
        return is_own_jit(profile, function);
    return is_own_native(profile, function) &&
           !(has_jit && is_of_runtime(module, profile_text(profile, function->file)));
}

bool my_code_mark_others(const struct profile *profile, uint8_t *marks, uint8_t bit,
                         struct err *err)
{
    bool any_place = false, any_own = false, has_jit = has_jit_functions(profile);
    for (uint32_t id = 0; id < profile->n_functions; id++) {
        const struct profile_function *function = &profile->functions[id];
        bool own = is_own(profile, function, has_jit);
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
