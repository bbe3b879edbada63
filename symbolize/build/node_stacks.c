/* node_stacks.c - see node_stacks.h.
 *
 * A target is a file, however many processes mapped it. The addresses of all nodes are
 * collected, sorted and made distinct, so that each target has one ascending list, which is what
 * module_symbolize wants: it walks the DWARF once, not once per address. Then nodes become
 * stacks, parents first. */
#include "build/node_stacks.h"

#include <stdlib.h>
#include <string.h>

#include "build/jit_frames.h"
#include "build/module_jobs.h"
#include "digits.h"
#include "map.h"
#include "names/module_names.h"
#include "number.h"
#include "text.h"
#include "vector.h"

/* Of all weight: a module with less is light. As the account's threshold to name one. */
#define LIGHT_SHARE 0.01

/* Of a module with debug information, in code without: what is less is the run-time's beginnings, say. */
#define PARTLY_SHARE 0.1

/* A module that samples are in, the same one for all processes that mapped the same file. */
struct target {
    struct module_job job; /* of the first one seen, and its part of the distinct addresses */
    uint32_t *functions;   /* id in the profile by chain_frame        */
    uint32_t *files;       /* of their lines, texts of the profile    */
    uint32_t profile_module;
    double sampled; /* weight of the samples in it, where that was asked for */
    uint64_t self_ns;
    uint64_t nameless_ns; /* of it, and the next: account.h */
    uint64_t lineless_ns;
    uint32_t n_together; /* functions that share their short name   */
    bool hidden;         /* libsampler.so itself                    */
};

VECTOR_DEFINE(targets, struct target)

struct lookup {
    uint32_t target;
    uint64_t vaddr;
};
VECTOR_DEFINE(lookups, struct lookup)

struct node_stacks {
    const struct recording *const *recordings;
    size_t n_recordings;
    const struct build_options *options;
    struct profile_builder *builder;
    struct arena *arena;
    struct jit_frames *jit;
    struct targets targets;
    uint32_t **target_of;   /* [recording][module index] -> target              */
    uint64_t *vaddrs;       /* distinct ones, by target, then ascending         */
    struct map short_named; /* (module, name) -> function of the profile     */
};

/* ---- modules ---- */

static bool module_same_file(const struct recording_module *a, const struct recording_module *b)
{
    return text_equal(a->path, b->path) && text_equal(a->build_id, b->build_id) &&
           a->dev == b->dev && a->ino == b->ino && a->size_bytes == b->size_bytes &&
           a->mtime_s == b->mtime_s;
}

/* libsampler.so, or libsampler.so.N, which a link of that name leads to. */
static bool module_hidden(const struct recording_module *module)
{
    struct text path = module->path;
    while (path.length > 0 && char_is_digit(path.bytes[path.length - 1]))
        path.length--;
    if (path.length < module->path.length && text_ends(path, "."))
        path.length--;
    else
        path = module->path;
    return text_ends(path, "/libsampler.so");
}

/* Index of the target of a module, added if new; UINT32_MAX when out of memory. */
static uint32_t target_of_module(struct node_stacks *stacks, const struct recording_module *module)
{
    for (size_t i = 0; i < stacks->targets.n; i++) {
        if (module_same_file(stacks->targets.items[i].job.module, module))
            return (uint32_t)i;
    }
    const struct target target = {.job.module = module, .hidden = module_hidden(module)};
    return targets_push(&stacks->targets, target) ? (uint32_t)(stacks->targets.n - 1) : UINT32_MAX;
}

static bool targets_find(struct node_stacks *stacks)
{
    stacks->target_of = arena_array(stacks->arena, stacks->n_recordings, sizeof *stacks->target_of);
    if (stacks->target_of == NULL)
        return false;
    for (size_t r = 0; r < stacks->n_recordings; r++) {
        const struct recording *recording = stacks->recordings[r];
        uint32_t *target_of = arena_array(stacks->arena, recording->n_modules, sizeof *target_of);
        if (target_of == NULL)
            return false;
        stacks->target_of[r] = target_of;
        for (size_t i = 0; i < recording->n_modules; i++) {
            target_of[i] = target_of_module(stacks, &recording->modules[i]);
            if (target_of[i] == UINT32_MAX)
                return false;
        }
    }
    return true;
}

