/* events.c - the records of a real NYTProf stream as JSON, one by one, by the table of record.h. */
#include "formats/nytprof/dump/dump.h"

static void put_field(struct nytprof_dump *dump, const struct nytprof_field *field,
                      const struct nytprof_record *record)
{
    const void *member = (const char *)record + field->offset;
    struct text text;
    switch (field->wire) {
    case NYTPROF_WIRE_U32:
        nytprof_put_u64(&dump->out, field->name, *(const uint32_t *)member);
        break;
    case NYTPROF_WIRE_I32:
        json_key(&dump->out.json, field->name);
        json_i64(&dump->out.json, *(const int32_t *)member);
        break;
    case NYTPROF_WIRE_F64:
        nytprof_put_double(&dump->out, field->name, *(const double *)member);
        break;
    case NYTPROF_WIRE_LINE: /* the newline belongs to it; the record has it not, but it stands right behind */
        text = *(const struct text *)member;
        text.length++;
        nytprof_put_text(&dump->out, field->name, text);
        break;
    case NYTPROF_WIRE_TEXT:
    case NYTPROF_WIRE_KEY:
    case NYTPROF_WIRE_VALUE:
        nytprof_put_text(&dump->out, field->name, *(const struct text *)member);
        break;
    case NYTPROF_WIRE_NONE:
        break;
    }
}

void nytprof_dump_event(struct nytprof_dump *dump, const struct nytprof_record *record)
{
    const struct nytprof_kind *kind = nytprof_kind_of((uint8_t)record->tag);
    json_object_begin(&dump->out.json);
    json_key(&dump->out.json, "tag");
    json_cstring(&dump->out.json, kind->name);
    for (const struct nytprof_field *field = kind->fields; field->name != NULL; field++)
        put_field(dump, field, record);
    if (record->text_is_utf8 && (record->tag == NYTPROF_FILE || record->tag == NYTPROF_SOURCE)) {
        json_key(&dump->out.json, record->tag == NYTPROF_FILE ? "name_utf8" : "text_utf8");
        json_bool(&dump->out.json, true);
    }
    json_object_end(&dump->out.json);
}
