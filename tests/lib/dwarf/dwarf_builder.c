/* dwarf_builder.c - see dwarf_builder.h. */
#include "dwarf_builder.h"

#include <assert.h>
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

/* ---- bytes ---- */

static void reserve(struct dwarf_bytes *out, size_t n)
{
    if (n <= out->n_reserved)
        return;
    out->n_reserved = 2 * n;
    out->bytes = realloc(out->bytes, out->n_reserved);
    assert(out->bytes != NULL);
}

static void put_bytes(struct dwarf_bytes *out, const void *bytes, size_t n)
{
    reserve(out, out->n + n);
    memcpy(out->bytes + out->n, bytes, n);
    out->n += n;
}

void dwarf_put(struct dwarf_bytes *out, uint64_t value, unsigned n_bytes)
{
    assert(n_bytes > 0 && n_bytes <= sizeof value);
    put_bytes(out, &value, n_bytes); /* little-endian */
}

void dwarf_put_uleb(struct dwarf_bytes *out, uint64_t value)
{
    for (; value > 0x7f; value >>= 7)
        dwarf_put(out, value | 0x80, 1);
    dwarf_put(out, value, 1);
}

void dwarf_put_text(struct dwarf_bytes *out, const char *text)
{
    put_bytes(out, text, strlen(text) + 1);
}

void dwarf_repeat(struct dwarf_bytes *out, size_t from, size_t times)
{
    size_t n = out->n - from;
    reserve(out, from + n * times);
    for (size_t i = 1; i < times; i++)
        memcpy(out->bytes + from + i * n, out->bytes + from, n);
    out->n = from + n * times;
}

void dwarf_put_abbrev(struct dwarf_bytes *out, uint64_t code, unsigned tag, bool children,
                      const unsigned *attributes)
{
    dwarf_put_uleb(out, code);
    dwarf_put_uleb(out, tag);
    dwarf_put(out, children, 1);
    for (; attributes[0] != 0; attributes += 2) {
        dwarf_put_uleb(out, attributes[0]);
        dwarf_put_uleb(out, attributes[1]);
        if (attributes[1] == DW_FORM_implicit_const) {
            dwarf_put_uleb(out, attributes[2]); /* < 64: as a signed one */
            attributes++;
        }
    }
    dwarf_put(out, 0, 2);
}

static void patch(struct dwarf_bytes *out, size_t at, uint64_t value, size_t n)
{
    assert(at + n <= out->n);
    memcpy(out->bytes + at, &value, n);
}

void dwarf_length_set(struct dwarf_bytes *out, size_t at)
{
    patch(out, at, out->n - at - 4, 4);
}

/* ---- values, as each version writes them ---- */

struct maker {
    struct dwarf_sample *sample;
    unsigned version;
    unsigned text_form;
    unsigned low_form;
    unsigned high_form;
    unsigned list_form;
    unsigned offset_form;
    size_t unit; /* where it begins */
};

static struct dwarf_bytes *part(const struct maker *m, enum dwarf_part id)
{
    return &m->sample->of[id];
}

static struct dwarf_bytes *info(const struct maker *m)
{
    return part(m, PART_INFO);
}

/* Indexes count from a header of 8 bytes in each of these tables. */
static void table_begin(struct dwarf_bytes *out, unsigned address_bytes)
{
    dwarf_put(out, 0, 4);
    dwarf_put(out, 5, 2);
    dwarf_put(out, address_bytes, 1);
    dwarf_put(out, 0, 1);
}

enum { TABLE_HEADER_BYTES = 8 };

static void text_put(const struct maker *m, const char *text)
{
    struct dwarf_bytes *strings = part(m, PART_STR);
    size_t offset = strings->n;
    if (m->text_form == DW_FORM_string) {
        dwarf_put_text(info(m), text);
        return;
    }
    dwarf_put_text(strings, text);
    if (m->text_form == DW_FORM_strp) {
        dwarf_put(info(m), offset, 4);
        return;
    }
    struct dwarf_bytes *offsets = part(m, PART_STR_OFFSETS);
    dwarf_put(info(m), (offsets->n - TABLE_HEADER_BYTES) / 4, 1);
    dwarf_put(offsets, offset, 4);
}