/* ---- distinct addresses ---- */

static int lookup_compare(const void *left, const void *right)
{
    const struct lookup *a = left;
    const struct lookup *b = right;
    return a->target != b->target ? compare_u64(a->target, b->target)
                                  : compare_u64(a->vaddr, b->vaddr);
}

static void lookups_collect(const struct node_stacks *stacks, struct lookups *lookups)
{
    for (size_t r = 0; r < stacks->n_recordings; r++) {
        const struct recording *recording = stacks->recordings[r];
        for (size_t i = 1; i < recording->n_nodes; i++) {
            const struct recording_node *node = &recording->nodes[i];
            if (node->module == 0)
                continue;
            lookups_push(lookups, (struct lookup){stacks->target_of[r][node->module - 1],
                                                  recording_node_vaddr(node)});
        }
    }
}

/* Sorts, and gives each target its part of the distinct addresses. */
static bool lookups_share_out(struct node_stacks *stacks, struct lookups *lookups)
{
    struct lookup *all = lookups->items;
    if (lookups->n > 1)
        qsort(all, lookups->n, sizeof *all, lookup_compare);
    size_t n = 0;
    for (size_t i = 0; i < lookups->n; i++) {
        if (i == 0 || lookup_compare(&all[i], &all[n - 1]) != 0)
            all[n++] = all[i];
    }
    stacks->vaddrs = arena_array(stacks->arena, n, sizeof *stacks->vaddrs);
    if (stacks->vaddrs == NULL)
        return false;
    for (size_t i = 0; i < n; i++) {
        struct target *target = &stacks->targets.items[all[i].target];
        stacks->vaddrs[i] = all[i].vaddr;
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): lookups name targets there are */
        if (target->job.n_vaddrs++ == 0)
            target->job.vaddrs = &stacks->vaddrs[i];
    }
    return true;
}

static bool vaddrs_find(struct node_stacks *stacks)
{
    struct lookups lookups = {0};
    lookups_collect(stacks, &lookups);
    bool done = !lookups.no_memory && lookups_share_out(stacks, &lookups);
    lookups_deinit(&lookups);
    return done;
}

/* ---- names ---- */

static uint32_t module_add(struct profile_builder *builder, const struct recording_module *module)
{
    char hex[2 * 64];
    size_t n = min_u64(module->build_id.length, sizeof hex / 2);
    hex_digits(hex, module->build_id.bytes, n);
    const struct profile_module added = {
        .path = profile_add_text(builder, module->path.bytes, module->path.length),
        .build_id = profile_add_text(builder, hex, 2 * n),
        .start = module->start,
        .end = module->end,
    };
    return profile_add_module(builder, &added);
}

/* A text of the module's own table in the profile's. */
static uint32_t text_move(struct node_stacks *stacks, const struct target *target, uint32_t id)
{
    struct text text = intern_text(target->job.symbols->texts, id);
    return profile_add_text(stacks->builder, text.bytes, text.length);
}

/* With short names those of one name are one function, the first that was seen. */
static uint32_t function_add(struct node_stacks *stacks, const struct profile_function *function)
{
    uint32_t known = MAP_NONE;
    if (stacks->options->names == NAMES_SHORT)
        known = map_find(&stacks->short_named, function->module, function->name);
    if (known != MAP_NONE)
        return known;
    uint32_t id = profile_add_function(stacks->builder, function);
    if (stacks->options->names == NAMES_SHORT)
        map_add(&stacks->short_named, function->module, function->name, id);
    return id;
}

