/* fuzz_jit.c - any bytes as what a runtime says of its code: a map if the first is even, else a dump. Names
 * it gives are parts of the input. */
#include <stdint.h>
#include <stdlib.h>

#include "jit/jitdump.h"
#include "jit/perf_map.h"
#include "jit/runtime_name.h"

#define FUZZ_FIRST_PC 0x1000u
#define FUZZ_STEP_BYTES 9u
#define FUZZ_N_CODES 64u
#define FUZZ_PID 4711u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void text_check(struct text text, const char *start, size_t n)
{
    if (text.length != 0 && (text.bytes < start || text.length > n - (size_t)(text.bytes - start)))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct code_said items[FUZZ_N_CODES];
    struct codes_said codes = {.items = items, .n = FUZZ_N_CODES};
    if (size == 0)
        return 0;
    const char *start = (const char *)data + 1;
    const struct text text = {start, size - 1};
    for (size_t i = 0; i < FUZZ_N_CODES; i++)
        items[i] = (struct code_said){.pc = FUZZ_FIRST_PC + FUZZ_STEP_BYTES * i,
                                      .seen_ns = 10 * i,
                                      .name = text_make(""),
                                      .file = text_make(""),
                                      .decl_file = text_make("")};
    if (data[0] % 2 == 0)
        perf_map_read(text, &codes);
    else
        (void)jitdump_read(text, FUZZ_PID, &codes);
    for (size_t i = 0; i < FUZZ_N_CODES; i++) {
        struct runtime_name name = runtime_name_split(items[i].name);
        text_check(name.name, start, text.length);
        text_check(name.file, start, text.length);
        text_check(name.place, start, text.length);
        text_check(name.identity, start, text.length);
        text_check(items[i].file, start, text.length);
        text_check(items[i].decl_file, start, text.length);
    }
    return 0;
}
