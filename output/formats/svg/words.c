/* words.c - see words.h. Numbers are written as the tools and the html page write them. */
#include "formats/svg/words.h"

#include <inttypes.h>
#include <math.h>

#include "fold/summary.h"
#include "formats/svg/colors.h"
#include "number.h"
#include "text/xml_write.h"

#define WEIGHT_BYTES 32
#define MOST_NAME_BYTES 4096u /* each box has its own copy, and there may be 20 000 */
#define ARROW " \u2192 "
#define PLUS_MINUS "\u00b1 "
#define BETWEEN " \u00b7 "
#define WHOLE                                                                                      \
    1e-3 /* a profile that is less off than this of what the account explains is all of it */

/* All that a merged profile has of it; false if that is nothing. */
static bool write_metadata(const struct profile *profile, const char *key, struct sink *out)
{
    bool is_first = true;
    for (size_t i = 0; i < profile->n_metadata; i++) {
        struct text value = profile_text(profile, profile->metadata[i].value);
        if (value.length == 0 || !text_is(profile_text(profile, profile->metadata[i].key), key))
            continue;
        sink_text(out, is_first ? "" : ", ");
        xml_text(out, value);
        is_first = false;
    }
    return !is_first;
}

bool svg_words_init(struct svg_words *words, const struct profile *profile,
                    const struct svg_boxes *boxes)
{
    const struct svg_box *all = &boxes->list.items[0];
    *words = (struct svg_words){
        .profile = profile,
        .boxes = boxes,
        .all = all,
        .style = weight_style_for(boxes->unit, max_u64(all->before, all->total)),
    };
    return svg_account_read(&words->account, profile);
}

/* ---- numbers --------------------------------------------------------------------------------- */

static void write_weight(const struct svg_words *words, double weight, struct sink *out)
{
    char text[WEIGHT_BYTES];
    (void)weight_format(words->style, (uint64_t)fmin(round(fabs(weight)), 1.8e19), text,
                        sizeof text);
    sink_text(out, text);
}

static void write_percent(uint64_t weight, uint64_t all, struct sink *out)
{
    sink_format(out, "%.1f%%", all == 0 ? 0 : 100.0 * (double)weight / (double)all);
}

/* "1.0 ms (1.0%) -> 30.0 ms (2.9%), +29.0 ms, chance +- 4.0 ms" */
static void write_change(const struct svg_words *words, const struct svg_box *box, struct sink *out)
{
    const struct svg_box *all = words->all;
    const struct {
        uint64_t weight, all;
    } sides[] = {{box->before, all->before}, {box->total, all->total}};
    for (size_t i = 0; i < 2; i++) {
        sink_text(out, i == 0 ? "" : ARROW);
        write_weight(words, (double)sides[i].weight, out);
        sink_text(out, box == all ? "" : " (");
        if (box != all)
            write_percent(sides[i].weight, sides[i].all, out);
        sink_text(out, box == all ? "" : ")");
    }
    double before = (double)box->before, after = (double)box->total;
    sink_text(out, after < before ? ", -" : ", +");
    write_weight(words, after - before, out);
    if (isinf(box->interval))
        return;
    bool is_beyond = svg_is_beyond(before, after, box->interval);
    sink_text(out, is_beyond ? ", chance " PLUS_MINUS : ", within chance (" PLUS_MINUS);
    write_weight(words, box->interval, out);
    sink_text(out, is_beyond ? "" : ")");
}

/* ---- above ----------------------------------------------------------------------------------- */

static void write_files(const struct intervals *intervals, struct sink *out)
{
    bool is_known = intervals->before.n + intervals->after.n > 0;
    xml_text(out, is_known ? chars_text(&intervals->before) : text_make("before"));
    sink_text(out, ARROW);
    xml_text(out, is_known ? chars_text(&intervals->after) : text_make("after"));
}

void svg_write_heading(const struct svg_words *words, struct sink *out)
{
    if (words->boxes->is_of_two)
        write_files(&words->boxes->intervals, out);
    else if (!write_metadata(words->profile, "command", out) &&
             !write_metadata(words->profile, "exe", out))
        sink_text(out, "Profile");
}

