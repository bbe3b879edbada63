/* account.c - see account.h. */
#include "formats/svg/account.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "text/json_read.h"

enum { EXPLAINED, CPU, PAUSED, OWN, N_NUMBERS };

static const char *const keys[N_NUMBERS] = {"explained_ns", "cpu_ns", "paused_ns", "own_ns"};

struct place {
    size_t depth;
    bool is_in_total, is_schema, is_known; /* known: the version */
    int number;                            /* whose value comes next; N_NUMBERS: none of them */
    double numbers[N_NUMBERS];
};

static int number_of(struct text key)
{
    int i = 0;
    while (i < N_NUMBERS && !text_is(key, keys[i]))
        i++;
    return i;
}

static void take_key(struct place *place, struct text key)
{
    if (place->depth == 1)
        place->is_in_total = text_is(key, "total");
    place->is_schema = place->depth == 1 && text_is(key, "schema");
    place->number = place->depth == 2 && place->is_in_total ? number_of(key) : N_NUMBERS;
}

static void take_number(struct place *place, double value)
{
    if (place->number < N_NUMBERS)
        place->numbers[place->number] = value;
}

/* Numbers of which a double would lose digits come as text. */
static void take_text(struct place *place, struct text text)
{
    char digits[32];
    if (place->is_schema)
        place->is_known = text_is(text, "sampler-account-1");
    if (text.length == 0 || text.length >= sizeof digits)
        return;
    memcpy(digits, text.bytes, text.length);
    digits[text.length] = '\0';
    take_number(place, strtod(digits, NULL));
}

static bool take(void *context, struct json_walk *walk, const struct json_event *event,
                 struct err *err)
{
    (void)walk, (void)err;
    struct place *place = context;
    struct text text = {event->bytes, event->length};
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
        take_key(place, text);
        break;
    case JSON_NUMBER:
        take_number(place, event->number);
        break;
    case JSON_STRING:
        take_text(place, text);
        break;
    case JSON_BOOL:
    case JSON_NULL:
        break;
    }
    return true;
}

static bool add(struct svg_account *sum, struct text json)
{
    struct place place = {.number = N_NUMBERS, .numbers = {NAN, NAN, 0, 0}};
    const struct json_visitor visitor = {.event = take, .context = &place};
    struct err err = ERR_INIT;
    bool ok = json_read((const uint8_t *)json.bytes, json.length, &visitor, &err);
    const double *numbers = place.numbers;
    if (!ok || !place.is_known || isnan(numbers[EXPLAINED]))
        return err.code != ERR_MEMORY;
    bool is_first = isnan(sum->explained);
    sum->explained = (is_first ? 0 : sum->explained) + numbers[EXPLAINED];
    double used = numbers[CPU] - numbers[PAUSED] - numbers[OWN];
    sum->used = (is_first ? 0 : sum->used) + (used < 0 ? 0 : used); /* NAN if one is */
    return true;
}

bool svg_account_read(struct svg_account *account, const struct profile *profile)
{
    *account = (struct svg_account){.explained = NAN, .used = NAN};
    bool ok = true;
    for (size_t i = 0; ok && i < profile->n_metadata; i++)
        if (text_is(profile_text(profile, profile->metadata[i].key), "account"))
            ok = add(account, profile_text(profile, profile->metadata[i].value));
    return ok;
}
