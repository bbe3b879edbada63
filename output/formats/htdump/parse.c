/* parse.c - bytes of a HawkTracer stream -> events (htdump.h).
 *
 *   header (20 bytes) -> class -> its layout -> values
 *                          ^         ^
 *       descriptions learned     classes within classes expanded once, into a flat list of slots
 *
 * A layout is made at the first event of its class and made again when fields were added since.
 * Each slot takes at least one byte, so decoding is linear in the input; making layouts is bounded
 * by a budget of steps. */
#include "formats/htdump/parse.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"

#define MAX_FIELDS 1024U
#define MAX_FIELD_BYTES (UINT64_C(1) << 30)

static const char *const well_known_names[N_WELL_KNOWN] = {"base",
                                                           "HT_Event",
                                                           "klass_id",
                                                           "timestamp",
                                                           "id",
                                                           "HT_StringMappingEvent",
                                                           "HT_SystemInfoEvent"};

/* ---- texts and messages ---- */

struct text htdump_parser_text(const struct htdump_parser *parser, uint32_t id)
{
    return intern_text(parser->texts, id);
}

bool htdump_parser_name(struct htdump_parser *parser, const char *name, uint32_t *id)
{
    return intern_add(parser->texts, name, strlen(name), id);
}

static struct class *class_find(const struct htdump_parser *parser, uint32_t id)
{
    uint32_t found = map_find(&parser->class_by_id, id, 0);
    return found == MAP_NONE ? NULL : htdump_class_at(parser, found);
}

/* ---- classes ---- */

static struct class *class_add(struct htdump_parser *parser, uint32_t id, uint32_t name,
                               enum htdump_core core)
{
    const struct class class = {.id = id, .name = name, .core = core, .round = 1};
    uint32_t index = (uint32_t)parser->classes.n;
    if (!classes_push(&parser->classes, class) || !map_set(&parser->class_by_id, id, 0, index) ||
        map_add(&parser->class_by_name, name, 0, index) == MAP_NONE)
        return NULL;
    return htdump_class_at(parser, index);
}

static bool field_add(struct class *class, const struct field *field)
{
    struct field added = *field;
    added.round = class->round;
    return fields_push(&class->fields, added);
}

struct core_field {
    enum htdump_core core;
    uint8_t data_type;
    uint8_t size_bytes;
    const char *name;
};

static const struct core_field core_fields[] = {
    {HTDUMP_CORE_ENDIANNESS, HTDUMP_UNSIGNED, 1, "endianness"},
    {HTDUMP_CORE_CLASS_INFO, HTDUMP_UNSIGNED, 4, "info_klass_id"},
    {HTDUMP_CORE_CLASS_INFO, HTDUMP_STRING, 8, "event_klass_name"},
    {HTDUMP_CORE_CLASS_INFO, HTDUMP_UNSIGNED, 1, "field_count"},
    {HTDUMP_CORE_FIELD_INFO, HTDUMP_UNSIGNED, 4, "info_klass_id"},
    {HTDUMP_CORE_FIELD_INFO, HTDUMP_STRING, 8, "field_type"},
    {HTDUMP_CORE_FIELD_INFO, HTDUMP_STRING, 8, "field_name"},
    {HTDUMP_CORE_FIELD_INFO, HTDUMP_UNSIGNED, 8, "size"},
    {HTDUMP_CORE_FIELD_INFO, HTDUMP_UNSIGNED, 1, "data_type"},
};

/* HawkTracer 0.6, and only that one, numbered its own classes otherwise: the byte order event 2 (at
 * the start, so it and the class description 3 after it show), descriptions 3 and 4. */
static bool is_numbered_as_0_6(const uint8_t *data, size_t size_bytes)
{
    static const uint8_t start[20] = {2};
    static const uint8_t description[4] = {3};
    return size_bytes > 24 && memcmp(data, start, sizeof start) == 0 && data[20] == 0 &&
           memcmp(data + 21, description, sizeof description) == 0;
}