static void low_put(const struct maker *m, uint64_t vaddr)
{
    struct dwarf_bytes *addresses = part(m, PART_ADDR);
    if (m->low_form == DW_FORM_addr) {
        dwarf_put(info(m), vaddr, 8);
        return;
    }
    dwarf_put_uleb(info(m), (addresses->n - TABLE_HEADER_BYTES) / 8);
    dwarf_put(addresses, vaddr, 8);
}

static void pcs_put(const struct maker *m, uint64_t start, uint64_t end)
{
    low_put(m, start);
    if (m->high_form == DW_FORM_addr)
        dwarf_put(info(m), end, 8);
    else
        dwarf_put(info(m), end - start, 4);
}

/* A list of pairs, ended by 0. */
static void list_put(const struct maker *m, unsigned index, const uint64_t *pairs)
{
    struct dwarf_bytes *out = part(m, m->version >= 5 ? PART_RNGLISTS : PART_RANGES);
    if (m->version >= 5) {
        patch(out, 12 + index * 4, out->n - 12, 4);
        dwarf_put(info(m), index, 1);
    } else {
        dwarf_put(info(m), out->n, 4);
    }
    for (bool first = true; pairs[0] != 0; pairs += 2, first = false) {
        if (m->version < 5) {
            dwarf_put(out, pairs[0], 8);
            dwarf_put(out, pairs[1], 8);
        } else if (first) {
            dwarf_put(out, DW_RLE_start_length, 1);
            dwarf_put(out, pairs[0], 8);
            dwarf_put_uleb(out, pairs[1] - pairs[0]);
        } else {
            dwarf_put(out, DW_RLE_base_address, 1);
            dwarf_put(out, pairs[0], 8);
            dwarf_put(out, DW_RLE_offset_pair, 1);
            dwarf_put_uleb(out, 0);
            dwarf_put_uleb(out, pairs[1] - pairs[0]);
        }
    }
    if (m->version >= 5) {
        dwarf_put(out, DW_RLE_end_of_list, 1);
    } else {
        dwarf_put(out, 0, 8);
        dwarf_put(out, 0, 8);
    }
}

/* ---- abbreviations ---- */

enum code {
    CODE_UNIT = 1,
    CODE_NAMESPACE,
    CODE_CLASS,
    CODE_DECLARATION,
    CODE_ABSTRACT,
    CODE_DEFINITION,
    CODE_BLOCK,
    CODE_CALL_IN_PIECES,
    CODE_CALL,
    CODE_INSTANCE,
    CODE_FUNCTION,
    CODE_UNIT_OF_C,
};

