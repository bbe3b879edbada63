/* symbolize_addresses.c - what symbolize/ says of the addresses of one ELF file, for comparison
 * with other tools (tests/e2e/compare_symbolizer.py).
 *
 *   symbolize_addresses [--raw|--full|--short] [--times] [--cache] FILE  <addresses in hexadecimal, one a
 * line
 *
 * For each address, in the order asked: a line "name TAB file TAB line TAB column" per frame,
 * inlined ones first, then an empty line. Code without a name is "??". With --times, seconds and
 * peak memory on stderr. With --cache, indexes are kept and used as the tools do. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include "array.h"
#include "files/elf_file.h"
#include "names/module.h"
#include "names/names.h"

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
               frame->nameless || name[0] == '\0' ? "??" : demangle(name, mode, buffer),
               intern_text(symbols->texts, frame->file).bytes, frame->line, frame->column);
    }
    putchar('\n');
}

/* What a recording would say of the file. `build_id` is the storage of the module's. */
static bool module_describe(const char *path, struct recording_module *module, char *build_id,
                            size_t build_id_bytes, struct err *err)
{
    struct elf_file *file;
    if (!elf_file_open(path, &file, err))
        return false;
    struct text found = elf_file_build_id(file);
    size_t length = found.length < build_id_bytes ? found.length : build_id_bytes;
    if (length != 0 && found.bytes != NULL)
        memcpy(build_id, found.bytes, length);
    *module = (struct recording_module){
        .path = {path, strlen(path)},
        .build_id = {build_id, length},
        .image = {"", 0},
        .dev = file->status.st_dev,
        .ino = file->status.st_ino,
        .size_bytes = (uint64_t)file->status.st_size,
        .mtime_s = (uint64_t)file->status.st_mtim.tv_sec,
    };
    elf_file_close(file);
    return true;
}

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void times_print(const struct module_symbols *symbols, double seconds)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    fprintf(stderr, "%zu addresses, %.3f s, %ld kB; from %s; %s\n", symbols->n_chains, seconds,
            usage.ru_maxrss, symbols->debug_path, symbols->problem);
}

static bool chains_print(const struct module_symbols *symbols, const struct array *asked,
                         const uint64_t *sorted, enum names_mode mode, struct err *err)
{
    struct names_buffer *buffer = malloc(sizeof *buffer);
    if (buffer == NULL)
        return err_fail_memory(err);
    for (size_t i = 0; sorted != NULL && i < asked->n; i++) {
        const uint64_t *found =
            bsearch(array_at(asked, i), sorted, symbols->n_chains, sizeof *sorted, vaddr_compare);
        if (found != NULL)
            chain_print(symbols, &symbols->chains[found - sorted], mode, buffer);
    }
    free(buffer);
    return true;
}

static bool run(const char *path, enum names_mode mode, bool times, struct symbol_cache *cache,
                struct err *err)
{
    struct array asked;
    array_init(&asked, sizeof(uint64_t));
    struct recording_module module;
    char build_id[64];
    struct module_symbols *symbols = NULL;
    size_t n = 0;
    bool done = vaddrs_read(&asked) || err_fail_memory(err);
    uint64_t *sorted = done ? vaddrs_sort(&asked, &n) : NULL;
    if (sorted == NULL)
        done = err_fail_memory(err);
    const struct symbol_sources sources = {.cache = cache};
    double start = seconds_now();
    done = done && module_describe(path, &module, build_id, sizeof build_id, err) &&
           module_symbolize(&module, &sources, sorted, n, &symbols, err);
    if (done && times)
        times_print(symbols, seconds_now() - start);
    done = done && chains_print(symbols, &asked, sorted, mode, err);
    module_symbols_destroy(symbols);
    free(sorted);
    array_deinit(&asked);
    return done;
}

int main(int argc, char **argv)
{
    enum names_mode mode = NAMES_FULL;
    bool times = false;
    bool keeps = false;
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
        else if (strcmp(argv[i], "--cache") == 0)
            keeps = true;
        else
            path = argv[i]; /* what else it may be, it is not a file: said below */
    }
    struct err err = ERR_INIT;
    char text[600];
    if (path == NULL)
        err_fail(&err, ERR_USAGE, ERR_NO_OFFSET, "which file?");
    struct symbol_cache *cache = keeps ? symbol_cache_open(CACHE_LIMIT_BYTES) : NULL;
    bool done = path != NULL && run(path, mode, times, cache, &err);
    symbol_cache_close(cache);
    if (done)
        return 0;
    fprintf(stderr, "symbolize_addresses: %s\n", err_describe(&err, text, sizeof text));
    return 1;
}
