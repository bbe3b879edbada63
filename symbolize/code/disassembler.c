/* disassembler.c - see disassembler.h. */
#include "code/disassembler.h"

#include <capstone.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_OF(x) #x
#define TEXT_OF_VALUE(x) TEXT_OF(x)
#define LIBRARY "libcapstone.so." TEXT_OF_VALUE(CS_API_MAJOR)

struct disassembler {
    void *library;
    csh handle;
    __typeof__(&cs_open) open;
    __typeof__(&cs_close) close;
    __typeof__(&cs_option) option;
    __typeof__(&cs_disasm_iter) next;
};

/* A function of the library; memcpy, because ISO C knows no way from an object to a function. */
static bool function_find(void *library, const char *name, void *out)
{
    void *found = dlsym(library, name);
    memcpy(out, &found, sizeof found);
    return found != NULL;
}

static bool library_load(struct disassembler *disassembler)
{
    disassembler->library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    void *library = disassembler->library;
    return library != NULL && function_find(library, "cs_open", &disassembler->open) &&
           function_find(library, "cs_close", &disassembler->close) &&
           function_find(library, "cs_option", &disassembler->option) &&
           function_find(library, "cs_disasm_iter", &disassembler->next);
}

static bool handle_open(struct disassembler *disassembler, bool is_intel)
{
    if (disassembler->open(CS_ARCH_X86, CS_MODE_64, &disassembler->handle) != CS_ERR_OK)
        return false;
    size_t syntax = is_intel ? CS_OPT_SYNTAX_INTEL : CS_OPT_SYNTAX_ATT;
    return disassembler->option(disassembler->handle, CS_OPT_SYNTAX, syntax) == CS_ERR_OK &&
           disassembler->option(disassembler->handle, CS_OPT_DETAIL, CS_OPT_ON) == CS_ERR_OK;
}

bool disassembler_create(bool is_intel, struct disassembler **out, struct err *err)
{
    struct disassembler *disassembler = calloc(1, sizeof *disassembler);
    if (disassembler == NULL)
        return err_fail_memory(err);
    bool is_loaded = library_load(disassembler);
    if (is_loaded && handle_open(disassembler, is_intel)) {
        *out = disassembler;
        return true;
    }
    disassembler_destroy(disassembler);
    return err_fail(err, ERR_UNSUPPORTED, ERR_NO_OFFSET,
                    is_loaded
                        ? LIBRARY " knows no x86-64 code"
                        : "instructions are shown by " LIBRARY
                          ", which is not here: install it (Debian: libcapstone" TEXT_OF_VALUE(
                              CS_API_MAJOR) ")");
}

void disassembler_destroy(struct disassembler *disassembler)
{
    if (disassembler == NULL)
        return;
    if (disassembler->handle != 0)
        (void)disassembler->close(&disassembler->handle);
    if (disassembler->library != NULL)
        (void)dlclose(disassembler->library);
    free(disassembler);
}

static bool is_of_group(const cs_detail *detail, unsigned group)
{
    for (size_t i = 0; i < detail->groups_count; i++)
        if (detail->groups[i] == group)
            return true;
    return false;
}

void disassemble(const struct disassembler *disassembler, const uint8_t *bytes, size_t n,
                 uint64_t vaddr, struct disassembled *out)
{
    cs_detail detail;
    cs_insn instruction = {.detail = &detail};
    uint64_t at = vaddr;
    const uint8_t *code = bytes;
    *out = (struct disassembled){.size_bytes = 1, .mnemonic = ".byte"};
    if (!disassembler->next(disassembler->handle, &code, &n, &at, &instruction)) {
        snprintf(out->operands, sizeof out->operands, "0x%02x", *bytes);
        return;
    }
    out->size_bytes = instruction.size;
    out->enters_kernel = is_of_group(&detail, CS_GRP_INT);
    out->calls = out->enters_kernel || is_of_group(&detail, CS_GRP_CALL);
    snprintf(out->mnemonic, sizeof out->mnemonic, "%s", instruction.mnemonic);
    bool may_jump = is_of_group(&detail, CS_GRP_CALL) || is_of_group(&detail, CS_GRP_JUMP);
    if (may_jump && detail.x86.op_count == 1 && detail.x86.operands[0].type == X86_OP_IMM) {
        out->has_target = true;
        out->target = (uint64_t)detail.x86.operands[0].imm;
    } else {
        snprintf(out->operands, sizeof out->operands, "%s", instruction.op_str);
    }
}
