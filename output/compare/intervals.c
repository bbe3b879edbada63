/* intervals.c - see intervals.h. The metadata is an object of numbers, texts and arrays of them. */
#include "compare/intervals.h"

#include <math.h>

#include "compare/side_by_side.h"
#include "text/json_read.h"

/* Where reading stands. */
struct place {
    struct intervals *intervals;
    struct chars key; /* of the object, in which this is */
    size_t depth;     /* of brackets                     */
    bool is_known;    /* the version                     */
};

static bool is_in(const struct place *place, const char *key)
{
    return text_is(chars_text(&place->key), key);
}

static void add_file(struct chars *files, const struct json_event *event)
{
    struct text name = text_base_name((struct text){event->bytes, event->length});
    if (files->n > 0)
        chars_append(files, ", ", 2);
    chars_append(files, name.bytes, name.length);
}

static void take_text(struct place *place, const struct json_event *event)
{
    if (is_in(place, "schema"))
        place->is_known = text_is((struct text){event->bytes, event->length}, "sampler-changes-1");
    else if (is_in(place, "measure"))
        chars_append(&place->intervals->measure, event->bytes, event->length);
    else if (is_in(place, "before"))
        add_file(&place->intervals->before, event);
    else if (is_in(place, "after"))
        add_file(&place->intervals->after, event);
}

/* `interval`: what a number or null stands for. */
static void take_interval(struct place *place, double interval)
{
    if (is_in(place, "whole"))
        place->intervals->whole = interval;
    else if (is_in(place, "stacks"))
        doubles_push(&place->intervals->stacks, interval);
}

static bool take(void *context, struct json_walk *walk, const struct json_event *event,
                 struct err *err)
{
    (void)walk, (void)err;
    struct place *place = context;
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
        place->key.n = 0;
        if (place->depth == 1)
            chars_append(&place->key, event->bytes, event->length);
        break;
    case JSON_STRING:
        take_text(place, event);
        break;
    case JSON_NUMBER:
        take_interval(place, event->number);
        break;
    case JSON_NULL:
        take_interval(place, INFINITY);
        break;
    case JSON_BOOL:
        break;
    }
    return true;
}

static void forget(struct intervals *intervals)
{
    intervals->whole = INFINITY;
    intervals->stacks.n = intervals->before.n = intervals->after.n = intervals->measure.n = 0;
}

bool intervals_init(struct intervals *intervals, const struct profile *profile)
{
    *intervals = (struct intervals){.whole = INFINITY};
    struct text json = profile_changes_text(profile);
    struct place place = {.intervals = intervals};
    const struct json_visitor visitor = {.event = take, .context = &place};
    struct err err = ERR_INIT;
    bool is_read =
        json.length > 0 && json_read((const uint8_t *)json.bytes, json.length, &visitor, &err);
    if (!is_read || !place.is_known)
        forget(intervals);
    bool no_memory = err.code == ERR_MEMORY || place.key.no_memory || intervals->stacks.no_memory ||
                     intervals->before.no_memory || intervals->after.no_memory ||
                     intervals->measure.no_memory;
    chars_deinit(&place.key);
    return !no_memory;
}

void intervals_deinit(struct intervals *intervals)
{
    doubles_deinit(&intervals->stacks);
    chars_deinit(&intervals->before);
    chars_deinit(&intervals->after);
    chars_deinit(&intervals->measure);
}

double intervals_of_stack(const struct intervals *intervals, uint32_t stack)
{
    return stack == 0 || stack > intervals->stacks.n ? INFINITY
                                                     : intervals->stacks.items[stack - 1];
}
