/* row_json.h - what the JSON of tables and trees has in common. Whole numbers in the unit that is
 * named, so that sums are exact; what is not known is left out. */
#ifndef SAMPLER_CLI_ROW_JSON_H
#define SAMPLER_CLI_ROW_JSON_H

#include "fold/summary.h"
#include "text/json_write.h"

/* "by", "unit", "measure". */
void row_json_unit(struct json *json, enum summary_by by, enum profile_unit unit,
                   struct text measure);

/* That, "total", "idle". */
void row_json_head(struct json *json, const struct profile *profile, enum summary_by by,
                   const struct weighed *weighed);

/* Of a function or line "file", "line", "module". */
void row_json_place(struct json *json, const struct profile *profile, enum summary_by by,
                    struct summary_key key);

/* "name", and the place. */
void row_json_name(struct json *json, const struct profile *profile, enum summary_by by,
                   struct summary_key key);

void row_json_number(struct json *json, const char *key, uint64_t number);

#endif
