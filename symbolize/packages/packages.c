/* packages.c - see packages.h. */
#include "packages/packages.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "append.h"
#include "packages/apt.h"
#include "packages/distribution.h"
#include "packages/dpkg.h"
#include "packages/file_package.h"
#include "packages/kept.h"
#include "packages/rpm.h"
#include "text.h"

static bool is_there(const char *root, const char *name)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s%s", root, name);
    return access(path, F_OK) == 0;
}

/* Whether the system keeps account of which package its files are of. */
enum keeper { KEEPER_NONE, KEEPER_DPKG, KEEPER_RPM };

static enum keeper keeper_find(const char *root)
{
    if (is_there(root, "/var/lib/dpkg/status"))
        return KEEPER_DPKG;
    return is_there(root, "/usr/lib/sysimage/rpm") || is_there(root, "/var/lib/rpm") ? KEEPER_RPM
                                                                                     : KEEPER_NONE;
}

static bool is_any_known(const struct file_package *files, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (files[i].package[0] != '\0')
            return true;
    return false;
}

/* False: who should know did not answer. */
static bool find(const char *root, enum keeper keeper, struct file_package *files, size_t n)
{
    if (keeper == KEEPER_RPM)
        return rpm_find_packages(root, files, n);
    if (keeper == KEEPER_NONE)
        return true;
    return dpkg_find_packages(root, files, n) &&
           (!is_any_known(files, n) || apt_find_debug_packages(root, files, n));
}

/* Whether a file lies where packages put theirs. */
static bool is_of_the_system(const char *path)
{
    static const char *const folders[] = {"/usr/", "/lib", "/bin/", "/sbin/"};
    if (text_starts(text_make(path), "/usr/local/"))
        return false;
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++)
        if (text_starts(text_make(path), folders[i]))
            return true;
    return false;
}

static void say_apt(const struct file_package *file, char *out, size_t *used)
{
    append(out, PACKAGES_ADVICE_BYTES, used, "apt install %s", file->debug_package);
    if (file->n_debug_versions > 1 && file->debug_version[0] != '\0')
        append(out, PACKAGES_ADVICE_BYTES, used, "=%s", file->debug_version);
    if (file->is_debug_other)
        append(out, PACKAGES_ADVICE_BYTES, used,
               ", which brings another version of %s; profile again then", file->package);
}

/* As people do it there, whether or not there is such a package. */
static void say_custom(const struct distribution *distribution, const char *package, char *out,
                       size_t *used)
{
    append(out, PACKAGES_ADVICE_BYTES, used, "%s%s%s", distribution->install, package,
           distribution->suffix);
    if (distribution->archive != NULL)
        append(out, PACKAGES_ADVICE_BYTES, used, " (archive: %s)", distribution->archive);
}

/* `is_packaged`: the file is in a package, whether or not its name is known. */
static void say(const struct distribution *distribution, const struct file_package *file,
                bool is_packaged, bool has_servers, char *out)
{
    size_t used = 0;
    bool is_at_hand = file->debug_match != DEBUG_MATCH_NONE && !file->is_debug_other;
    bool is_custom = file->package[0] != '\0' && distribution->install != NULL;
    out[0] = '\0';
    if (is_packaged && !is_at_hand && !has_servers)
        append(out, PACKAGES_ADVICE_BYTES, &used, "set DEBUGINFOD_URLS=%s", distribution->server);
    if (used > 0 && (file->debug_match != DEBUG_MATCH_NONE || is_custom))
        append(out, PACKAGES_ADVICE_BYTES, &used, ", or ");
    if (file->debug_match != DEBUG_MATCH_NONE)
        say_apt(file, out, &used);
    else if (is_custom)
        say_custom(distribution, file->package, out, &used);
    if (used == 0)
        append(out, PACKAGES_ADVICE_BYTES, &used,
               "build it with -g, or name the folder of its debug file by --debug-dir");
}

/* Finds out the advice of those whose numbers are `unknown`. False: not all that could be known is in it. */
static bool advise(const struct packages_system *system, struct package_query *queries,
                   const size_t *unknown, size_t n)
{
    const struct distribution *distribution = distribution_find(system->root);
    enum keeper keeper = keeper_find(system->root);
    struct file_package *files = calloc(n + 1, sizeof *files);
    if (files == NULL)
        return false;
    for (size_t i = 0; i < n; i++)
        files[i] = (struct file_package){.path = queries[unknown[i]].path,
                                         .build_id = queries[unknown[i]].build_id};
    bool ok = find(system->root, keeper, files, n);
    for (size_t i = 0; i < n; i++) {
        bool is_packaged = ok && keeper != KEEPER_NONE ? files[i].package[0] != '\0'
                                                       : is_of_the_system(files[i].path);
        say(distribution, &files[i], is_packaged, system->has_servers, queries[unknown[i]].advice);
    }
    free(files);
    return ok;
}

void packages_advise(const struct packages_system *system, struct package_query *queries, size_t n)
{
    struct kept kept;
    size_t *unknown = calloc(n + 1, sizeof *unknown);
    size_t n_unknown = 0;
    kept_open(&kept, system);
    for (size_t i = 0; i < n; i++) {
        queries[i].advice[0] = '\0';
        if (!kept_find(&kept, &queries[i]) && unknown != NULL)
            unknown[n_unknown++] = i;
    }
    bool is_sure = n_unknown > 0 && advise(system, queries, unknown, n_unknown);
    for (size_t i = 0; i < n_unknown && is_sure; i++)
        kept_add(&kept, &queries[unknown[i]]);
    kept_close(&kept);
    free(unknown);
}