static void abbrevs_make(const struct maker *m)
{
    struct dwarf_bytes *out = part(m, PART_ABBREV);
    bool five = m->version >= 5;
    const unsigned unit[] = {DW_AT_name,
                             m->text_form,
                             DW_AT_comp_dir,
                             m->text_form,
                             DW_AT_language,
                             DW_FORM_data1,
                             DW_AT_stmt_list,
                             m->offset_form,
                             DW_AT_low_pc,
                             DW_FORM_addr,
                             DW_AT_ranges,
                             m->list_form,
                             five ? DW_AT_str_offsets_base : 0,
                             DW_FORM_sec_offset,
                             DW_AT_addr_base,
                             DW_FORM_sec_offset,
                             DW_AT_rnglists_base,
                             DW_FORM_sec_offset,
                             0,
                             0};
    dwarf_put_abbrev(out, CODE_UNIT, DW_TAG_compile_unit, true, unit);
    const unsigned named[] = {DW_AT_name, m->text_form, 0, 0};
    dwarf_put_abbrev(out, CODE_NAMESPACE, DW_TAG_namespace, true, named);
    const unsigned class[] = {DW_AT_name, m->text_form, DW_AT_sibling, DW_FORM_ref4, 0, 0};
    dwarf_put_abbrev(out, CODE_CLASS, DW_TAG_class_type, true, class);
    const unsigned declaration[] = {DW_AT_name,
                                    m->text_form,
                                    m->version < 4 ? DW_AT_MIPS_linkage_name : DW_AT_linkage_name,
                                    m->text_form,
                                    DW_AT_decl_file,
                                    DW_FORM_data1,
                                    DW_AT_decl_line,
                                    DW_FORM_udata,
                                    DW_AT_declaration,
                                    DW_FORM_flag,
                                    0,
                                    0};
    dwarf_put_abbrev(out, CODE_DECLARATION, DW_TAG_subprogram, false, declaration);
    const unsigned abstract[] = {DW_AT_name,
                                 m->text_form,
                                 DW_AT_specification,
                                 DW_FORM_ref4,
                                 DW_AT_linkage_name,
                                 m->text_form,
                                 DW_AT_decl_file,
                                 DW_FORM_data1,
                                 DW_AT_decl_line,
                                 DW_FORM_data2,
                                 DW_AT_inline,
                                 DW_FORM_data1,
                                 0,
                                 0};
    dwarf_put_abbrev(out, CODE_ABSTRACT, DW_TAG_subprogram, false, abstract);
    const unsigned definition[] = {
        DW_AT_specification, DW_FORM_ref4,     DW_AT_low_pc,   m->low_form, DW_AT_high_pc,
        m->high_form,        DW_AT_frame_base, DW_FORM_block1, 0,           0};
    dwarf_put_abbrev(out, CODE_DEFINITION, DW_TAG_subprogram, true, definition);
    const unsigned block[] = {DW_AT_low_pc, m->low_form, DW_AT_high_pc, m->high_form, 0, 0};
    dwarf_put_abbrev(out, CODE_BLOCK, DW_TAG_lexical_block, true, block);
    const unsigned call_in_pieces[] = {DW_AT_abstract_origin,
                                       DW_FORM_ref4,
                                       DW_AT_ranges,
                                       m->list_form,
                                       DW_AT_call_file,
                                       DW_FORM_data1,
                                       DW_AT_call_line,
                                       DW_FORM_data1,
                                       DW_AT_call_column,
                                       DW_FORM_data1,
                                       0,
                                       0};
    dwarf_put_abbrev(out, CODE_CALL_IN_PIECES, DW_TAG_inlined_subroutine, true, call_in_pieces);
    const unsigned call[] = {DW_AT_abstract_origin,
                             DW_FORM_ref4,
                             DW_AT_low_pc,
                             m->low_form,
                             DW_AT_high_pc,
                             m->high_form,
                             DW_AT_call_file,
                             DW_FORM_data1,
                             DW_AT_call_line,
                             five ? DW_FORM_implicit_const : DW_FORM_data1,
                             five ? 41 : 0,
                             0,
                             0};
    dwarf_put_abbrev(out, CODE_CALL, DW_TAG_inlined_subroutine, false, call);
    const unsigned instance[] = {DW_AT_abstract_origin,
                                 DW_FORM_ref4,
                                 DW_AT_low_pc,
                                 m->low_form,
                                 DW_AT_high_pc,
                                 m->high_form,
                                 0,
                                 0};
    dwarf_put_abbrev(out, CODE_INSTANCE, DW_TAG_subprogram, false, instance);
    const unsigned function[] = {DW_AT_name,
                                 m->text_form,
                                 DW_AT_decl_file,
                                 DW_FORM_data1,
                                 DW_AT_decl_line,
                                 DW_FORM_data1,
                                 DW_AT_low_pc,
                                 m->low_form,
                                 DW_AT_high_pc,
                                 m->high_form,
                                 0,
                                 0};
    dwarf_put_abbrev(out, CODE_FUNCTION, DW_TAG_subprogram, false, function);
    const unsigned unit_of_c[] = {DW_AT_name,
                                  m->text_form,
                                  DW_AT_language,
                                  DW_FORM_data1,
                                  five ? DW_AT_str_offsets_base : 0,
                                  DW_FORM_sec_offset,
                                  DW_AT_addr_base,
                                  DW_FORM_sec_offset,
                                  0,
                                  0};
    dwarf_put_abbrev(out, CODE_UNIT_OF_C, DW_TAG_compile_unit, true, unit_of_c);
    dwarf_put(out, 0, 1);
}