static bool functions_add(struct node_stacks *stacks, struct target *target)
{
    const struct module_symbols *symbols = target->job.symbols;
    struct module_names names;
    target->functions = arena_array(stacks->arena, symbols->n_frames, sizeof *target->functions);
    target->files = arena_array(stacks->arena, symbols->n_frames, sizeof *target->files);
    if (target->functions == NULL || target->files == NULL ||
        !module_names_make(symbols, stacks->options->names, stacks->builder, &names))
        return false;
    for (size_t i = 0; i < symbols->n_frames; i++) {
        const struct chain_frame *frame = &symbols->frames[i];
        if (frame->name == 0)
            continue;
        bool declared = frame->decl_file != 0;
        uint32_t file = text_move(stacks, target, frame->file);
        const struct profile_function function = {
            .name = names.made[frame->name],
            .system_name = frame->nameless ? 0 : text_move(stacks, target, frame->name),
            .file = declared ? text_move(stacks, target, frame->decl_file) : file,
            .line = declared ? frame->decl_line : 0,
            .module = target->profile_module,
        };
        target->functions[i] = function_add(stacks, &function);
        target->files[i] = frame->line != 0 ? file : 0;
    }
    target->n_together = names.n_together;
    free(names.made);
    return !stacks->short_named.no_memory;
}

static bool is_wanted(const struct target *target)
{
    return target->job.n_vaddrs != 0 && !target->hidden;
}

static struct target *target_of_node(const struct node_stacks *stacks, size_t index,
                                     const struct recording_node *node)
{
    return &stacks->targets.items[stacks->target_of[index][node->module - 1]];
}

/* The innermost node of a stack that is shown, NULL if there is none. */
static const struct recording_node *leaf_find(const struct node_stacks *stacks, size_t index,
                                              uint32_t node)
{
    const struct recording_node *nodes = stacks->recordings[index]->nodes;
    while (node != 0 && nodes[node].module != 0 &&
           target_of_node(stacks, index, &nodes[node])->hidden)
        node = nodes[node].parent;
    return node == 0 ? NULL : &nodes[node];
}

/* Nothing is fetched for those whose lines nobody would look at. */
static void targets_mark_light(struct node_stacks *stacks)
{
    double all = 0;
    for (size_t r = 0; r < stacks->n_recordings; r++) {
        const struct recording *recording = stacks->recordings[r];
        for (size_t i = 0; i < recording->n_samples; i++) {
            double weight = (double)recording_weight(recording, &recording->samples[i]);
            const struct recording_node *leaf = leaf_find(stacks, r, recording->samples[i].node);
            all += weight;
            if (leaf != NULL && leaf->module != 0)
                target_of_node(stacks, r, leaf)->sampled += weight;
        }
    }
    for (size_t i = 0; i < stacks->targets.n; i++) {
        struct target *target = &stacks->targets.items[i];
        target->job.is_light = target->sampled < LIGHT_SHARE * all;
    }
}

static bool targets_symbolize(struct node_stacks *stacks, struct err *err)
{
    struct module_job **jobs =
        arena_array(stacks->arena, stacks->targets.n, sizeof(struct module_job *));
    size_t n = 0;
    if (jobs == NULL)
        return err_fail_memory(err);
    for (size_t i = 0; i < stacks->targets.n; i++)
        if (is_wanted(&stacks->targets.items[i]))
            jobs[n++] = &stacks->targets.items[i].job;
    if (stacks->options->sources.places.servers != NULL)
        targets_mark_light(stacks);
    return module_jobs_run(jobs, n, &stacks->options->sources, err);
}

static bool targets_resolve(struct node_stacks *stacks, struct err *err)
{
    if (!targets_symbolize(stacks, err))
        return false;
    for (size_t i = 0; i < stacks->targets.n; i++) {
        struct target *target = &stacks->targets.items[i];
        if (!is_wanted(target))
            continue;
        target->profile_module = module_add(stacks->builder, target->job.module);
        if (!functions_add(stacks, target))
            return err_fail_memory(err);
    }
    return true;
}

