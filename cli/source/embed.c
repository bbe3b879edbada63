/* embed.c - see embed.h. */
#include "source/embed.h"

#include <stdio.h>
#include <stdlib.h>

#include "fold/summary.h"
#include "model/copy.h"
#include "model/sources.h"
#include "options/messages.h"
#include "source/permitted.h"
#include "source/source.h"

struct embedding {
    const struct profile *profile;
    const char *search_path;
    struct profile_builder *builder;
    size_t n_bytes;
    bool is_of_this_host;
    size_t n_taken, n_absent, n_newer, n_beyond, n_refused; /* files */
};

/* Finds the file, if it is one that the profile may have (permitted.h); the caller gives `source` back. */
static bool find_file(struct embedding *embedding, struct text path, struct source *source,
                      struct err *err)
{
    char real[PATH_MAX];
    *source = (struct source){.bytes = NULL};
    if (!path_is_source_code(path)) {
        embedding->n_refused++;
        return true;
    }
    bool ok = embedding->is_of_this_host
                  ? source_init(source, NULL, path, embedding->search_path, err)
                  : source_init_below(source, path, embedding->search_path, err);
    if (!ok)
        return false;
    if (source->path[0] == '\0') {
        embedding->n_absent++;
    } else if (realpath(source->path, real) == NULL || !path_is_source_code(text_make(real))) {
        source->path[0] = '\0';
        embedding->n_refused++;
    }
    return true;
}

static bool embed_file(struct embedding *embedding, struct text path, struct err *err)
{
    const struct profile *profile = embedding->profile;
    struct source source;
    struct text had;
    if (profile_source(profile, path, &had)) {
        embedding->n_taken++;
        embedding->n_bytes += had.length;
        return true;
    }
    bool ok = find_file(embedding, path, &source, err);
    if (ok && source.path[0] == '\0') {
        /* counted */
    } else if (ok && source_is_newer(&source, profile)) {
        embedding->n_newer++;
    } else if (ok && source.text.length > EMBED_MOST_BYTES - embedding->n_bytes) {
        embedding->n_beyond++;
    } else if (ok) {
        embedding->n_taken++;
        embedding->n_bytes += source.text.length;
        profile_add_source(embedding->builder, path.bytes, source.text);
    }
    source_deinit(&source);
    return ok;
}

/* Every file once, in the order of the lines. */
static bool embed_files_of(struct embedding *embedding, const struct summary *lines, bool *is_done,
                           struct err *err)
{
    const struct profile *profile = embedding->profile;
    for (size_t i = 0; i < lines->n; i++) {
        const struct summary_key *key = &lines->rows[i].key;
        uint32_t file = key->file != 0 ? key->file : profile->functions[key->id].file;
        if (key->line == 0 || file == 0 || is_done[file])
            continue;
        is_done[file] = true;
        if (!embed_file(embedding, profile_text(profile, file), err))
            return false;
    }
    return true;
}

static bool embed_files(struct embedding *embedding, struct err *err)
{
    struct summary lines;
    bool *is_done = calloc(intern_count(embedding->profile->texts), sizeof *is_done);
    if (is_done == NULL)
        return err_fail_memory(err);
    bool ok = summary_init(&lines, embedding->profile, SUMMARY_BY_LINE, err);
    if (ok) {
        ok = embed_files_of(embedding, &lines, is_done, err);
        summary_deinit(&lines);
    }
    free(is_done);
    return ok;
}

/* `taker`: a command that takes --source-path. */
static void tell_embedded(const struct embedding *embedding, const char *taker)
{
    bool is_here = embedding->is_of_this_host;
    char absent[160];
    snprintf(absent, sizeof absent, "not %s (%ssampler %s --source-path DIR says where they are)",
             is_here || embedding->search_path != NULL ? "here" : "below this folder",
             is_here ? "" : "the profile is not of this machine; ", taker);
    const struct {
        size_t n;
        const char *words;
    } missing[] = {
        {embedding->n_absent, absent},
        {embedding->n_newer, "changed since the run began"},
        {embedding->n_beyond, "beyond the 32 MiB there is room for"},
        {embedding->n_refused, "not source code by name"},
    };
    char line[512];
    int n = snprintf(line, sizeof line, "source: %zu file%s embedded", embedding->n_taken,
                     embedding->n_taken == 1 ? "" : "s");
    const char *before = "; ";
    for (size_t i = 0; i < sizeof missing / sizeof missing[0]; i++) {
        if (missing[i].n == 0)
            continue;
        n += snprintf(line + n, sizeof line - (size_t)n, "%s%zu %s", before, missing[i].n,
                      missing[i].words);
        before = ", ";
    }
    tell("sampler", line);
}

bool embed_sources(struct profile **profile, const struct options *options, struct err *err)
{
    struct embedding embedding = {.profile = *profile,
                                  .search_path = options->values[OPTION_SOURCE_PATH],
                                  .is_of_this_host = profile_is_of_this_host(*profile)};
    struct profile *made = NULL;
    if (!profile_builder_like(*profile, &embedding.builder, err))
        return false;
    if (!embed_files(&embedding, err)) {
        profile_builder_destroy(embedding.builder);
        return false;
    }
    profile_builder_fill(embedding.builder, *profile);
    if (!profile_builder_finish(embedding.builder, &made, err))
        return false;
    profile_destroy(*profile);
    *profile = made;
    if (!options_flag(options, OPTION_QUIET))
        tell_embedded(&embedding, options->command == COMMAND_VIEW ? "view" : "convert");
    return true;
}

bool embed_sources_if_asked(struct profile **profile, const struct options *options,
                            struct err *err)
{
    return !options_flag(options, OPTION_EMBED_SOURCE) || embed_sources(profile, options, err);
}