/* ---- .debug_info ---- */

static void unit_begin(struct maker *m)
{
    m->unit = info(m)->n;
    dwarf_put(info(m), 0, 4);
    dwarf_put(info(m), m->version, 2);
    if (m->version >= 5) {
        dwarf_put(info(m), DW_UT_compile, 1);
        dwarf_put(info(m), 8, 1);
    }
    dwarf_put(info(m), 0, 4); /* abbreviations */
    if (m->version < 5)
        dwarf_put(info(m), 8, 1);
}

static void unit_end(const struct maker *m)
{
    dwarf_put(info(m), 0, 1);
    dwarf_length_set(info(m), m->unit);
}

static void bases_put(const struct maker *m, bool lists)
{
    if (m->version < 5)
        return;
    dwarf_put(info(m), TABLE_HEADER_BYTES, 4);
    dwarf_put(info(m), TABLE_HEADER_BYTES, 4);
    if (lists)
        dwarf_put(info(m), 12, 4);
}

static void code_put(const struct maker *m, enum code code)
{
    dwarf_put_uleb(info(m), code);
}

static void ref_put(const struct maker *m, size_t die)
{
    dwarf_put(info(m), die - m->unit, 4);
}

static size_t class_put(const struct maker *m)
{
    m->sample->class = info(m)->n;
    code_put(m, CODE_CLASS);
    text_put(m, "box");
    size_t sibling = m->sample->sibling = info(m)->n;
    dwarf_put(info(m), 0, 4);
    size_t declaration = info(m)->n;
    code_put(m, CODE_DECLARATION);
    text_put(m, "get");
    text_put(m, "_ZN2ns3box3getEv");
    dwarf_put(info(m), 2, 1); /* file */
    dwarf_put_uleb(info(m), 7);
    dwarf_put(info(m), 1, 1);
    dwarf_put(info(m), 0, 1);
    patch(info(m), sibling, info(m)->n - m->unit, 4);
    return declaration;
}

static size_t abstract_put(const struct maker *m, const char *name, const char *linkage,
                           unsigned line)
{
    size_t die = info(m)->n;
    code_put(m, CODE_ABSTRACT);
    text_put(m, name);
    dwarf_put(info(m), 0, 4); /* refers to nothing */
    text_put(m, linkage);
    dwarf_put(info(m), 1, 1);
    dwarf_put(info(m), line, 2);
    dwarf_put(info(m), DW_INL_declared_inlined, 1);
    return die;
}

static void calls_put(const struct maker *m, size_t deep)
{
    static const uint64_t pieces[] = {0x1010, 0x1020, 0x1030, 0x1040, 0};
    code_put(m, CODE_BLOCK);
    pcs_put(m, 0x1010, 0x1080);
    code_put(m, CODE_CALL_IN_PIECES);
    m->sample->origin_of_call = info(m)->n;
    ref_put(m, m->sample->abstract);
    list_put(m, 1, pieces);
    dwarf_put(info(m), 2, 1);  /* file   */
    dwarf_put(info(m), 33, 1); /* line   */
    dwarf_put(info(m), 5, 1);  /* column */
    code_put(m, CODE_CALL);
    ref_put(m, deep);
    pcs_put(m, 0x1012, 0x1016);
    dwarf_put(info(m), 1, 1);
    if (m->version < 5)
        dwarf_put(info(m), 41, 1);
    dwarf_put(info(m), 0, 1); /* of the call  */
    dwarf_put(info(m), 0, 1); /* of the block */
}

/* A function whose code the linker took from another unit, so that its own addresses count from 0
 * (those of the call look like code by chance). What stands in its class has code. */
