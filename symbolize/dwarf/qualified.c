/* qualified.c - see qualified.h. */
#include "dwarf/qualified.h"

#include <dwarf.h>
#include <inttypes.h>
#include <stdio.h>

#include "text.h"

/* Of DWARF 6, used by clang in DWARF 5 already. */
#define LANG_CXX_17 0x2bu
#define LANG_CXX_20 0x2cu

struct language language_of(uint64_t code)
{
    switch (code) {
    case DW_LANG_C89:
    case DW_LANG_C:
    case DW_LANG_C99:
    case DW_LANG_C11:
    case DW_LANG_Mips_Assembler:
        return (struct language){.mangles = false};
    case DW_LANG_C_plus_plus:
    case DW_LANG_C_plus_plus_03:
    case DW_LANG_C_plus_plus_11:
    case DW_LANG_C_plus_plus_14:
    case LANG_CXX_17:
    case LANG_CXX_20:
        /* gcc and clang put functions with code outside of types */
        return (struct language){.mangles = true, .qualifies = true};
    default:
        return (struct language){.mangles = true, .through_types = true};
    }
}

bool qualified_encloses(unsigned tag)
{
    switch (tag) {
    case DW_TAG_namespace:
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type:
    case DW_TAG_subprogram:
        return true;
    default:
        return false;
    }
}

static bool has_name(const struct qualified_part *part)
{
    return part->name != NULL && part->name[0] != '\0';
}

static bool is_class(const struct qualified_part *part)
{
    return part->tag == DW_TAG_structure_type || part->tag == DW_TAG_class_type;
}

/* Its call, a conversion to a pointer to function, or what such a pointer leads to. */
bool qualified_is_lambda(const struct qualified_part *part, const struct qualified_part *inner)
{
    if (has_name(part) || !is_class(part) || !has_name(inner) || inner->tag != DW_TAG_subprogram)
        return false;
    struct text name = text_make(inner->name);
    return text_starts(name, "operator") || text_is(name, "_FUN");
}

/* The failure is sticky. */
static void text_append(struct chars *out, struct text text)
{
    (void)chars_append(out, text.bytes, text.length);
}

/* A part without a name of its own, of which `inner` is part. */
static void nameless_append(struct chars *out, const struct qualified_part *part,
                            const struct qualified_part *inner)
{
    char text[64];
    if (part->tag == DW_TAG_namespace) {
        text_append(out, text_make("(anonymous namespace)"));
        return;
    }
    const char *what = qualified_is_lambda(part, inner) ? "lambda" : "unnamed";
    if (part->line == 0)
        snprintf(text, sizeof text, "{%s}", what);
    else
        snprintf(text, sizeof text, "{%s:%" PRIu64 "}", what, part->line);
    text_append(out, text_make(text));
}

/* Of a name that is too long no more than tells so. */
static struct text name_begin(const char *name)
{
    return (struct text){name, strnlen(name, QUALIFIED_MAX_BYTES + 1)};
}

bool qualified_write(const struct qualified_part *parts, size_t n, struct chars *out)
{
    out->n = 0;
    for (size_t i = n; i-- > 0 && out->n <= QUALIFIED_MAX_BYTES;) {
        if (has_name(&parts[i]))
            text_append(out, name_begin(parts[i].name));
        else if (i > 0)
            nameless_append(out, &parts[i], &parts[i - 1]);
        if (i > 0)
            text_append(out, text_make("::"));
    }
    return chars_append(out, "", 1) && !out->no_memory && out->n <= QUALIFIED_MAX_BYTES;
}
