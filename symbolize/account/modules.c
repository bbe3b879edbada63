/* modules.c - modules that lack names or lines: which do, and what would help; see account.h. */
#include <stdlib.h>
#include <string.h>

#include "account/account.h"
#include "account/closing.h"
#include "packages/packages.h"
#include "text.h"

bool account_module_lacks(const struct account_module *module)
{
    enum module_source enough = module->is_vdso ? MODULE_DYNSYM : MODULE_DWARF;
    return !module->is_made && (module->source < enough || module->is_partly);
}

static bool weighs(const struct account *account, const struct account_module *module)
{
    return module->self_ns > 0 &&
           (double)module->self_ns >= ACCOUNT_MODULE_SHARE * (double)account->all.weight_ns;
}

/* Whether there may be debug information of it: other problems say themselves what to do. */
static bool lacks_debug(const struct account_module *module)
{
    return account_module_lacks(module) && !module->is_vdso &&
           (module->is_partly || text_starts(text_make(module->problem), MODULE_PROBLEM_NO_DEBUG));
}

/* One query for each module that is not advised yet, in the order of the modules. */
static size_t queries_make(const struct account *account, struct package_query *queries)
{
    size_t n = 0;
    for (size_t i = 0; i < account->modules.n; i++) {
        const struct account_module *module = &account->modules.items[i];
        if (weighs(account, module) && lacks_debug(module))
            queries[n++] =
                (struct package_query){.path = module->path, .build_id = module->build_id};
    }
    return n;
}

static bool answers_take(struct account *account, const struct package_query *queries)
{
    size_t n = 0;
    for (size_t i = 0; i < account->modules.n; i++) {
        struct account_module *module = &account->modules.items[i];
        if (!weighs(account, module))
            continue;
        if (module->is_made && module->source == MODULE_NO_NAMES && module->problem[0] == '\0')
            module->advice = "sampler-run --jit has node, Java, Python, .NET and Erlang name it";
        if (!lacks_debug(module))
            continue;
        const char *advice = queries[n++].advice;
        module->advice = arena_text(account->arena, advice, strlen(advice));
        if (module->advice == NULL) {
            module->advice = "";
            return false;
        }
    }
    return true;
}

bool account_advise(struct account *account, const struct symbol_sources *sources)
{
    const struct packages_system system = {.root = "",
                                           .has_servers = sources->places.servers != NULL,
                                           .is_kept = sources->cache != NULL};
    if (account_result(account) != ACCOUNT_SAMPLED)
        return true; /* shares of a few samples are chance */
    struct package_query *queries = calloc(account->modules.n + 1, sizeof *queries);
    if (queries == NULL)
        return false;
    size_t n = queries_make(account, queries);
    if (n > 0)
        packages_advise(&system, queries, n);
    bool done = answers_take(account, queries);
    free(queries);
    return done;
}