static bool core_classes_add(struct htdump_parser *parser, const uint8_t *data, size_t size_bytes)
{
    static const char *const names[] = {"HT_EndiannessInfoEvent", "HT_Event",
                                        "HT_EventKlassInfoEvent", "HT_EventKlassFieldInfoEvent"};
    static const uint32_t ids_today[] = {0, 1, 2, 3};
    static const uint32_t ids_0_6[] = {2, 1, 3, 4};
    const uint32_t *ids = is_numbered_as_0_6(data, size_bytes) ? ids_0_6 : ids_today;
    for (enum htdump_core core = HTDUMP_CORE_ENDIANNESS; core < HTDUMP_CORE_NONE; core++) {
        uint32_t name;
        struct class *class = NULL;
        if (htdump_parser_name(parser, names[core], &name))
            class = class_add(parser, ids[core], name, core);
        if (class == NULL)
            return false;
        for (size_t i = 0; i < sizeof core_fields / sizeof core_fields[0]; i++) {
            const struct core_field *known = &core_fields[i];
            struct field field = {.size_bytes = known->size_bytes, .data_type = known->data_type};
            if (known->core == core && (!htdump_parser_name(parser, known->name, &field.name) ||
                                        !field_add(class, &field)))
                return false;
        }
    }
    return true;
}

static bool parser_fill(struct htdump_parser *parser, const uint8_t *data, size_t size_bytes)
{
    parser->in = cursor_make(data, size_bytes);
    parser->generation = 1;
    parser->n_steps_left = UINT64_C(1) << 20;
    if (size_bytes < (UINT64_MAX >> 8))
        parser->n_steps_left += (uint64_t)size_bytes * 4;
    parser->arena = arena_create();
    parser->texts = parser->arena == NULL ? NULL : intern_create(parser->arena);
    if (parser->texts == NULL)
        return false;
    for (size_t i = 0; i < N_WELL_KNOWN; i++) {
        if (!htdump_parser_name(parser, well_known_names[i], &parser->well_known[i]))
            return false;
    }
    return core_classes_add(parser, data, size_bytes);
}

bool htdump_parser_create(const uint8_t *data, size_t size_bytes, struct htdump_parser **out,
                          struct err *err)
{
    struct htdump_parser *parser = calloc(1, sizeof *parser);
    if (parser == NULL)
        return err_fail_memory(err);
    if (!parser_fill(parser, data, size_bytes)) {
        htdump_parser_destroy(parser);
        return err_fail_memory(err);
    }
    *out = parser;
    return true;
}

void htdump_parser_destroy(struct htdump_parser *parser)
{
    if (parser == NULL)
        return;
    for (size_t i = 0; i < parser->classes.n; i++) {
        fields_deinit(&htdump_class_at(parser, i)->fields);
        slots_deinit(&htdump_class_at(parser, i)->slots);
    }
    classes_deinit(&parser->classes);
    values_deinit(&parser->values);
    ids_deinit(&parser->stamps);
    map_deinit(&parser->class_by_id);
    map_deinit(&parser->class_by_name);
    intern_destroy(parser->texts);
    arena_destroy(parser->arena);
    free(parser);
}

/* ---- values ---- */

static uint64_t unsigned_read(struct htdump_parser *parser, uint32_t size_bytes)
{
    struct cursor *in = &parser->in;
    switch (size_bytes) {
    case 1:
        return cursor_u8(in);
    case 2:
        return parser->is_big_endian ? cursor_u16be(in) : cursor_u16le(in);
    case 4:
        return parser->is_big_endian ? cursor_u32be(in) : cursor_u32le(in);
    default:
        return parser->is_big_endian ? cursor_u64be(in) : cursor_u64le(in);
    }
}

/* Of a number of 1, 2, 4 or 8 bytes. */
static int64_t sign_extend(uint64_t value, uint32_t size_bytes)
{
    unsigned shift = 64 - 8 * size_bytes;
    return (int64_t)(value << shift) >> shift;
}

