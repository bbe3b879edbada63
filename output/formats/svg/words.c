/* words.c - see words.h. Numbers are written as the tools and the html page write them. */
#include "formats/svg/words.h"

#include <inttypes.h>
#include <math.h>

#include "fold/summary.h"
#include "formats/svg/colors.h"
#include "number.h"
#include "text/json_read.h"
#include "text/xml_write.h"

#define WEIGHT_BYTES 32
#define ARROW " \u2192 "
#define PLUS_MINUS "\u00b1 "
#define BETWEEN " \u00b7 "

static struct text metadata(const struct profile *profile, const char *key)
{
    for (size_t i = 0; i < profile->n_metadata; i++)
        if (text_is(profile_text(profile, profile->metadata[i].key), key))
            return profile_text(profile, profile->metadata[i].value);
    return text_make("");
}

/* ---- the account ----------------------------------------------------------------------------- */

/* Looks for .total.explained_share in it (docs/account.md). */
struct account_place {
    size_t depth;
    bool is_in_total, is_share;
    double share;
};

static bool account_event(void *context, struct json_walk *walk, const struct json_event *event,
                          struct err *err)
{
    (void)walk, (void)err;
    struct account_place *place = context;
    struct text text = {event->bytes, event->length};
    bool is_share = place->is_share;
    place->is_share = false;
    switch (event->kind) {
    case JSON_OBJECT_BEGIN:
    case JSON_ARRAY_BEGIN:
        place->depth++;
        break;
    case JSON_OBJECT_END:
    case JSON_ARRAY_END:
        place->depth--;
        break;
    case JSON_KEY:
        if (place->depth == 1)
            place->is_in_total = text_is(text, "total");
        place->is_share =
            place->depth == 2 && place->is_in_total && text_is(text, "explained_share");
        break;
    case JSON_NUMBER:
        if (is_share)
            place->share = event->number;
        break;
    case JSON_STRING:
    case JSON_BOOL:
    case JSON_NULL:
        break;
    }
    return true;
}

/* False when out of memory; an account that cannot be read says nothing. */
static bool read_share(const struct profile *profile, double *share)
{
    struct text json = metadata(profile, "account");
    struct account_place place = {.share = NAN};
    const struct json_visitor visitor = {.event = account_event, .context = &place};
    struct err err = ERR_INIT;
    bool ok =
        json.length > 0 && json_read((const uint8_t *)json.bytes, json.length, &visitor, &err);
    *share = ok ? place.share : NAN;
    return err.code != ERR_MEMORY;
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
    return read_share(profile, &words->explained_share);
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
    struct text command = metadata(words->profile, "command");
    struct text exe = metadata(words->profile, "exe");
    if (words->boxes->is_of_two)
        write_files(&words->boxes->intervals, out);
    else
        xml_text(out, command.length > 0 ? command : exe.length > 0 ? exe : text_make("Profile"));
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
    if (!isnan(words->explained_share))
        sink_format(out, BETWEEN "%.1f%% of it explained", 100 * words->explained_share);
    size_t n = words->profile->n_samples;
    if (boxes->unit == PROFILE_UNIT_NS && n > 0)
        sink_format(out, BETWEEN "%zu sample%s", n, n == 1 ? "" : "s");
}

/* ---- of a box -------------------------------------------------------------------------------- */

static void write_place(const struct profile *profile, const struct profile_function *function,
                        struct sink *out)
{
    struct text file = profile_text(profile, function->file);
    struct text module = profile_text(profile, profile->modules[function->module].path);
    if (file.length > 0) {
        sink_text(out, "\n");
        xml_text(out, file);
        if (function->line != 0)
            sink_format(out, ":%" PRIu32, function->line);
    }
    if (module.length > 0) {
        sink_text(out, "\n");
        xml_text(out, module);
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
    xml_text(out, svg_name_of(words, box));
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
