/* symbolize_addresses.c - what symbolize/ says of the addresses of one ELF file, for comparison
 * with other tools (tests/e2e/compare_symbolizer.py).
 *
 *   symbolize_addresses [--raw|--full|--short] [--times] FILE  <addresses in hexadecimal, one a
 * line
 *
 * For each address, in the order asked: a line "name TAB file TAB line TAB column" per frame,
 * inlined ones first, then an empty line. No name is "??". With --times, seconds and peak memory on
 * stderr. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include "array.h"
#include "elf_file.h"
#include "module.h"
#include "names.h"

static int vaddr_compare(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left;
    uint64_t b = *(const uint64_t *)right;
    return a < b ? -1 : a > b;
}

/* The addresses of stdin in their order. */
static bool vaddrs_read(struct array *vaddrs)
{
    char line[64];
    while (fgets(line, sizeof line, stdin) != NULL) {
        uint64_t *vaddr = array_push(vaddrs);
        if (vaddr == NULL)
            return false;
        *vaddr = strtoull(line, NULL, 16);
    }
    return true;
}

/* A sorted copy without repetitions; heap. */
static uint64_t *vaddrs_sort(const struct array *vaddrs, size_t *n)
{
    uint64_t *sorted = calloc(vaddrs->n + 1, sizeof *sorted);
    *n = 0;
    if (sorted == NULL || vaddrs->n == 0)
        return sorted;
    memcpy(sorted, vaddrs->items, vaddrs->n * sizeof *sorted);
    qsort(sorted, vaddrs->n, sizeof *sorted, vaddr_compare);
    for (size_t i = 0; i < vaddrs->n; i++) {
        if (i == 0 || sorted[i] != sorted[*n - 1])
            sorted[(*n)++] = sorted[i];
    }
    return sorted;
}

static void chain_print(const struct module_symbols *symbols, const struct chain *chain,
                        enum names_mode mode, struct names_buffer *buffer)
{
    if (chain->n == 0)
        puts("??\t\t0\t0");
    for (uint32_t i = 0; i < chain->n; i++) {
        const struct chain_frame *frame = &symbols->frames[chain->first + i];
        const char *name = intern_text(symbols->texts, frame->name).bytes;
        printf("%s\t%s\t%" PRIu32 "\t%" PRIu32 "\n",
               name[0] == '\0' ? "??" : demangle(name, mode, buffer),
               intern_text(symbols->texts, frame->file).bytes, frame->line, frame->column);
    }
    putchar('\n');
}

static bool module_describe(const char *path, struct recording_module *module, struct err *err)
{
    struct elf_file *file;
    if (!elf_file_open(path, &file, err))
        return false;
    *module = (struct recording_module){
        .path = {path, strlen(path)},
        .build_id = {"", 0},
        .image = {"", 0},
        .dev = file->status.st_dev,
        .ino = file->status.st_ino,
        .size_bytes = (uint64_t)file->status.st_size,
        .mtime_s = (uint64_t)file->status.st_mtim.tv_sec,
    };
    struct text build_id = elf_file_build_id(file);
    char *copy = malloc(build_id.length + 1);
    if (copy != NULL) {
        memcpy(copy, build_id.bytes, build_id.length);
        module->build_id = (struct text){copy, build_id.length};
    }
    elf_file_close(file);
    return copy != NULL || err_fail_memory(err);
}

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static bool run(const char *path, enum names_mode mode, bool times, struct err *err)
{
    struct array vaddrs;
    array_init(&vaddrs, sizeof(uint64_t));
    struct recording_module module;
    struct names_buffer *buffer = malloc(sizeof *buffer);
    if (buffer == NULL || !vaddrs_read(&vaddrs))
        return err_fail_memory(err);
    if (!module_describe(path, &module, err))
        return false;
    size_t n;
    uint64_t *sorted = vaddrs_sort(&vaddrs, &n);
    double start = seconds_now();
    struct module_symbols *symbols;
    if (sorted == NULL)
        return err_fail_memory(err);
    if (!module_symbolize(&module, NULL, sorted, n, &symbols, err))
        return false;
    double seconds = seconds_now() - start;
    for (size_t i = 0; i < vaddrs.n; i++) {
        const uint64_t *found =
            bsearch(array_at(&vaddrs, i), sorted, n, sizeof *sorted, vaddr_compare);
        chain_print(symbols, &symbols->chains[found - sorted], mode, buffer);
    }
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    if (times)
        fprintf(stderr, "%zu addresses, %.3f s, %ld kB; from %s; %s\n", n, seconds, usage.ru_maxrss,
                symbols->debug_path, symbols->problem);
    module_symbols_destroy(symbols);
    free((void *)(uintptr_t)module.build_id.bytes);
    free(sorted);
    free(buffer);
    array_deinit(&vaddrs);
    return true;
}

int main(int argc, char **argv)
{
    enum names_mode mode = NAMES_FULL;
    bool times = false;
    const char *path = NULL;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--raw") == 0)
            mode = NAMES_RAW;
        else if (strcmp(argv[i], "--full") == 0)
            mode = NAMES_FULL;
        else if (strcmp(argv[i], "--short") == 0)
            mode = NAMES_SHORT;
        else if (strcmp(argv[i], "--times") == 0)
            times = true;
        else
            path = argv[i];
    }
    struct err err = ERR_INIT;
    char text[600];
    if (path == NULL)
        err_fail(&err, ERR_USAGE, ERR_NO_OFFSET, "which file?");
    if (path != NULL && run(path, mode, times, &err))
        return 0;
    fprintf(stderr, "symbolize_addresses: %s\n", err_describe(&err, text, sizeof text));
    return 1;
}
