/* shape.c - which fields of a class mean what: classes and fields are known by name, their
 * numbers, order, widths and signs are the writer's. See formats/htdump/read.h. */
#include <string.h>

#include "formats/htdump/read.h"

static const char *const known_names[HTDUMP_NAME_N] = {
    [HTDUMP_NAME_DURATION] = "duration",
    [HTDUMP_NAME_THREAD] = "thread_id",
    [HTDUMP_NAME_LABEL] = "label",
    [HTDUMP_NAME_NAME] = "name",
    [HTDUMP_NAME_IDENTIFIER] = "identifier",
    [HTDUMP_NAME_HASH] = "hash", /* the identifier in HawkTracer 0.3 to 0.5 */
    [HTDUMP_NAME_MAPPING_CLASS] = "HT_StringMappingEvent",
    [HTDUMP_NAME_VERSION_CLASS] = "HT_SystemInfoEvent",
};

bool htdump_names_init(struct htdump_names *names, struct htdump_parser *parser)
{
    for (size_t i = 0; i < HTDUMP_NAME_N; i++) {
        if (!htdump_parser_name(parser, known_names[i], &names->known[i]))
            return false;
    }
    for (size_t raw = 0; raw < HTDUMP_RAW_N; raw++) {
        const struct htdump_raw_description *class = &htdump_raw_classes[raw];
        if (!htdump_parser_name(parser, class->name, &names->raw_classes[raw]))
            return false;
        for (size_t i = 0; class->fields[i].name != NULL; i++) {
            if (!htdump_parser_name(parser, class->fields[i].name, &names->raw_fields[raw][i]))
                return false;
        }
    }
    return true;
}

static bool is_number(const struct htdump_value *value)
{
    return value->kind == HTDUMP_VALUE_U64 || value->kind == HTDUMP_VALUE_I64;
}

static int field_find(const struct htdump_event *event, uint32_t name)
{
    /* Shapes hold 16-bit indexes: the parser's limit of fields is far below. */
    for (size_t i = 0; i < event->n_values; i++) {
        if (event->values[i].name == name)
            return (int)i;
    }
    return HTDUMP_NO_FIELD;
}

static int number_find(const struct htdump_event *event, uint32_t name)
{
    int found = field_find(event, name);
    return found >= 0 && is_number(&event->values[found]) ? found : HTDUMP_NO_FIELD;
}

/* A field of ours with the wrong sort of value is as good as missing: it reads as 0 or "". */
static void raw_shape(struct htdump_shape *shape, const struct htdump_names *names,
                      const struct htdump_event *event, size_t raw)
{
    const struct htdump_raw_field *fields = htdump_raw_classes[raw].fields;
    shape->role = HTDUMP_ROLE_RAW;
    shape->raw = (uint8_t)raw;
    for (size_t i = 0; fields[i].name != NULL; i++) {
        int found = field_find(event, names->raw_fields[raw][i]);
        if (found >= 0 && is_number(&event->values[found]) != (fields[i].type != HTDUMP_RAW_TEXT))
            found = HTDUMP_NO_FIELD;
        shape->raw_fields[i] = (int16_t)found;
    }
}

static void data_shape(struct htdump_shape *shape, const struct htdump_event *event)
{
    for (size_t i = 0; i < event->n_values && shape->n_data < HTDUMP_MAX_DATA_FIELDS; i++) {
        if ((int)i != shape->thread && event->values[i].kind != HTDUMP_VALUE_BYTES)
            shape->data[shape->n_data++] = (int16_t)i;
    }
}

/* A class of any other program: what has a label and a duration is a call, with a label alone a
 * mark. `name` serves for a label if it is a text. */
static void foreign_shape(struct htdump_shape *shape, const struct htdump_names *names,
                          const struct htdump_event *event)
{
    const uint32_t *known = names->known;
    int label = field_find(event, known[HTDUMP_NAME_LABEL]);
    if (label < 0) {
        label = field_find(event, known[HTDUMP_NAME_NAME]);
        if (label >= 0 && event->values[label].kind != HTDUMP_VALUE_TEXT)
            label = HTDUMP_NO_FIELD;
    }
    shape->label = (int16_t)label;
    shape->duration = (int16_t)number_find(event, known[HTDUMP_NAME_DURATION]);
    shape->thread = (int16_t)number_find(event, known[HTDUMP_NAME_THREAD]);
    if (label < 0) {
        shape->role = HTDUMP_ROLE_DATA;
        data_shape(shape, event);
        return;
    }
    shape->role = shape->duration >= 0 ? HTDUMP_ROLE_CALL : HTDUMP_ROLE_MARK;
    size_t n_used = 1U + (shape->duration >= 0) + (shape->thread >= 0);
    shape->has_arguments = event->n_values > n_used;
}

static void shape_find(struct htdump_shape *shape, const struct htdump_names *names,
                       const struct htdump_event *event)
{
    memset(shape, 0, sizeof *shape);
    shape->layout = event->layout;
    shape->label = shape->duration = shape->thread = shape->identifier = HTDUMP_NO_FIELD;
    if (event->core != HTDUMP_CORE_NONE && event->core != HTDUMP_CORE_EVENT)
        return;
    for (size_t raw = 0; raw < HTDUMP_RAW_N; raw++) {
        if (event->class_name == names->raw_classes[raw]) {
            raw_shape(shape, names, event, raw);
            return;
        }
    }
    if (event->class_name == names->known[HTDUMP_NAME_VERSION_CLASS]) {
        shape->role = HTDUMP_ROLE_VERSION;
    } else if (event->class_name == names->known[HTDUMP_NAME_MAPPING_CLASS]) {
        shape->role = HTDUMP_ROLE_MAPPING;
        shape->label = (int16_t)field_find(event, names->known[HTDUMP_NAME_LABEL]);
        shape->identifier = (int16_t)number_find(event, names->known[HTDUMP_NAME_IDENTIFIER]);
        if (shape->identifier < 0)
            shape->identifier = (int16_t)number_find(event, names->known[HTDUMP_NAME_HASH]);
    } else {
        foreign_shape(shape, names, event);
    }
}

struct htdump_shape *htdump_shape_of(struct htdump_shapes *shapes, const struct htdump_names *names,
                                     const struct htdump_event *event)
{
    if (!htdump_shapes_extend(shapes, (size_t)event->class_index + 1))
        return NULL;
    struct htdump_shape *shape = &shapes->items[event->class_index];
    if (shape->layout != event->layout)
        shape_find(shape, names, event);
    return shape;
}

uint64_t htdump_number(const struct htdump_event *event, int field)
{
    return field < 0 || !is_number(&event->values[field]) ? 0 : event->values[field].as.u64;
}

struct text htdump_text(const struct htdump_event *event, int field)
{
    if (field < 0 || event->values[field].kind != HTDUMP_VALUE_TEXT)
        return (struct text){.bytes = "", .length = 0};
    return event->values[field].as.text;
}
