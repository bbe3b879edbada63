/* modules.c - modules that lack names or lines: which, and what would help; see account.h. Only
 * those that weigh something are named: a system library without debug symbols that took 0.1 %
 * is no news. */
#include <stdio.h>
#include <string.h>

#include "account/account.h"

/* Less than this share of the weight without debug information is not worth words. */
#define MISSING_SHARE 0.05
/* Nor is a single module with less than this. */
#define MODULE_SHARE 0.01
#define MAX_MODULE_LINES 8u

bool account_module_lacks(const struct account_module *module)
{
    return module->source < (module->is_image ? MODULE_DYNSYM : MODULE_DWARF);
}

const char *account_module_advice(const struct account_module *module, char *out, size_t out_bytes)
{
    out[0] = '\0';
    if (!account_module_lacks(module) || strcmp(module->problem, MODULE_PROBLEM_NO_DEBUG) != 0)
        return out; /* what else there is says by itself what to do */
    if (module->build_id != NULL && module->build_id[0] != '\0')
        snprintf(
            out, out_bytes,
            "install the debug symbols of its package (Debian: NAME-dbgsym or NAME-dbg), or put "
            "them at /usr/lib/debug/.build-id/%.2s/%s.debug",
            module->build_id, module->build_id + 2);
    else
        snprintf(out, out_bytes, "build it with -g, or install the debug symbols of its package");
    return out;
}

void account_tell_missing(const struct account *account,
                          void (*tell)(void *context, const char *line), void *context)
{
    uint64_t missing_ns = 0;
    double all_ns = (double)account->all.weight_ns;
    for (size_t i = 0; i < account->modules.n; i++) {
        const struct account_module *module = &account->modules.items[i];
        if (account_module_lacks(module))
            missing_ns += module->self_ns;
    }
    if (missing_ns == 0 || (double)missing_ns < MISSING_SHARE * all_ns)
        return;
    unsigned n_lines = 0;
    bool is_to_install = false;
    for (size_t i = 0; i < account->modules.n && n_lines < MAX_MODULE_LINES; i++) {
        const struct account_module *module = &account->modules.items[i];
        if (!account_module_lacks(module) || (double)module->self_ns < MODULE_SHARE * all_ns)
            continue;
        char line[1024];
        snprintf(line, sizeof line, "%.1f %% of the weight is in %s: %s (%s)",
                 100.0 * (double)module->self_ns / all_ns, module->path,
                 account_source_word(module->source)->words, module->problem);
        tell(context, line);
        n_lines++;
        is_to_install = is_to_install || strcmp(module->problem, MODULE_PROBLEM_NO_DEBUG) == 0;
    }
    if (is_to_install)
        tell(context, "install their packages' debug symbols (Debian: NAME-dbgsym or NAME-dbg), or "
                      "build them with -g, for lines and inlined functions; `sampler report "
                      "--account` lists what each lacks");
}