/* How much is in the profile of what was used. The account is of whole runs, the profile may be of a part. */
static void write_used(const struct svg_words *words, struct sink *out)
{
    const struct svg_boxes *boxes = words->boxes;
    double used = words->account.used, explained = words->account.explained;
    bool is_wall = text_is(boxes->measure, "wall"), is_events = boxes->unit == PROFILE_UNIT_EVENTS;
    if (!(used > 0) || (boxes->unit != PROFILE_UNIT_NS && !is_events))
        return;
    double weight = (double)words->all->total + (double)boxes->idle;
    sink_text(out, BETWEEN);
    if (fabs(weight - explained) > WHOLE * explained)
        sink_text(out, "part of ");
    else
        sink_format(out, "%.1f%% of ", 100 * explained / used);
    sink_text(out, "the ");
    write_weight(words, used, out);
    sink_text(out, is_wall ? " elapsed in threads" : is_events ? " counted" : " used");
}

void svg_write_facts(const struct svg_words *words, struct sink *out)
{
    const struct svg_boxes *boxes = words->boxes;
    struct text measure = measure_words(boxes->unit, boxes->measure);
    if (boxes->is_of_two) {
        xml_text(out, measure);
        sink_text(out, ": ");
        write_change(words, words->all, out);
        return;
    }
    write_weight(words, (double)words->all->total, out);
    sink_text(out, boxes->unit == PROFILE_UNIT_NS ? " of " : " ");
    xml_text(out, measure);
    write_used(words, out);
    size_t n = words->profile->n_samples;
    if (boxes->unit == PROFILE_UNIT_NS && n > 0)
        sink_format(out, BETWEEN "%zu sample%s", n, n == 1 ? "" : "s");
}

/* ---- of a box -------------------------------------------------------------------------------- */

/* Up to MOST_NAME_BYTES of it, and a mark if that is not all. */
static void write_name(struct text name, struct sink *out)
{
    struct text start = name;
    if (name.length > MOST_NAME_BYTES) {
        start.length = MOST_NAME_BYTES;
        while (start.length > 0 && ((unsigned char)name.bytes[start.length] & 0xc0u) == 0x80u)
            start.length--;
    }
    xml_text(out, start);
    sink_text(out, start.length < name.length ? "\u2026" : "");
}

static void write_place(const struct profile *profile, const struct profile_function *function,
                        struct sink *out)
{
    struct text file = profile_text(profile, function->file);
    struct text module = profile_text(profile, profile->modules[function->module].path);
    if (file.length > 0) {
        sink_text(out, "\n");
        write_name(file, out);
        if (function->line != 0)
            sink_format(out, ":%" PRIu32, function->line);
    }
    if (module.length > 0) {
        sink_text(out, "\n");
        write_name(module, out);
    }
}

struct text svg_name_of(const struct svg_words *words, const struct svg_box *box)
{
    const struct summary_key key = {.id = box->function};
    return box == words->all ? text_make("all")
                             : summary_row_name(words->profile, SUMMARY_BY_FUNCTION, key);
}

void svg_write_title(const struct svg_words *words, const struct svg_box *box, struct sink *out)
{
    const struct profile_function *function = &words->profile->functions[box->function];
    write_name(svg_name_of(words, box), out);
    sink_text(out, "\n");
    if (words->boxes->is_of_two) {
        write_change(words, box, out);
    } else {
        write_percent(box->total, words->all->total, out);
        sink_text(out, ", ");
        write_weight(words, (double)box->total, out);
        if (box->self > 0) {
            sink_text(out, "; self ");
            write_percent(box->self, words->all->total, out);
            sink_text(out, ", ");
            write_weight(words, (double)box->self, out);
        }
    }
    write_place(words->profile, function, out);
}

void svg_mark_of(const struct svg_words *words, const struct svg_box *box, char out[SVG_MARK_BYTES])
{
    double before = (double)box->before, after = (double)box->total;
    bool is_marked =
        words->boxes->is_of_two && after != before && svg_is_beyond(before, after, box->interval);
    if (!is_marked)
        out[0] = '\0';
    else if (box->before == 0 || box->total == 0)
        snprintf(out, SVG_MARK_BYTES, "%s", box->before == 0 ? "new" : "gone");
    else
        snprintf(out, SVG_MARK_BYTES, "%+.0f%%", 100 * (after - before) / before);
}
