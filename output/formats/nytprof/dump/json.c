/* json.c - see formats/nytprof/dump/json.h. */
#include "formats/nytprof/dump/json.h"

#include <math.h>

#include "formats/nytprof/content.h"

struct nytprof_json nytprof_json_make(struct sink *out)
{
    return (struct nytprof_json){.json = json_make(out, 1)};
}

void nytprof_json_deinit(struct nytprof_json *out)
{
    chars_deinit(&out->buffer);
}

struct text nytprof_readable(struct nytprof_json *out, struct text text)
{
    struct text result = {.bytes = ""};
    if (!nytprof_utf8(text, &out->buffer, &result))
        out->no_memory = true;
    return result;
}

void nytprof_put_key(struct nytprof_json *out, struct text key)
{
    struct text utf8 = nytprof_readable(out, key);
    json_key_bytes(&out->json, utf8.bytes, utf8.length);
}

void nytprof_put_text(struct nytprof_json *out, const char *key, struct text text)
{
    json_key(&out->json, key);
    json_text(&out->json, nytprof_readable(out, text));
}

void nytprof_put_u64(struct nytprof_json *out, const char *key, uint64_t value)
{
    json_key(&out->json, key);
    json_u64(&out->json, value);
}

void nytprof_put_number(struct nytprof_json *out, double value)
{
    if (isnan(value))
        json_cstring(&out->json, "nan");
    else if (isinf(value))
        json_cstring(&out->json, value > 0 ? "inf" : "-inf");
    else if (fabs(value) < 0x1p53 && value == nearbyint(value)) /* most are, and this is fast */
        json_i64(&out->json, (int64_t)value);
    else
        json_f64(&out->json, value);
}

void nytprof_put_double(struct nytprof_json *out, const char *key, double value)
{
    json_key(&out->json, key);
    nytprof_put_number(out, value);
}