static void dropped_put(const struct maker *m, size_t deep)
{
    code_put(m, CODE_DEFINITION);
    ref_put(m, m->sample->declaration);
    pcs_put(m, 0, 0x1400);
    dwarf_put(info(m), 1, 1);
    dwarf_put(info(m), DW_OP_call_frame_cfa, 1);
    code_put(m, CODE_CALL);
    ref_put(m, deep);
    pcs_put(m, 0x1210, 0x1280);
    dwarf_put(info(m), 1, 1);
    if (m->version < 5)
        dwarf_put(info(m), 41, 1);
    code_put(m, CODE_CLASS);
    text_put(m, "local");
    size_t sibling = info(m)->n;
    dwarf_put(info(m), 0, 4);
    code_put(m, CODE_FUNCTION);
    text_put(m, "lambda");
    dwarf_put(info(m), 1, 1);
    dwarf_put(info(m), 60, 1);
    pcs_put(m, 0x1200, 0x1240);
    dwarf_put(info(m), 0, 1); /* of the class */
    patch(info(m), sibling, info(m)->n - m->unit, 4);
    dwarf_put(info(m), 0, 1); /* of the function */
}

static void unit_of_cxx(struct maker *m)
{
    static const uint64_t ranges[] = {0x1000, 0x1260, 0x1300, 0x1340, 0};
    unit_begin(m);
    code_put(m, CODE_UNIT);
    text_put(m, "main.cc");
    text_put(m, "/src");
    dwarf_put(info(m), DW_LANG_C_plus_plus_14, 1);
    dwarf_put(info(m), 0, 4);
    dwarf_put(info(m), 0, 8);
    list_put(m, 0, ranges);
    bases_put(m, true);
    code_put(m, CODE_NAMESPACE);
    text_put(m, "ns");
    m->sample->declaration = class_put(m);
    dwarf_put(info(m), 0, 1);
    m->sample->abstract = abstract_put(m, "helper", "_Z6helperv", 20);
    m->sample->abstract_ref = m->sample->abstract + 1 +
                              (m->text_form == DW_FORM_string ? 7
                               : m->text_form == DW_FORM_strp ? 4
                                                              : 1);
    size_t deep = abstract_put(m, "deep", "_Z4deepv", 300);
    code_put(m, CODE_DEFINITION);
    m->sample->specification = info(m)->n;
    ref_put(m, m->sample->declaration);
    pcs_put(m, 0x1000, 0x1100);
    dwarf_put(info(m), 1, 1);
    dwarf_put(info(m), DW_OP_call_frame_cfa, 1);
    calls_put(m, deep);
    dwarf_put(info(m), 0, 1);
    code_put(m, CODE_INSTANCE);
    ref_put(m, m->sample->abstract);
    pcs_put(m, 0x1100, 0x1200);
    dropped_put(m, deep);
    m->sample->last_function = info(m)->n;
    code_put(m, CODE_FUNCTION);
    text_put(m, "plain");
    dwarf_put(info(m), 2, 1);
    dwarf_put(info(m), 50, 1);
    pcs_put(m, 0x1300, 0x1340);
    unit_end(m);
}

static void unit_of_c(struct maker *m)
{
    m->sample->second_unit = info(m)->n;
    unit_begin(m);
    code_put(m, CODE_UNIT_OF_C);
    text_put(m, "second.c");
    dwarf_put(info(m), DW_LANG_C99, 1);
    bases_put(m, false);
    code_put(m, CODE_FUNCTION);
    text_put(m, "second");
    dwarf_put(info(m), 1, 1);
    dwarf_put(info(m), 3, 1);
    pcs_put(m, 0x1400, 0x1440);
    unit_end(m);
}

/* ---- .debug_line ---- */

static void file_put(const struct maker *m, const char *name, unsigned folder)
{
    struct dwarf_bytes *out = part(m, PART_LINE);
    if (m->version < 5) {
        dwarf_put_text(out, name);
        dwarf_put(out, folder, 1);
        dwarf_put(out, 0, 2); /* date, size */
        return;
    }
    dwarf_put(out, part(m, PART_LINE_STR)->n, 4);
    dwarf_put_text(part(m, PART_LINE_STR), name);
    dwarf_put(out, folder, 1);
}

