/* modules.c - modules that lack names or lines: which do, and what would help; see account.h. */
#include <stdio.h>
#include <string.h>

#include "account/account.h"

bool account_module_lacks(const struct account_module *module)
{
    return !module->is_made && module->source < (module->is_vdso ? MODULE_DYNSYM : MODULE_DWARF);
}

const char *account_module_advice(const struct account_module *module, char *out, size_t out_bytes)
{
    out[0] = '\0';
    if (module->is_made && module->source == MODULE_NO_NAMES && module->problem[0] == '\0')
        snprintf(out, out_bytes,
                 "sampler-run --jit has node, Java, Python, .NET and Erlang name it");
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