bool node_stacks_create(const struct recording *const *recordings, size_t n,
                        const struct build_options *options, struct profile_builder *builder,
                        struct node_stacks **out, struct err *err)
{
    struct node_stacks *stacks = calloc(1, sizeof *stacks);
    if (stacks == NULL)
        return err_fail_memory(err);
    stacks->recordings = recordings;
    stacks->n_recordings = n;
    stacks->options = options;
    stacks->builder = builder;
    stacks->arena = arena_create();
    bool done = stacks->arena != NULL && targets_find(stacks) && vaddrs_find(stacks);
    if (!done)
        err_fail_memory(err);
    if (!done || !targets_resolve(stacks, err) ||
        !jit_frames_create(recordings, n, options, builder, &stacks->jit, err)) {
        node_stacks_destroy(stacks);
        return false;
    }
    *out = stacks;
    return true;
}

void node_stacks_destroy(struct node_stacks *stacks)
{
    if (stacks == NULL)
        return;
    for (size_t i = 0; i < stacks->targets.n; i++)
        module_symbols_destroy(stacks->targets.items[i].job.symbols);
    jit_frames_destroy(stacks->jit);
    targets_deinit(&stacks->targets);
    map_deinit(&stacks->short_named);
    arena_destroy(stacks->arena);
    free(stacks);
}

/* ---- nodes to stacks ---- */

static const char *cut_words(uint8_t cut)
{
    switch (cut) {
    case CAPTURE_CUT_NO_RULE:
        return "[truncated: no unwind rule]";
    case CAPTURE_CUT_BAD_MEMORY:
        return "[truncated: unreadable stack]";
    case CAPTURE_CUT_NO_PROGRESS:
        return "[truncated: no way outward]";
    case CAPTURE_CUT_TOO_DEEP:
        return "[truncated: too deep]";
    case CAPTURE_CUT_NODES_FULL:
        return "[truncated: stack table full]";
    default:
        return "[truncated: unknown reason]";
    }
}

/* `parent` with a frame that is no function of a module. */
static uint32_t stack_push_words(struct node_stacks *stacks, uint32_t parent, const char *words,
                                 uint32_t flags)
{
    const struct profile_function function = {.name = profile_add_cstring(stacks->builder, words)};
    const struct profile_frame frame = {
        .function = profile_add_function(stacks->builder, &function), .flags = flags};
    return profile_add_stack(stacks->builder, parent, profile_add_frame(stacks->builder, &frame));
}

static const struct chain *chain_find(const struct target *target, uint64_t vaddr)
{
    size_t index = lower_bound_u64(target->job.vaddrs, target->job.n_vaddrs, vaddr);
    return &target->job.symbols->chains[index]; /* every node's address was collected */
}

/* `parent` with the functions of an address, the outermost one first. */
static uint32_t stack_push_chain(struct node_stacks *stacks, uint32_t parent,
                                 const struct target *target, const struct recording_node *node)
{
    const struct module_symbols *symbols = target->job.symbols;
    const struct chain *chain = chain_find(target, recording_node_vaddr(node));
    size_t outermost = (size_t)chain->first + chain->n - 1;
    size_t innermost = stacks->options->no_inlines ? outermost : chain->first;
    uint32_t stack = parent;
    for (size_t i = outermost + 1; i-- > innermost;) {
        const struct chain_frame *from = &symbols->frames[i];
        if (from->name == 0)
            continue;
        const struct profile_frame frame = {
            .function = target->functions[i],
            .line = from->line,
            .column = from->column,
            .flags = from->inlined ? PROFILE_FRAME_INLINED : 0,
            .address = node->offset,
            .file = target->files[i],
        };
        stack =
            profile_add_stack(stacks->builder, stack, profile_add_frame(stacks->builder, &frame));
    }
    return stack;
}

static uint32_t stack_push_node(struct node_stacks *stacks, size_t index, uint32_t parent,
                                const struct recording_node *node)
{
    if (node->cut != 0)
        return stack_push_words(stacks, parent, cut_words(node->cut), PROFILE_FRAME_CUT);
    if (node->unknown)
        return stack_push_words(stacks, parent, "[unknown module]", 0);
    if (node->module == 0)
        return profile_add_stack(stacks->builder, parent, jit_frames_add(stacks->jit, index, node));
    const struct target *target = target_of_node(stacks, index, node);
    return target->hidden ? parent : stack_push_chain(stacks, parent, target, node);
}

