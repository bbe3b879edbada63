/* layout.c - the class of an event -> its fields in wire order, structs resolved (see
 * formats/htdump/parse.h). Classes within classes are entered without recursion, to a limited
 * depth. */
#include "formats/htdump/parse.h"

const char *htdump_name_show(const struct htdump_parser *parser, uint32_t id, char *out)
{
    struct text text = intern_text(parser->texts, id);
    size_t length = text.length < HTDUMP_SHOWN_BYTES - 1 ? text.length : HTDUMP_SHOWN_BYTES - 1;
    for (size_t i = 0; i < length; i++) {
        bool is_plain = text.bytes[i] >= 0x20 && text.bytes[i] < 0x7f;
        out[i] = '?';
        if (is_plain)
            out[i] = text.bytes[i];
    }
    out[length] = '\0';
    return out;
}

#define MAX_DEPTH 32U
#define MAX_STEPS_PER_LAYOUT 4096U

/* Whether `name` is new in the layout being made. */
static bool name_is_first(struct htdump_parser *parser, uint32_t name, bool *is_first)
{
    if (!ids_extend(&parser->stamps, (size_t)name + 1))
        return false;
    uint32_t *stamp = &parser->stamps.items[name];
    *is_first = *stamp != parser->stamp;
    *stamp = parser->stamp;
    return true;
}

static bool slot_add(struct htdump_parser *parser, struct class *target, uint32_t name,
                     enum htdump_value_kind kind, uint32_t size_bytes)
{
    struct slot slot = {.name = name, .kind = (uint8_t)kind, .size_bytes = size_bytes};
    if (!name_is_first(parser, name, &slot.is_shown) || !slots_push(&target->slots, slot))
        return false;
    target->hides_class_id |= name == parser->well_known[NAME_CLASS_ID];
    target->hides_timestamp |= name == parser->well_known[NAME_TIMESTAMP];
    target->hides_id |= name == parser->well_known[NAME_ID];
    return true;
}

/* A field of type HT_Event that is not the base: the real readers expect a whole header there. */
static bool header_slots_add(struct htdump_parser *parser, struct class *target)
{
    return slot_add(parser, target, parser->well_known[NAME_CLASS_ID], HTDUMP_VALUE_U64, 4) &&
           slot_add(parser, target, parser->well_known[NAME_TIMESTAMP], HTDUMP_VALUE_U64, 8) &&
           slot_add(parser, target, parser->well_known[NAME_ID], HTDUMP_VALUE_U64, 8);
}

static bool is_integer_size(uint32_t size_bytes)
{
    return size_bytes == 1 || size_bytes == 2 || size_bytes == 4 || size_bytes == 8;
}

static enum htdump_value_kind kind_of(const struct field *field)
{
    switch (field->data_type) {
    case HTDUMP_STRING:
        return HTDUMP_VALUE_TEXT;
    case HTDUMP_FLOAT:
    case HTDUMP_DOUBLE:
        return field->size_bytes == 4 || field->size_bytes == 8 ? HTDUMP_VALUE_F64
                                                                : HTDUMP_VALUE_BYTES;
    case HTDUMP_SIGNED:
        return is_integer_size(field->size_bytes) ? HTDUMP_VALUE_I64 : HTDUMP_VALUE_BYTES;
    default:
        return is_integer_size(field->size_bytes) ? HTDUMP_VALUE_U64 : HTDUMP_VALUE_BYTES;
    }
}

/* The classes being expanded, outermost first, and the next field of each. */
struct level {
    struct class *class;
    size_t next;
};

struct expansion {
    struct htdump_parser *parser;
    struct class *target; /* whose layout it is; outermost */
    uint64_t offset;      /* of the event that asks for it */
    unsigned n_steps;
    unsigned n_levels;
    struct level levels[MAX_DEPTH + 1];
};

static void level_enter(struct expansion *expansion, struct class *class)
{
    class->is_being_expanded = true;
    expansion->levels[expansion->n_levels++] = (struct level){.class = class};
}

static void level_leave(struct expansion *expansion)
{
    expansion->levels[--expansion->n_levels].class->is_being_expanded = false;
}

static bool struct_enter(struct expansion *expansion, const struct field *field, struct err *err)
{
    struct htdump_parser *parser = expansion->parser;
    char shown[HTDUMP_SHOWN_BYTES];
    if (field->name == parser->well_known[NAME_BASE] &&
        field->type_name == parser->well_known[NAME_EVENT])
        return true; /* stands for the header, which was read already */
    uint32_t found = map_find(&parser->class_by_name, field->type_name, 0);
    if (found == MAP_NONE)
        return err_fail(err, ERR_FORMAT, expansion->offset,
                        "the class of this event contains unknown class %s",
                        htdump_name_show(parser, field->type_name, shown));
    struct class *inner = htdump_class_at(parser, found);
    if (inner->core == HTDUMP_CORE_EVENT)
        return header_slots_add(parser, expansion->target) || err_fail_memory(err);
    if (inner->is_being_expanded)
        return err_fail(err, ERR_FORMAT, expansion->offset, "class %s contains itself",
                        htdump_name_show(parser, inner->name, shown));
    if (expansion->n_levels > MAX_DEPTH)
        return err_fail(err, ERR_LIMIT, expansion->offset, "classes nested deeper than %u",
                        MAX_DEPTH);
    inner->is_part_of_others = true;
    level_enter(expansion, inner);
    return true;
}

static bool field_expand(struct expansion *expansion, const struct field *field, struct err *err)
{
    struct htdump_parser *parser = expansion->parser;
    if (++expansion->n_steps > MAX_STEPS_PER_LAYOUT || parser->n_steps_left-- == 0)
        return err_fail(err, ERR_LIMIT, expansion->offset, "too many fields in an event (limit %u)",
                        MAX_STEPS_PER_LAYOUT);
    if (field->data_type == HTDUMP_STRUCT)
        return struct_enter(expansion, field, err);
    return slot_add(parser, expansion->target, field->name, kind_of(field), field->size_bytes) ||
           err_fail_memory(err);
}

static bool class_expand(struct htdump_parser *parser, struct class *class, uint64_t offset,
                         struct err *err)
{
    struct expansion expansion = {.parser = parser, .target = class, .offset = offset};
    bool ok = true;
    level_enter(&expansion, class);
    while (ok && expansion.n_levels > 0) {
        struct level *level = &expansion.levels[expansion.n_levels - 1];
        if (level->next == level->class->fields.n)
            level_leave(&expansion);
        else
            ok = field_expand(&expansion, &level->class->fields.items[level->next++], err);
    }
    while (expansion.n_levels > 0)
        level_leave(&expansion);
    return ok;
}

bool htdump_layout_make(struct htdump_parser *parser, struct class *class, uint64_t offset,
                        struct err *err)
{
    slots_deinit(&class->slots);
    class->hides_class_id = class->hides_timestamp = class->hides_id = false;
    parser->stamp++;
    if (!class_expand(parser, class, offset, err))
        return false;
    if (!values_extend(&parser->values, class->slots.n))
        return err_fail_memory(err);
    class->generation = parser->generation;
    class->layout++;
    return true;
}