static double float_of_bits(uint64_t bits, uint32_t size_bytes)
{
    if (size_bytes == 4) {
        float value;
        uint32_t half = (uint32_t)bits;
        memcpy(&value, &half, sizeof value);
        return (double)value;
    }
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void slot_read(struct htdump_parser *parser, const struct slot *slot,
                      struct htdump_value *value)
{
    value->name = slot->name;
    value->kind = (enum htdump_value_kind)slot->kind;
    switch (value->kind) {
    case HTDUMP_VALUE_U64:
        value->as.u64 = unsigned_read(parser, slot->size_bytes);
        break;
    case HTDUMP_VALUE_I64:
        value->as.i64 = sign_extend(unsigned_read(parser, slot->size_bytes), slot->size_bytes);
        break;
    case HTDUMP_VALUE_F64:
        value->as.f64 = float_of_bits(unsigned_read(parser, slot->size_bytes), slot->size_bytes);
        break;
    case HTDUMP_VALUE_TEXT:
        value->as.text.bytes = cursor_text(&parser->in, &value->as.text.length);
        break;
    case HTDUMP_VALUE_BYTES:
        value->as.text.bytes = (const char *)cursor_bytes(&parser->in, slot->size_bytes);
        value->as.text.length = slot->size_bytes;
        break;
    }
}

static bool truncated(const struct htdump_parser *parser, const struct class *class,
                      uint64_t offset, struct err *err)
{
    char shown[HTDUMP_SHOWN_BYTES];
    uint64_t size_bytes = (uint64_t)(parser->in.end - parser->in.start);
    if (class == NULL)
        return err_fail(err, ERR_TRUNCATED, offset,
                        "the stream ends inside the header of the event that begins here (%" PRIu64
                        " of 20 bytes)",
                        size_bytes - offset);
    return err_fail(err, ERR_TRUNCATED, offset,
                    "the stream ends inside the event of class %s that begins here",
                    htdump_name_show(parser, class->name, shown));
}

static bool values_read(struct htdump_parser *parser, const struct class *class,
                        struct htdump_event *event, struct err *err)
{
    const struct slot *slots = class->slots.items;
    struct htdump_value *values = parser->values.items;
    size_t n_values = 0;
    for (size_t i = 0; i < class->slots.n; i++) {
        slot_read(parser, &slots[i], &values[n_values]);
        if (slots[i].is_shown)
            n_values++;
        if (!parser->in.failed)
            continue;
        if (slots[i].size_bytes > (uint64_t)(parser->in.end - parser->in.start))
            return err_fail(err, ERR_LIMIT, event->offset,
                            "a field of %" PRIu32 " bytes, more than the whole stream",
                            slots[i].size_bytes);
        return truncated(parser, class, event->offset, err);
    }
    event->values = values;
    event->n_values = n_values;
    return true;
}

/* ---- what the stream says of itself ---- */

/* A class of a number that is known begins a new round of descriptions: two streams in one file,
 * say of two runs. Its fields stay those of the first. */
static bool class_learn(struct htdump_parser *parser, const struct htdump_event *event,
                        struct err *err)
{
    uint32_t id = (uint32_t)event->values[0].as.u64;
    struct text text = event->values[1].as.text;
    uint32_t name;
    if (!intern_add(parser->texts, text.bytes, text.length, &name))
        return err_fail_memory(err);
    struct class *class = class_find(parser, id);
    if (class == NULL) {
        class = class_add(parser, id, name, HTDUMP_CORE_NONE);
        if (class == NULL)
            return err_fail_memory(err);
        class->n_announced = (uint32_t)event->values[2].as.u64;
        return true;
    }
    class->round++;
    if (class->core == HTDUMP_CORE_NONE && class->name != name)
        parser->n_redefined++;
    return true;
}

static bool field_check(const struct htdump_event *event, uint64_t size_bytes, uint64_t data_type,
                        struct err *err)
{
    switch (data_type) {
    case HTDUMP_STRUCT: /* their size is the writer's memory, not the wire's */
    case HTDUMP_STRING:
        return true;
    case HTDUMP_POINTER:
        if (size_bytes != 4 && size_bytes != 8)
            return err_fail(err, ERR_FORMAT, event->offset,
                            "a pointer of %" PRIu64 " bytes, expected 4 or 8", size_bytes);
        return true;
    case HTDUMP_SIGNED:
    case HTDUMP_UNSIGNED:
    case HTDUMP_FLOAT:
    case HTDUMP_DOUBLE:
        if (size_bytes == 0)
            return err_fail(err, ERR_FORMAT, event->offset, "a number field of 0 bytes");
        if (size_bytes > MAX_FIELD_BYTES)
            return err_fail(err, ERR_LIMIT, event->offset, "a field of %" PRIu64 " bytes",
                            size_bytes);
        return true;
    default:
        return err_fail(err, ERR_FORMAT, event->offset,
                        "a field of unknown data type %" PRIu64 ", expected 1 to 6 or 99",
                        data_type);
    }
}

/* The field was described before. In a new round of descriptions (two streams in one file) that is
 * usual and the first description holds; within one round nobody can know where the next field
 * begins. */
static bool field_repeat(struct htdump_parser *parser, const struct class *class,
                         struct field *known, const struct field *field, uint64_t offset,
                         struct err *err)
{
    char shown_field[HTDUMP_SHOWN_BYTES];
    char shown_class[HTDUMP_SHOWN_BYTES];
    if (known->round == class->round)
        return err_fail(err, ERR_FORMAT, offset, "a second field %s in class %s",
                        htdump_name_show(parser, field->name, shown_field),
                        htdump_name_show(parser, class->name, shown_class));
    known->round = class->round;
    if (known->data_type != field->data_type ||
        (field->data_type == HTDUMP_STRUCT && known->type_name != field->type_name) ||
        known->size_bytes != field->size_bytes)
        parser->n_redefined++;
    return true;
}

static bool field_learn(struct htdump_parser *parser, const struct htdump_event *event,
                        struct err *err)
{
    const struct htdump_value *values = event->values;
    uint64_t size_bytes = values[3].as.u64;
    uint64_t data_type = values[4].as.u64;
    struct class *class = class_find(parser, (uint32_t)values[0].as.u64);
    char shown[HTDUMP_SHOWN_BYTES];
    if (class == NULL)
        return err_fail(err, ERR_FORMAT, event->offset,
                        "a field of class %" PRIu64 ", which was not described", values[0].as.u64);
    if (class->core != HTDUMP_CORE_NONE)
        return true; /* their layout is fixed; what HawkTracer says of HT_Event is not even true */
    if (!field_check(event, size_bytes, data_type, err))
        return false;
    bool has_size = data_type != HTDUMP_STRUCT && data_type != HTDUMP_STRING;
    struct field field = {.size_bytes = has_size ? (uint32_t)size_bytes : 0,
                          .data_type = (uint8_t)data_type};
    if (!intern_add(parser->texts, values[2].as.text.bytes, values[2].as.text.length, &field.name))
        return err_fail_memory(err);
    if (data_type == HTDUMP_STRUCT && !intern_add(parser->texts, values[1].as.text.bytes,
                                                  values[1].as.text.length, &field.type_name))
        return err_fail_memory(err);
    struct field *fields = class->fields.items;
    for (size_t i = 0; i < class->fields.n; i++) {
        if (fields[i].name == field.name)
            return field_repeat(parser, class, &fields[i], &field, event->offset, err);
    }
    if (class->fields.n == MAX_FIELDS)
        return err_fail(err, ERR_LIMIT, event->offset, "more than %u fields in class %s",
                        MAX_FIELDS, htdump_name_show(parser, class->name, shown));
    if (class->round > 1)
        parser->n_redefined++;
    if (!field_add(class, &field))
        return err_fail_memory(err);
    class->generation = 0;
    if (class->is_part_of_others)
        parser->generation++;
    return true;
}

static bool byte_order_learn(struct htdump_parser *parser, const struct htdump_event *event,
                             struct err *err)
{
    uint64_t value = event->values[0].as.u64;
    if (value > 1)
        return err_fail(err, ERR_FORMAT, event->offset,
                        "byte order %" PRIu64 ", expected 0 (little) or 1 (big)", value);
    parser->is_big_endian = value == 1;
    return true;
}

/* What the event tells about the stream itself. Its layout is known by then, so the values are
 * where core_fields has them. */
static bool event_learn(struct htdump_parser *parser, const struct htdump_event *event,
                        struct err *err)
{
    if (event->values == NULL)
        return true; /* an event without fields says nothing */
    switch (event->core) {
    case HTDUMP_CORE_ENDIANNESS:
        return byte_order_learn(parser, event, err);
    case HTDUMP_CORE_CLASS_INFO:
        return class_learn(parser, event, err);
    case HTDUMP_CORE_FIELD_INFO:
        return field_learn(parser, event, err);
    case HTDUMP_CORE_EVENT:
    case HTDUMP_CORE_NONE:
        break;
    }
    return true;
}

/* ---- events ---- */

static bool class_unknown(const struct htdump_parser *parser, uint32_t id, uint64_t offset,
                          struct err *err)
{
    bool is_swapped = class_find(parser, __builtin_bswap32(id)) != NULL;
    return err_fail(err, ERR_FORMAT, offset, "%san event of unknown class %" PRIu32 "%s",
                    offset == 0 ? "not a HawkTracer stream: " : "", id,
                    is_swapped ? ", which in the other byte order would be a known one" : "");
}

bool htdump_parser_next(struct htdump_parser *parser, struct htdump_event *event, bool *more,
                        struct err *err)
{
    struct htdump_event next = {.offset = cursor_offset(&parser->in)};
    if (cursor_at_end(&parser->in)) {
        if (next.offset == 0)
            return err_fail(err, ERR_FORMAT, 0, "not a HawkTracer stream: it is empty");
        *more = false;
        return true;
    }
    next.class_id = (uint32_t)unsigned_read(parser, 4);
    next.timestamp_ns = unsigned_read(parser, 8);
    next.id = unsigned_read(parser, 8);
    if (parser->in.failed && parser->in.fail_offset == next.offset)
        return truncated(parser, NULL, next.offset, err);
    struct class *class = class_find(parser, next.class_id);
    if (class == NULL)
        return class_unknown(parser, next.class_id, next.offset, err);
    if (parser->in.failed)
        return truncated(parser, NULL, next.offset, err);
    if (class->generation != parser->generation &&
        !htdump_layout_make(parser, class, next.offset, err))
        return false;
    next.class_index = (uint32_t)(class - (struct class *)parser->classes.items);
    next.layout = class->layout;
    next.core = class->core;
    next.class_name = class->name;
    next.hides_class_id = class->hides_class_id;
    next.hides_timestamp = class->hides_timestamp;
    next.hides_id = class->hides_id;
    if (!values_read(parser, class, &next, err) || !event_learn(parser, &next, err))
        return false;
    *event = next;
    *more = true;
    return true;
}

struct htdump_oddities htdump_parser_oddities(const struct htdump_parser *parser)
{
    struct htdump_oddities oddities = {.n_redefined = parser->n_redefined};
    for (size_t i = 0; i < parser->classes.n; i++) {
        const struct class *class = htdump_class_at(parser, i);
        if (class->core == HTDUMP_CORE_NONE && class->round == 1 &&
            class->fields.n != class->n_announced)
            oddities.n_count_mismatches++;
    }
    return oddities;
}

bool htdump_event_is_bookkeeping(const struct htdump_parser *parser,
                                 const struct htdump_event *event)
{
    return event->core == HTDUMP_CORE_ENDIANNESS || event->core == HTDUMP_CORE_CLASS_INFO ||
           event->core == HTDUMP_CORE_FIELD_INFO ||
           event->class_name == parser->well_known[NAME_MAPPING] ||
           event->class_name == parser->well_known[NAME_SYSTEM];
}
