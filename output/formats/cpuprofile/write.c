/* write.c - profile -> .cpuprofile: nodes, samples and timeDeltas as DevTools, VS Code and
 * speedscope show them right.
 *
 * One thread a file (format.h); with --threads merge all of them one after another on an
 * invented time axis. The time line is walked twice, once for the nodes of samples and once for
 * their deltas: it costs no memory that way. */
#include <string.h>

#include "formats/cpuprofile/cpuprofile.h"
#include "model/convert.h"
#include "saturated.h"
#include "text/json_write.h"

static void write_children(struct json *json, const struct cpuprofile_tree *tree,
                           const struct cpuprofile_out_node *node)
{
    bool is_begun = false;
    for (uint32_t child = node->first_child; child != 0;) {
        const struct cpuprofile_out_node *below = &tree->nodes.items[child];
        bool is_left_out = !cpuprofile_has_node(tree, child);
        if (!is_left_out && !is_begun) {
            json_key(json, "children");
            json_array_begin(json);
            is_begun = true;
        }
        if (!is_left_out)
            json_u64(json, cpuprofile_node_id(tree, child));
        child = below->next_sibling;
    }
    if (is_begun)
        json_array_end(json);
}

static void write_lines(struct json *json, const struct cpuprofile_tree *tree,
                        const struct cpuprofile_out_node *node)
{
    if (node->first_line == 0)
        return;
    json_key(json, "positionTicks");
    json_array_begin(json);
    for (uint32_t i = node->first_line; i != 0;) {
        const struct cpuprofile_line *line = &tree->lines.items[i];
        json_object_begin(json);
        json_key(json, "line");
        json_u64(json, line->line);
        json_key(json, "ticks");
        json_u64(json, line->n_hits);
        json_object_end(json);
        i = line->next;
    }
    json_array_end(json);
}

static void write_nodes(struct json *json, const struct cpuprofile_tree *tree)
{
    json_key(json, "nodes");
    json_array_begin(json);
    for (uint32_t i = 0; i < tree->nodes.n; i++) {
        const struct cpuprofile_out_node *node = &tree->nodes.items[i];
        if (!cpuprofile_has_node(tree, i))
            continue;
        json_object_begin(json);
        json_key(json, "id");
        json_u64(json, cpuprofile_node_id(tree, i));
        cpuprofile_write_call_frame(json, tree, i);
        json_key(json, "hitCount");
        json_u64(json, node->n_hits);
        write_children(json, tree, node);
        write_lines(json, tree, node);
        json_object_end(json);
    }
    json_array_end(json);
}

/* The end all files of a profile share, not before the last entry of this one. */
static uint64_t end_us(const struct profile *profile, uint64_t last_us)
{
    if (profile_counts_events(profile))
        return last_us; /* the line is made of events, and as long as they are */
    /* A thread's line may run a little late (convert.h), all ends are to be one. */
    uint64_t shared_us =
        cpuprofile_axis_us(profile, add_saturated(profile->duration_ns, profile->period));
    return shared_us > last_us ? shared_us : last_us;
}

static uint64_t write_samples(struct json *json, const struct cpuprofile_tree *tree,
                              struct cpuprofile_selection selection)
{
    struct cpuprofile_timeline timeline;
    struct cpuprofile_entry entry;
    uint64_t last_us = 0;
    json_key(json, "samples");
    json_array_begin(json);
    cpuprofile_timeline_init(&timeline, tree, selection);
    while (cpuprofile_timeline_next(&timeline, &entry)) {
        json_u64(json, cpuprofile_node_id(tree, entry.node));
        last_us = cpuprofile_axis_us(tree->profile, entry.begin_ns);
    }
    json_array_end(json);
    return last_us;
}

static void write_deltas(struct json *json, const struct cpuprofile_tree *tree,
                         struct cpuprofile_selection selection)
{
    struct cpuprofile_timeline timeline;
    struct cpuprofile_entry entry;
    uint64_t before_us = cpuprofile_axis_us(tree->profile, 0);
    json_key(json, "timeDeltas");
    json_array_begin(json);
    cpuprofile_timeline_init(&timeline, tree, selection);
    while (cpuprofile_timeline_next(&timeline, &entry)) {
        uint64_t time_us = cpuprofile_axis_us(tree->profile, entry.begin_ns);
        json_u64(json, time_us - before_us);
        before_us = time_us;
    }
    json_array_end(json);
}

/* Samples are in order of threads. */
static size_t count_threads(const struct profile *profile)
{
    size_t n = profile->n_samples == 0 ? 0 : 1;
    for (size_t i = 1; i < profile->n_samples; i++)
        n += profile->samples[i].thread != profile->samples[i - 1].thread;
    return n;
}

static bool write_profile(const struct profile *profile, const struct format_options *options,
                          const struct format_notes *notes, struct sink *out, struct err *err)
{
    struct cpuprofile_selection selection = {.is_all = options->thread == 0,
                                             .thread = options->thread};
    struct cpuprofile_tree tree;
    bool ok = cpuprofile_tree_init(&tree, profile, selection, err);
    if (ok) {
        if (selection.is_all && count_threads(profile) > 1)
            format_note(
                notes,
                "cpuprofile: threads are laid one after another: weights are right, times are not");
        struct json json = json_make(out, 0);
        json_object_begin(&json);
        write_nodes(&json, &tree);
        json_key(&json, "startTime");
        json_u64(&json, cpuprofile_axis_us(profile, 0));
        uint64_t last_us = write_samples(&json, &tree, selection);
        json_key(&json, "endTime");
        json_u64(&json, end_us(profile, last_us));
        write_deltas(&json, &tree, selection);
        cpuprofile_note_changes(&tree, last_us, notes);
        json_object_end(&json);
        sink_text(out, "\n");
    }
    cpuprofile_tree_deinit(&tree);
    return ok;
}

bool cpuprofile_write(const struct profile *profile, const struct format_options *options,
                      const struct format_notes *notes, struct sink *out, struct err *err)
{
    struct profile *made;
    const struct profile *samples;
    bool ok = profile_with_samples(profile, &samples, &made, err) &&
              write_profile(samples, options, notes, out, err);
    profile_destroy(made);
    return ok;
}
