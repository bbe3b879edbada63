/* dwarf_compare.c - see dwarf_compare.h. */
#include "dwarf_compare.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "names/dwarf_names.h"

#define MAX_TOLD 5u

static bool said_init(struct dwarf_said *said, size_t n)
{
    *said = (struct dwarf_said){.n = n};
    said->arena = arena_create();
    said->texts = said->arena == NULL ? NULL : intern_create(said->arena);
    said->chains = calloc(n + 1, sizeof *said->chains);
    return said->texts != NULL && said->chains != NULL;
}

bool dwarf_said_by_index(struct dwarf_said *said, const struct dwarf_index *index,
                         const uint64_t *vaddrs, size_t n)
{
    if (!said_init(said, n))
        return false;
    const struct dwarf_names_result result = {said->chains, &said->frames, said->texts};
    return dwarf_index_find(index, vaddrs, n, &result);
}

bool dwarf_said_by_libdw(struct dwarf_said *said, const struct elf_file *file,
                         const uint64_t *vaddrs, size_t n)
{
    if (!said_init(said, n))
        return false;
    const struct dwarf_names_result result = {said->chains, &said->frames, said->texts};
    Dwarf *dwarf = dwarf_begin_elf(file->elf, DWARF_C_READ, NULL);
    bool done = dwarf == NULL || dwarf_names_find(dwarf, vaddrs, n, &result);
    dwarf_end(dwarf);
    return done;
}

void dwarf_said_drop(struct dwarf_said *said)
{
    chain_frames_deinit(&said->frames);
    intern_destroy(said->texts);
    arena_destroy(said->arena);
    free(said->chains);
    *said = (struct dwarf_said){.n = 0};
}

const char *dwarf_said_text(const struct dwarf_said *said, uint32_t id)
{
    return intern_text(said->texts, id).bytes;
}

static bool texts_equal(const struct dwarf_said *a, uint32_t a_id, const struct dwarf_said *b,
                        uint32_t b_id)
{
    return strcmp(dwarf_said_text(a, a_id), dwarf_said_text(b, b_id)) == 0;
}

static bool frames_equal(const struct dwarf_said *a, const struct chain_frame *x,
                         const struct dwarf_said *b, const struct chain_frame *y)
{
    return texts_equal(a, x->name, b, y->name) && texts_equal(a, x->file, b, y->file) &&
           x->line == y->line && x->column == y->column &&
           texts_equal(a, x->decl_file, b, y->decl_file) && x->decl_line == y->decl_line &&
           x->entry == y->entry && x->inlined == y->inlined && x->unmangled == y->unmangled;
}

static bool chains_equal(const struct dwarf_said *a, const struct chain *x,
                         const struct dwarf_said *b, const struct chain *y)
{
    if (x->n != y->n)
        return false;
    for (uint32_t i = 0; i < x->n; i++) {
        if (!frames_equal(a, &a->frames.items[x->first + i], b, &b->frames.items[y->first + i]))
            return false;
    }
    return true;
}

static void chain_tell(const char *who, const struct dwarf_said *said, const struct chain *chain,
                       FILE *out)
{
    for (uint32_t i = 0; i < chain->n; i++) {
        const struct chain_frame *frame = &said->frames.items[chain->first + i];
        fprintf(
            out, "  %s %s %s:%" PRIu32 ":%" PRIu32 " of %s:%" PRIu32 " entry 0x%" PRIx64 "%s%s\n",
            who, dwarf_said_text(said, frame->name), dwarf_said_text(said, frame->file),
            frame->line, frame->column, dwarf_said_text(said, frame->decl_file), frame->decl_line,
            frame->entry, frame->inlined ? " inlined" : "", frame->unmangled ? " unmangled" : "");
    }
}

size_t dwarf_said_differ(const struct dwarf_said *ours, const struct dwarf_said *theirs,
                         const uint64_t *vaddrs, FILE *out)
{
    size_t n_differ = 0;
    for (size_t i = 0; i < ours->n; i++) {
        if (chains_equal(ours, &ours->chains[i], theirs, &theirs->chains[i]))
            continue;
        if (n_differ++ >= MAX_TOLD)
            continue;
        fprintf(out, "0x%" PRIx64 "\n", vaddrs[i]);
        chain_tell("ours ", ours, &ours->chains[i], out);
        chain_tell("libdw", theirs, &theirs->chains[i], out);
    }
    return n_differ;
}
