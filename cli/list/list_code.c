/* list_code.c - see list_code.h. The addresses of all functions in a module are asked for at once: its
 * debug information is read once. */
#include "list/list_code.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "digits.h"
#include "number.h"
#include "saturated.h"

#define BUILD_ID_MOST_BYTES 64u

VECTOR_DEFINE(vaddrs, uint64_t)

/* ---- code of modules ------------------------------------------------------------------------- */

/* Where names and lines of an address are: of a return address before it. */
static uint64_t lookup_vaddr(const struct code_key *key)
{
    return key->vaddr - key->is_return;
}

static int vaddr_compare(const void *a, const void *b)
{
    return compare_u64(*(const uint64_t *)a, *(const uint64_t *)b);
}

/* Without a build id only its date tells whether a file can be the one that ran. */
static bool file_may_be_the_one(const struct profile *profile, const char *path, struct err *err)
{
    struct stat status;
    if (profile->start_realtime_ns == 0 || stat(path, &status) != 0 ||
        (uint64_t)status.st_mtim.tv_sec * 1000000000U <= profile->start_realtime_ns)
        return true;
    err_fail(
        err, ERR_UNSUPPORTED, ERR_NO_OFFSET,
        "changed after the run began, and has no build id to tell whether its code is the same");
    return err_name_file(err, path);
}

static bool module_read(struct list_module *module, const struct profile *profile, uint32_t id,
                        const struct vaddrs *vaddrs, const struct code_options *options)
{
    uint8_t build_id[BUILD_ID_MOST_BYTES];
    struct text hex = profile_text(profile, profile->modules[id].build_id);
    struct recording_module asked = {
        .path = profile_text(profile, profile->modules[id].path),
        .build_id = {.bytes = (const char *)build_id,
                     .length = hex_bytes(hex.bytes, hex.length, build_id, sizeof build_id)},
        .image = {"", 0}};
    if (asked.path.length == 0 || *asked.path.bytes != '/')
        err_fail(&module->err, ERR_UNSUPPORTED, ERR_NO_OFFSET, "%s is no file",
                 asked.path.length == 0 ? "the module" : asked.path.bytes);
    else if (asked.build_id.length != 0 ||
             file_may_be_the_one(profile, asked.path.bytes, &module->err))
        return code_read(&asked, vaddrs->items, vaddrs->n, options, &module->code, &module->err) ||
               module->err.code != ERR_MEMORY;
    return true;
}

/* Of all rows that are of this module. */
static bool vaddrs_collect(struct vaddrs *vaddrs, const struct code_weights *weights, uint32_t id)
{
    vaddrs->n = 0;
    for (size_t i = 0; i < weights->n; i++)
        if (weights->rows[i].key.module == id)
            vaddrs_push(vaddrs, lookup_vaddr(&weights->rows[i].key));
    if (vaddrs->n > 1)
        qsort(vaddrs->items, vaddrs->n, sizeof *vaddrs->items, vaddr_compare);
    return !vaddrs->no_memory;
}

static bool modules_read(struct list_code *code, const struct profile *profile,
                         const struct code_options *options)
{
    struct vaddrs vaddrs = {0};
    bool ok = true;
    for (uint32_t id = 1; ok && id < profile->n_modules; id++) {
        code->modules[id].err = (struct err)ERR_INIT;
        ok = vaddrs_collect(&vaddrs, &code->weights, id) &&
             (vaddrs.n == 0 || module_read(&code->modules[id], profile, id, &vaddrs, options));
    }
    vaddrs_deinit(&vaddrs);
    return ok;
}

bool list_code_init(struct list_code *code, const struct profile *profile, const uint8_t *functions,
                    const struct code_options *options, struct err *err)
{
    *code = (struct list_code){.modules = NULL};
    if (!code_weights_init(&code->weights, profile, functions, err))
        return false;
    code->n_modules = profile->n_modules;
    code->modules = calloc(code->n_modules, sizeof *code->modules);
    if (code->modules == NULL || !modules_read(code, profile, options)) {
        err_fail_memory(err);
        return false;
    }
    return true;
}

void list_code_deinit(struct list_code *code)
{
    for (size_t i = 0; code->modules != NULL && i < code->n_modules; i++)
        code_destroy(code->modules[i].code);
    free(code->modules);
    code_weights_deinit(&code->weights);
}

/* ---- pieces of a function -------------------------------------------------------------------- */

static struct list_piece *piece_for(struct list_pieces *pieces, const struct code *code,
                                    const struct code_weight *row)
{
    const struct code_function *function = code_find(code, lookup_vaddr(&row->key));
    if (function == NULL)
        return NULL;
    for (size_t i = pieces->all.n; i-- > 0;)
        if (pieces->all.items[i].function == function)
            return &pieces->all.items[i];
    struct list_piece piece = {.code = code,
                               .function = function,
                               .module = row->key.module,
                               .inlined_into = row->key.inlined_into,
                               .weights = calloc(function->n + 1, sizeof *piece.weights)};
    if (piece.weights == NULL || !list_piece_vector_push(&pieces->all, piece)) {
        free(piece.weights);
        pieces->all.no_memory = true;
        return NULL;
    }
    return &pieces->all.items[pieces->all.n - 1];
}

static void row_use(struct list_pieces *pieces, const struct list_code *code,
                    const struct code_weight *row)
{
    const struct code *of_module = code->modules[row->key.module].code;
    struct list_piece *piece = of_module == NULL ? NULL : piece_for(pieces, of_module, row);
    if (piece == NULL) {
        if (pieces->missing_module == 0)
            pieces->missing_module = row->key.module;
        add_to(&pieces->self_elsewhere, row->self);
        return;
    }
    size_t at =
        code_instruction_at(of_module, piece->function, row->key.vaddr, row->key.is_return != 0);
    struct instruction_weight *weight = &piece->weights[at - piece->function->first];
    add_to(&weight->self, row->self);
    add_to(&weight->total, row->total);
    add_to(&piece->self, row->self);
    piece->total_most = max_u64(piece->total_most, weight->total);
}

static int piece_compare(const void *a, const void *b)
{
    const struct list_piece *x = a, *y = b;
    int order = compare_u64(y->self, x->self);
    if (order == 0)
        order = compare_u64(y->total_most, x->total_most);
    if (order == 0)
        order = compare_u64(x->module, y->module);
    return order != 0 ? order : compare_u64(x->function->start, y->function->start);
}

/* The first row of a function. */
static size_t rows_find(const struct code_weights *weights, uint32_t function)
{
    size_t low = 0, high = weights->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (weights->rows[middle].key.function < function)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool list_pieces_init(struct list_pieces *pieces, const struct list_code *code, uint32_t function)
{
    const struct code_weights *weights = &code->weights;
    *pieces = (struct list_pieces){.missing_module = 0};
    for (size_t i = rows_find(weights, function);
         i < weights->n && weights->rows[i].key.function == function; i++)
        row_use(pieces, code, &weights->rows[i]);
    if (pieces->all.n > 1)
        qsort(pieces->all.items, pieces->all.n, sizeof *pieces->all.items, piece_compare);
    return !pieces->all.no_memory;
}

void list_pieces_deinit(struct list_pieces *pieces)
{
    for (size_t i = 0; i < pieces->all.n; i++)
        free(pieces->all.items[i].weights);
    list_piece_vector_deinit(&pieces->all);
}
