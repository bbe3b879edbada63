/* cfi_rows.c - our rows for addresses of a library, as text that compares with readelf's.
 *
 *   cfi_rows LIBRARY <ADDRESSES        each line a hexadecimal vaddr
 *
 * Prints per address: the address, the cfa, and NAME=RULE for each register that has a rule, in the
 * notation of `readelf --debug-dump=frames-interp`; "none" where there is no row. */
#include <dlfcn.h>
#include <inttypes.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>

#include "cfi/cfi.h"
#include "unwind/modules.h"

static const char *const names[ARCH_N_REGISTERS] = {
    "rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8",
    "r9",  "r10", "r11", "r12", "r13", "r14", "r15", "ra",
};

static void rule_print(const char *name, const struct cfi_rule *rule)
{
    switch ((enum cfi_rule_kind)rule->kind) {
    case CFI_SAME:
    case CFI_UNDEFINED:
        break;
    case CFI_OFFSET:
        printf(" %s=c%+" PRId64, name, rule->offset);
        break;
    case CFI_VAL_OFFSET:
        printf(" %s=v%+" PRId64, name, rule->offset);
        break;
    case CFI_REGISTER:
        printf(" %s=%s", name, names[rule->reg]);
        break;
    case CFI_EXPRESSION:
        printf(" %s=exp", name);
        break;
    case CFI_VAL_EXPRESSION:
        printf(" %s=vexp", name);
        break;
    }
}

static void row_print(const struct module *module, uint64_t vaddr)
{
    static struct cfi_workspace workspace;
    struct cfi_fde fde;
    struct cfi_row row;
    uint64_t pc = vaddr + module->bias;
    printf("%016" PRIx64, vaddr);
    if (!cfi_fde_find(&module->segments, module->eh_frame_hdr, pc, &fde) ||
        !cfi_row_find(&fde, pc, &workspace, &row)) {
        printf(" none\n");
        return;
    }
    if (row.cfa.kind == CFI_VAL_EXPRESSION)
        printf(" exp");
    else
        printf(" %s%+" PRId64, names[row.cfa.reg], row.cfa.offset);
    for (unsigned i = 0; i < ARCH_N_REGISTERS; i++)
        rule_print(names[i], &row.rules[i]);
    printf("\n");
}

int main(int argc, char **argv)
{
    char line[64];
    void *library = argc > 1 ? dlopen(argv[1], RTLD_LAZY | RTLD_LOCAL) : NULL;
    struct link_map *map = NULL;
    if (library == NULL || dlinfo(library, RTLD_DI_LINKMAP, &map) != 0) {
        fprintf(stderr, "cfi_rows: %s\n", argc > 1 ? dlerror() : "LIBRARY is missing");
        return 2;
    }
    modules_init();
    const struct module *module = modules_find((uint64_t)map->l_ld);
    if (module == NULL || module->eh_frame_hdr == 0) {
        fprintf(stderr, "cfi_rows: no .eh_frame_hdr\n");
        return 2;
    }
    while (fgets(line, sizeof line, stdin) != NULL)
        row_print(module, strtoull(line, NULL, 16));
    return 0;
}
