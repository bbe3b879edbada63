/* compare_dwarf.c - what symbolize/dwarf/ says of all addresses of files beside what libdw says, each
 * field of each frame (tests/e2e/symbols/test_dwarf.py).
 *
 *   compare_dwarf [--times] FILE...
 *
 * For each file a line: "ours", "not for us" or "too large", and for ours the numbers of addresses, of
 * frames, of inlined ones among them, and of addresses that differ. Status 1 if any differs. Files of
 * more than MAX_VADDRS addresses are looked at in equal steps. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "dwarf_compare.h"

#define MAX_VADDRS 200000u

VECTOR_DEFINE(vaddr_list, uint64_t)

/* Of all sections with code. */
static uint64_t code_bytes(const struct elf_file *file)
{
    uint64_t n = 0;
    GElf_Shdr header;
    for (Elf_Scn *scn = elf_nextscn(file->elf, NULL); scn != NULL;
         scn = elf_nextscn(file->elf, scn)) {
        if (gelf_getshdr(scn, &header) != NULL && (header.sh_flags & SHF_EXECINSTR) != 0)
            n += header.sh_size;
    }
    return n;
}

static int vaddr_compare(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left;
    uint64_t b = *(const uint64_t *)right;
    return a < b ? -1 : a > b;
}

static void vaddrs_fill(const struct elf_file *file, struct vaddr_list *vaddrs)
{
    uint64_t step = code_bytes(file) / MAX_VADDRS + 1;
    GElf_Shdr header;
    for (Elf_Scn *scn = elf_nextscn(file->elf, NULL); scn != NULL;
         scn = elf_nextscn(file->elf, scn)) {
        if (gelf_getshdr(scn, &header) == NULL || (header.sh_flags & SHF_EXECINSTR) == 0)
            continue;
        for (uint64_t at = 0; at < header.sh_size; at += step)
            vaddr_list_push(vaddrs, header.sh_addr + at);
    }
    if (vaddrs->n > 1)
        qsort(vaddrs->items, vaddrs->n, sizeof *vaddrs->items, vaddr_compare);
}

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static size_t n_inlined(const struct dwarf_said *said)
{
    size_t n = 0;
    for (size_t i = 0; i < said->frames.n; i++)
        n += said->frames.items[i].inlined;
    return n;
}

/* Both ways over the addresses; false if they differ. */
static bool both_compare(const struct elf_file *file, const struct dwarf_index *index,
                         const struct vaddr_list *vaddrs, double built_s, bool times)
{
    struct dwarf_said ours;
    struct dwarf_said theirs;
    double start_s = now_s();
    bool done = dwarf_said_by_index(&ours, index, vaddrs->items, vaddrs->n);
    double found_s = now_s();
    done = dwarf_said_by_libdw(&theirs, file, vaddrs->items, vaddrs->n) && done;
    double libdw_s = now_s();
    size_t n_differ = dwarf_said_differ(&ours, &theirs, vaddrs->items, stdout);
    printf("ours: %zu addresses, %zu frames, %zu inlined, %zu differ, %" PRIu32 " damaged\n",
           vaddrs->n, ours.frames.n, n_inlined(&ours), n_differ, dwarf_index_n_damaged(index));
    if (times)
        printf("  built in %.3f s, found in %.3f s; libdw %.3f s\n", built_s, found_s - start_s,
               libdw_s - found_s);
    dwarf_said_drop(&ours);
    dwarf_said_drop(&theirs);
    return done && n_differ == 0;
}

static bool file_compare(const char *path, bool times)
{
    struct elf_file *file;
    struct err err = ERR_INIT;
    char text[400];
    if (!elf_file_open(path, &file, &err)) {
        printf("%s: %s\n", path, err_describe(&err, text, sizeof text));
        return false;
    }
    struct dwarf_index index = {.block = NULL};
    struct vaddr_list vaddrs = {.items = NULL};
    bool done = true;
    double start_s = now_s();
    enum index_outcome outcome = dwarf_index_build(file, &index);
    double built_s = now_s() - start_s;
    vaddrs_fill(file, &vaddrs);
    switch (outcome) {
    case INDEX_DONE:
        done = both_compare(file, &index, &vaddrs, built_s, times);
        break;
    case INDEX_NOT_FOR_US:
        printf("not for us\n");
        break;
    case INDEX_TOO_LARGE:
        printf("too large\n");
        break;
    case INDEX_NO_MEMORY:
        done = false;
        break;
    }
    vaddr_list_deinit(&vaddrs);
    dwarf_index_deinit(&index);
    elf_file_close(file);
    return done;
}

int main(int argc, char **argv)
{
    bool times = argc > 1 && strcmp(argv[1], "--times") == 0;
    bool same = true;
    for (int i = times ? 2 : 1; i < argc; i++)
        same = file_compare(argv[i], times) && same;
    return same ? 0 : 1;
}