uint32_t node_stacks_push(struct node_stacks *stacks, size_t index, uint32_t parent, uint32_t node)
{
    return stack_push_node(stacks, index, parent, &stacks->recordings[index]->nodes[node]);
}

void node_stacks_map(struct node_stacks *stacks, size_t index, uint32_t *out)
{
    const struct recording *recording = stacks->recordings[index];
    out[0] = 0;
    for (size_t i = 1; i < recording->n_nodes; i++) {
        const struct recording_node *node = &recording->nodes[i];
        out[i] = stack_push_node(stacks, index, out[node->parent], node);
    }
    /* Weight must not vanish with a stack of nothing but hidden frames. */
    uint32_t own = stack_push_words(stacks, 0, "[sampler]", 0);
    for (size_t i = 1; i < recording->n_nodes; i++) {
        if (out[i] == 0)
            out[i] = own;
    }
    out[0] = stack_push_words(stacks, 0, "[unknown stack]", PROFILE_FRAME_CUT);
}

/* ---- account ---- */

bool node_stacks_weigh(struct node_stacks *stacks, size_t index, uint32_t node, uint64_t weight_ns)
{
    const struct recording_node *leaf = leaf_find(stacks, index, node);
    if (leaf == NULL)
        return false;
    if (leaf->module == 0 && (leaf->cut != 0 || leaf->unknown))
        return leaf->cut == 0;
    if (leaf->module == 0)
        return jit_frames_weigh(stacks->jit, index, leaf, weight_ns);
    struct target *target = target_of_node(stacks, index, leaf);
    const struct chain *chain = chain_find(target, recording_node_vaddr(leaf));
    const struct chain_frame *frame = &target->job.symbols->frames[chain->first];
    add_to(&target->self_ns, weight_ns);
    add_to(&target->nameless_ns, frame->nameless ? weight_ns : 0);
    add_to(&target->lineless_ns, frame->line == 0 ? weight_ns : 0);
    return frame->nameless; /* it goes by where it is */
}

/* A program of which only the libraries linked into it were built with -g; where the debug information
 * has a file of its own, all that there is of it is there. */
static bool is_partly(const struct target *target)
{
    const struct module_symbols *symbols = target->job.symbols;
    return symbols->source == MODULE_DWARF &&
           text_is(target->job.module->path, symbols->debug_path) &&
           (double)target->lineless_ns >= PARTLY_SHARE * (double)target->self_ns &&
           target->lineless_ns > 0;
}

/* As hexadecimal digits; NULL when out of memory. */
static const char *build_id_text(struct account *account, struct text build_id)
{
    char *text = arena_alloc(account->arena, 2 * build_id.length + 1);
    if (text != NULL)
        hex_digits(text, build_id.bytes, build_id.length);
    return text;
}

bool node_stacks_account(const struct node_stacks *stacks, struct account *account)
{
    for (size_t i = 0; i < stacks->targets.n; i++) {
        const struct target *target = &stacks->targets.items[i];
        if (target->job.symbols == NULL)
            continue;
        const char *problem = target->job.symbols->problem;
        const struct account_module module = {
            .path = arena_text(account->arena, target->job.module->path.bytes,
                               target->job.module->path.length),
            .problem = arena_text(account->arena, problem, strlen(problem)),
            .source = target->job.symbols->source,
            .self_ns = target->self_ns,
            .nameless_ns = target->nameless_ns,
            .lineless_ns = target->lineless_ns,
            .is_partly = is_partly(target),
            .n_together = target->n_together,
            .is_vdso = (target->job.module->flags & CAPTURE_MODULE_VDSO) != 0,
            .build_id = build_id_text(account, target->job.module->build_id),
            .advice = "",
        };
        if (module.path == NULL || module.problem == NULL || module.build_id == NULL ||
            !account_modules_push(&account->modules, module))
            return false;
    }
    if (!jit_frames_account(stacks->jit, account))
        return false;
    account_sort_modules(account);
    return true;
}