static void line_tables_put(const struct maker *m)
{
    struct dwarf_bytes *out = part(m, PART_LINE);
    if (m->version < 5) {
        dwarf_put_text(out, "/usr/include");
        dwarf_put(out, 0, 1);
        file_put(m, "main.cc", 0);
        file_put(m, "inc/box.h", 1);
        dwarf_put(out, 0, 1);
        return;
    }
    dwarf_put(out, 1, 1); /* folders: one value each */
    dwarf_put_uleb(out, DW_LNCT_path);
    dwarf_put_uleb(out, DW_FORM_string);
    dwarf_put(out, 2, 1);
    dwarf_put_text(out, "/src");
    dwarf_put_text(out, "/usr/include");
    dwarf_put(out, 2, 1); /* files: two */
    dwarf_put_uleb(out, DW_LNCT_path);
    dwarf_put_uleb(out, DW_FORM_line_strp);
    dwarf_put_uleb(out, DW_LNCT_directory_index);
    dwarf_put_uleb(out, DW_FORM_udata);
    dwarf_put(out, 3, 1);
    file_put(m, "main.cc", 0);
    file_put(m, "main.cc", 0);
    file_put(m, "inc/box.h", 1);
}

static void set_address_put(struct dwarf_bytes *out, uint64_t vaddr)
{
    dwarf_put(out, 0, 1);
    dwarf_put(out, 9, 1);
    dwarf_put(out, DW_LNE_set_address, 1);
    dwarf_put(out, vaddr, 8);
}

enum { OPCODE_BASE = 13, LINE_RANGE = 14, LINE_BASE = -5 };

static void special_put(struct dwarf_bytes *out, unsigned bytes, int lines)
{
    dwarf_put(out, (unsigned)(lines - LINE_BASE) + LINE_RANGE * bytes + OPCODE_BASE, 1);
}

static void rows_put(struct dwarf_bytes *out)
{
    set_address_put(out, 0x1000);
    dwarf_put(out, DW_LNS_advance_line, 1);
    dwarf_put(out, 9, 1);
    dwarf_put(out, DW_LNS_set_column, 1);
    dwarf_put(out, 17, 1);
    dwarf_put(out, DW_LNS_copy, 1); /* 0x1000: main.cc:10:17 */
    special_put(out, 16, 5);        /* 0x1010: 15            */
    dwarf_put(out, DW_LNS_set_file, 1);
    dwarf_put(out, 2, 1);
    special_put(out, 2, 3); /* 0x1012: box.h:18      */
    dwarf_put(out, DW_LNS_negate_stmt, 1);
    dwarf_put(out, DW_LNS_set_file, 1);
    dwarf_put(out, 1, 1);
    special_put(out, 4, -4); /* 0x1016: main.cc:14    */
    dwarf_put(out, DW_LNS_const_add_pc, 1);
    special_put(out, 1, 0); /* 0x1028                */
    dwarf_put(out, DW_LNS_advance_pc, 1);
    dwarf_put_uleb(out, 0xd8);
    special_put(out, 0, 2); /* 0x1100: 16            */
    dwarf_put(out, DW_LNS_fixed_advance_pc, 1);
    dwarf_put(out, 0x100, 2);
    dwarf_put(out, 0, 1);
    dwarf_put(out, 1, 1);
    dwarf_put(out, DW_LNE_end_sequence, 1);
    set_address_put(out, 0x1300);
    dwarf_put(out, DW_LNS_set_file, 1);
    dwarf_put(out, 2, 1);
    dwarf_put(out, DW_LNS_copy, 1); /* 0x1300: box.h:1 */
    dwarf_put(out, DW_LNS_advance_pc, 1);
    dwarf_put_uleb(out, 0x40);
    dwarf_put(out, 0, 1);
    dwarf_put(out, 1, 1);
    dwarf_put(out, DW_LNE_end_sequence, 1);
}

