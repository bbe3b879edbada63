/* row_json.c - see row_json.h. */
#include "view/row_json.h"

#include "view/rows_by.h"

static void text_or_nothing(struct json *json, const char *key, struct text text)
{
    if (text.length == 0)
        return;
    json_key(json, key);
    json_text(json, text);
}

void row_json_number(struct json *json, const char *key, uint64_t number)
{
    json_key(json, key);
    json_u64_exact(json, number);
}

static const char *unit_word(enum profile_unit unit)
{
    switch (unit) {
    case PROFILE_UNIT_NS:
        return "ns";
    case PROFILE_UNIT_BYTES:
        return "bytes";
    case PROFILE_UNIT_EVENTS:
        return "events";
    case PROFILE_UNIT_NONE:
    case PROFILE_UNIT_COUNT:
        break;
    }
    return "samples";
}

void row_json_unit(struct json *json, enum summary_by by, enum profile_unit unit,
                   struct text measure)
{
    json_key(json, "by");
    json_cstring(json, rows_by_word(by));
    json_key(json, "unit");
    json_cstring(json, unit_word(unit));
    text_or_nothing(json, "measure", measure);
}

void row_json_head(struct json *json, const struct profile *profile, enum summary_by by,
                   const struct weighed *weighed)
{
    row_json_unit(json, by, weighed->unit, profile_text(profile, weighed->measure));
    row_json_number(json, "total", weighed->all);
    row_json_number(json, "idle", weighed->idle);
}

void row_json_place(struct json *json, const struct profile *profile, enum summary_by by,
                    struct summary_key key)
{
    if (by != SUMMARY_BY_FUNCTION && by != SUMMARY_BY_LINE)
        return;
    const struct profile_function *function = &profile->functions[key.id];
    uint32_t line = by == SUMMARY_BY_LINE ? key.line : function->line;
    text_or_nothing(json, "file", profile_text(profile, key.file != 0 ? key.file : function->file));
    if (line != 0)
        row_json_number(json, "line", line);
    text_or_nothing(json, "module", profile_text(profile, profile->modules[function->module].path));
}

void row_json_name(struct json *json, const struct profile *profile, enum summary_by by,
                   struct summary_key key)
{
    json_key(json, "name");
    json_text(json, summary_row_name(profile, by, key));
    row_json_place(json, profile, by, key);
}
