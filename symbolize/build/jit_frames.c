/* jit_frames.c - see jit_frames.h. */
#include "build/jit_frames.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jit/jit.h"
#include "jit/runtime_name.h"

#define ANON_FUNCTION "[anon]"

struct jit_frames {
    const struct build_options *options;
    struct profile_builder *builder;
    struct jit *jits; /* by recording */
    size_t n;
    uint64_t named_ns;
    uint64_t anon_ns;
};

bool jit_frames_create(const struct recording *const *recordings, size_t n,
                       const struct build_options *options, struct profile_builder *builder,
                       struct jit_frames **out, struct err *err)
{
    struct jit_frames *frames = calloc(1, sizeof *frames);
    if (frames == NULL)
        return err_fail_memory(err);
    *frames = (struct jit_frames){.options = options, .builder = builder, .n = n};
    frames->jits = calloc(n + 1, sizeof *frames->jits);
    bool done = frames->jits != NULL;
    for (size_t i = 0; i < n && done; i++)
        done = jit_init(&frames->jits[i], recordings[i]);
    if (!done) {
        jit_frames_destroy(frames);
        return err_fail_memory(err);
    }
    *out = frames;
    return true;
}

void jit_frames_destroy(struct jit_frames *frames)
{
    if (frames == NULL)
        return;
    for (size_t i = 0; i < frames->n && frames->jits != NULL; i++)
        jit_deinit(&frames->jits[i]);
    free(frames->jits);
    free(frames);
}

static const struct code_said *said_of(const struct jit_frames *frames, size_t index,
                                       const struct recording_node *node)
{
    return jit_find(&frames->jits[index], recording_node_vaddr(node));
}

/* ---- frames ---- */

static uint32_t text_add(struct jit_frames *frames, struct text text)
{
    return profile_add_text(frames->builder, text.bytes, text.length);
}

/* The function's own name; of one that has none, where it is written. */
static uint32_t name_add(struct jit_frames *frames, const struct runtime_name *name)
{
    char text[512];
    if (name->name.length != 0)
        return text_add(frames, name->name);
    int n = snprintf(text, sizeof text, "(anonymous) %.*s",
                     (int)min_u64(name->place.length, sizeof text - 20), name->place.bytes);
    return text_add(frames, (struct text){text, n < 0 ? 0 : (size_t)n});
}

static uint32_t function_add(struct jit_frames *frames, const struct code_said *said)
{
    const struct profile_module module = {
        .path = profile_add_cstring(frames->builder, PROFILE_JIT_MODULE)};
    struct profile_function function = {.module = profile_add_module(frames->builder, &module)};
    struct runtime_name name = runtime_name_split(said->name);
    bool is_raw = frames->options->names == NAMES_RAW;
    function.name = is_raw ? text_add(frames, said->name) : name_add(frames, &name);
    function.system_name = text_add(frames, is_raw ? said->name : name.identity);
    bool says_where = name.file.length != 0;
    function.file = text_add(frames, says_where ? name.file : said->decl_file);
    function.line = says_where ? name.line : said->decl_line;
    return profile_add_function(frames->builder, &function);
}

uint32_t jit_frames_add(struct jit_frames *frames, size_t index, const struct recording_node *node)
{
    const struct code_said *said = said_of(frames, index, node);
    struct profile_frame frame = {0};
    if (said == NULL)
        return profile_add_named_frame(frames->builder, ANON_FUNCTION, strlen(ANON_FUNCTION));
    frame.function = function_add(frames, said);
    frame.address = node->offset;
    frame.line = said->line;
    frame.file = said->line != 0 ? text_add(frames, said->file) : 0;
    return profile_add_frame(frames->builder, &frame);
}

/* ---- account ---- */

bool jit_frames_weigh(struct jit_frames *frames, size_t index, const struct recording_node *node,
                      uint64_t weight_ns)
{
    bool is_named = said_of(frames, index, node) != NULL;
    uint64_t *sum_ns = is_named ? &frames->named_ns : &frames->anon_ns;
    *sum_ns = add_saturated(*sum_ns, weight_ns);
    return !is_named;
}

/* Why a file was not used, the first there is. */
static const char *problem_of(const struct jit_frames *frames)
{
    for (size_t i = 0; i < frames->n; i++)
        if (frames->jits[i].problem[0] != '\0')
            return frames->jits[i].problem;
    return "";
}

static bool module_add(struct account *account, const char *path, enum module_source source,
                       const char *problem, uint64_t self_ns)
{
    const struct account_module module = {
        .path = arena_text(account->arena, path, strlen(path)),
        .problem = arena_text(account->arena, problem, strlen(problem)),
        .build_id = "",
        .advice = "",
        .source = source,
        .self_ns = self_ns,
        .nameless_ns = source == MODULE_NO_NAMES ? self_ns : 0,
        .lineless_ns = self_ns,
        .is_made = true,
    };
    return self_ns == 0 || (module.path != NULL && module.problem != NULL &&
                            account_modules_push(&account->modules, module));
}

bool jit_frames_account(const struct jit_frames *frames, struct account *account)
{
    const char *problem = problem_of(frames);
    return module_add(account, PROFILE_JIT_MODULE, MODULE_SYMTAB, "", frames->named_ns) &&
           module_add(account, ANON_FUNCTION, MODULE_NO_NAMES, problem, frames->anon_ns);
}