static void lines_make(const struct maker *m)
{
    static const uint8_t operands[] = {0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1};
    struct dwarf_bytes *out = part(m, PART_LINE);
    dwarf_put(out, 0, 4);
    dwarf_put(out, m->version, 2);
    if (m->version >= 5) {
        dwarf_put(out, 8, 1);
        dwarf_put(out, 0, 1);
    }
    size_t header = out->n;
    dwarf_put(out, 0, 4);
    dwarf_put(out, 1, 1); /* bytes of an instruction */
    if (m->version >= 4)
        dwarf_put(out, 1, 1); /* operations of one */
    dwarf_put(out, 1, 1);
    dwarf_put(out, (uint8_t)LINE_BASE, 1);
    dwarf_put(out, LINE_RANGE, 1);
    dwarf_put(out, OPCODE_BASE, 1);
    put_bytes(out, operands, sizeof operands);
    line_tables_put(m);
    dwarf_length_set(out, header);
    rows_put(out);
    dwarf_length_set(out, 0);
}

/* ---- all together ---- */

void dwarf_sample_make(struct dwarf_sample *sample, unsigned version)
{
    bool five = version >= 5;
    struct maker m = {
        .sample = sample,
        .version = version,
        .text_form = version == 2 ? DW_FORM_string
                     : five       ? DW_FORM_strx1
                                  : DW_FORM_strp,
        .low_form = five ? DW_FORM_addrx : DW_FORM_addr,
        .high_form = version < 4 ? DW_FORM_addr : DW_FORM_data4,
        .list_form = version < 4 ? DW_FORM_data4
                     : five      ? DW_FORM_rnglistx
                                 : DW_FORM_sec_offset,
        .offset_form = version < 4 ? DW_FORM_data4 : DW_FORM_sec_offset,
    };
    *sample = (struct dwarf_sample){.second_unit = 0};
    if (five) {
        table_begin(part(&m, PART_STR_OFFSETS), 0);
        table_begin(part(&m, PART_ADDR), 8);
        table_begin(part(&m, PART_RNGLISTS), 8);
        dwarf_put(part(&m, PART_RNGLISTS), 2, 4); /* number of lists */
        dwarf_put(part(&m, PART_RNGLISTS), 0, 8); /* their offsets   */
    }
    abbrevs_make(&m);
    unit_of_cxx(&m);
    unit_of_c(&m);
    lines_make(&m);
    if (five) {
        dwarf_length_set(part(&m, PART_STR_OFFSETS), 0);
        dwarf_length_set(part(&m, PART_ADDR), 0);
        dwarf_length_set(part(&m, PART_RNGLISTS), 0);
    }
}

void dwarf_sample_drop(struct dwarf_sample *sample)
{
    for (size_t i = 0; i < N_PARTS; i++)
        free(sample->of[i].bytes);
    *sample = (struct dwarf_sample){.second_unit = 0};
}

void dwarf_sample_parts(const struct dwarf_sample *sample, enum dwarf_part last,
                        struct elf_part parts[N_PARTS + 1])
{
    static const char *const names[N_PARTS] = {
        ".debug_info",   ".debug_abbrev",   ".debug_line", ".debug_str",        ".debug_line_str",
        ".debug_ranges", ".debug_rnglists", ".debug_addr", ".debug_str_offsets"};
    parts[0] = (struct elf_part){
        .name = ".text", .vaddr = DWARF_CODE_START, .code_bytes = DWARF_CODE_BYTES};
    for (size_t i = 0; i < N_PARTS; i++) {
        size_t id = (i + (size_t)last + 1) % N_PARTS;
        parts[i + 1] = (struct elf_part){
            .name = names[id], .bytes = sample->of[id].bytes, .n = sample->of[id].n};
    }
}

uint8_t *dwarf_sample_image(const struct dwarf_sample *sample, enum dwarf_part last,
                            size_t *size_bytes)
{
    struct elf_part parts[N_PARTS + 1];
    dwarf_sample_parts(sample, last, parts);
    return elf_build(parts, N_PARTS + 1, size_bytes);
}
