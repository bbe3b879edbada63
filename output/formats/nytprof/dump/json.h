/* json.h - JSON as the dumps of both NYTProf dialects write it: texts of any encoding,
 * numbers of any kind. */
#ifndef SAMPLER_NYTPROF_JSON_H
#define SAMPLER_NYTPROF_JSON_H

#include "text/json_write.h"
#include "vector.h"

struct nytprof_json {
    struct json json;
    struct chars buffer; /* of nytprof_utf8                          */
    bool no_memory;      /* sticky; something is missing in the JSON */
};

struct nytprof_json nytprof_json_make(struct sink *out);
void nytprof_json_deinit(struct nytprof_json *out);

/* A text in UTF-8; borrowed until the next call. */
struct text nytprof_readable(struct nytprof_json *out, struct text text);

void nytprof_put_key(struct nytprof_json *out, struct text key);
void nytprof_put_text(struct nytprof_json *out, const char *key, struct text text);
void nytprof_put_u64(struct nytprof_json *out, const char *key, uint64_t value);
void nytprof_put_double(struct nytprof_json *out, const char *key, double value);
/* A value without a key. JSON knows no infinities and no NaN, but these files do: they are texts.
 */
void nytprof_put_number(struct nytprof_json *out, double value);

#endif
