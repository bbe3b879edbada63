/* fde.c - the fde for a pc: .eh_frame_hdr, .eh_frame, cie and fde headers.
 *
 * Linkers write a sorted table into .eh_frame_hdr, in one of two encodings; only those are searched
 * by halving. Personality routines and exception tables are skipped by their length, never
 * followed. */
#include "cfi/cfi.h"

/* Records walked at most where there is no table: a bound, some milliseconds. */
#define LINEAR_RECORDS_MAX 65536u

/* One record of .eh_frame. */
struct cfi_record {
    struct cfi_bytes body; /* after the length and the id (a cie) or cie pointer (an fde) */
    const uint8_t *cie;    /* of an fde: where its cie starts; NULL: is a cie */
    const uint8_t *next;   /* the record after it */
};

SIGNAL_SAFE static struct cfi_bytes segment_bytes(const struct segments *segments, uint64_t address)
{
    size_t left = segments_left(segments, address, SEGMENT_READ);
    if (left == 0)
        return (struct cfi_bytes){.failed = true};
    const uint8_t *pos = address_pointer(address);
    return (struct cfi_bytes){.pos = pos, .end = pos + left};
}

/* The record at `in`; in->failed when it is cut, malformed, or the terminating zero. */
SIGNAL_SAFE static struct cfi_record record_read(struct cfi_bytes *in)
{
    struct cfi_record record = {.cie = NULL};
    uint64_t length = cfi_number(in, 4);
    if (length == UINT32_MAX)
        length = cfi_number(in, 8); /* the id stays 4 bytes long in .eh_frame */
    record.body = cfi_piece(in, length);
    record.next = in->pos;
    const uint8_t *id_pos = record.body.pos;
    uint64_t id = cfi_number(&record.body, 4);
    if (length == 0 || record.body.failed)
        in->failed = true;
    else if (id != 0)
        record.cie = id_pos - id;
    return record;
}

/* The part of a cie that its augmentation text describes, into the fde it is for. */
SIGNAL_SAFE static bool augmentation_read(struct cfi_bytes *in, struct cfi_bytes text,
                                          struct cfi_fde *fde)
{
    fde->encoding = CFI_PE_ABSPTR;
    fde->signal_frame = false;
    if (cfi_left(&text) == 0)
        return true;
    if (cfi_u8(&text) != 'z')
        return false; /* unknown data of unknown length follows */
    struct cfi_bytes data = cfi_piece(in, cfi_uleb128(in));
    while (cfi_left(&text) > 0 && !data.failed) {
        uint8_t letter = cfi_u8(&text);
        if (letter == 'R') {
            fde->encoding = cfi_u8(&data);
        } else if (letter == 'P') {
            /* The personality is of no interest; only its length is. A 0 is no pointer at all. */
            unsigned encoding = cfi_u8(&data);
            (void)cfi_pointer(&data, encoding & CFI_PE_FORM, 0);
        } else if (letter == 'L') {
            (void)cfi_u8(&data);
        } else if (letter == 'S') {
            fde->signal_frame = true;
        } else if (letter != 'B' && letter != 'G') {
            break; /* what it means for the data is unknown, but their length is */
        }
    }
    return !data.failed;
}

SIGNAL_SAFE static bool cie_read(struct cfi_bytes in, struct cfi_fde *fde)
{
    uint8_t version = cfi_u8(&in);
    struct cfi_bytes text = in;
    while (cfi_u8(&in) != 0) {
    }
    if (in.failed || (version != 1 && version != 3 && version != 4))
        return false;
    text.end = in.pos - 1;
    if (version == 4 && cfi_number(&in, 2) != sizeof(uint64_t)) /* address size; no segments */
        return false;
    fde->code_align = cfi_uleb128(&in);
    fde->data_align = cfi_sleb128(&in);
    uint64_t ra_column = version == 1 ? cfi_u8(&in) : cfi_uleb128(&in);
    if (in.failed || ra_column >= ARCH_N_REGISTERS)
        return false;
    fde->ra_column = (uint8_t)ra_column;
    if (!augmentation_read(&in, text, fde))
        return false;
    fde->cie_program = in;
    return !in.failed;
}

SIGNAL_SAFE static bool fde_parse(const struct segments *segments, const struct cfi_record *record,
                                  struct cfi_fde *fde)
{
    struct cfi_bytes cie_bytes = segment_bytes(segments, (uint64_t)record->cie);
    struct cfi_record cie = record_read(&cie_bytes);
    if (cie_bytes.failed || cie.cie != NULL || !cie_read(cie.body, fde))
        return false;
    struct cfi_bytes in = record->body;
    fde->pc_start = cfi_pointer(&in, fde->encoding, 0);
    uint64_t n_pcs = cfi_pointer(&in, fde->encoding & CFI_PE_FORM, 0);
    fde->pc_end = fde->pc_start + n_pcs;
    /* Augmentation data (the pointer to exception tables) follow exactly if the cie has a `z`,
     * which is the only kind of augmentation accepted above. */
    bool has_augmentation = cie.body.pos + 1 < cie.body.end && cie.body.pos[1] == 'z';
    if (has_augmentation)
        cfi_skip(&in, cfi_uleb128(&in));
    fde->program = in;
    return !in.failed && fde->pc_end > fde->pc_start;
}

bool cfi_fde_read(const struct segments *segments, uint64_t address, struct cfi_fde *fde)
{
    struct cfi_bytes in = segment_bytes(segments, address);
    struct cfi_record record = record_read(&in);
    return !in.failed && record.cie != NULL && fde_parse(segments, &record, fde);
}

SIGNAL_SAFE static bool fde_find_linear(const struct segments *segments, uint64_t eh_frame,
                                        uint64_t pc, struct cfi_fde *fde)
{
    struct cfi_bytes in = segment_bytes(segments, eh_frame);
    for (unsigned n = 0; n < LINEAR_RECORDS_MAX; n++) {
        struct cfi_record record = record_read(&in);
        if (in.failed)
            return false;
        bool covers = record.cie != NULL && fde_parse(segments, &record, fde) &&
                      pc >= fde->pc_start && pc < fde->pc_end;
        if (covers)
            return true;
    }
    return false;
}

/* A sorted table of pairs (pc start, fde address), each field `field_bytes` wide and relative to
 * `base`. */
struct cfi_table {
    const uint8_t *pairs;
    uint64_t n;
    uint64_t base;
    unsigned field_bytes;
};

SIGNAL_SAFE static uint64_t table_field(const struct cfi_table *table, uint64_t index,
                                        unsigned field)
{
    struct cfi_bytes in = {.pos = table->pairs + (index * 2 + field) * table->field_bytes};
    in.end = in.pos + table->field_bytes;
    if (likely(table->field_bytes == 4)) /* what linkers write; a size known to the compiler */
        return table->base + cfi_sign_extend(cfi_number(&in, 4), 4);
    return table->base + cfi_sign_extend(cfi_number(&in, 8), 8);
}

/* Address of the last fde that starts at or below `pc`, 0 if there is none. */
SIGNAL_SAFE static uint64_t table_search(const struct cfi_table *table, uint64_t pc)
{
    uint64_t low = 0; /* all pairs below it start at or below pc; all from `high` on above */
    uint64_t high = table->n;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (table_field(table, middle, 0) <= pc)
            low = middle + 1;
        else
            high = middle;
    }
    return low == 0 ? 0 : table_field(table, low - 1, 1);
}

bool cfi_fde_find(const struct segments *segments, uint64_t eh_frame_hdr, uint64_t pc,
                  struct cfi_fde *fde)
{
    struct cfi_bytes in = segment_bytes(segments, eh_frame_hdr);
    uint8_t version = cfi_u8(&in);
    uint8_t eh_frame_encoding = cfi_u8(&in);
    uint8_t count_encoding = cfi_u8(&in);
    uint8_t table_encoding = cfi_u8(&in);
    uint64_t eh_frame = cfi_pointer(&in, eh_frame_encoding, eh_frame_hdr);
    if (in.failed || version != 1)
        return false;

    struct cfi_table table = {.base = eh_frame_hdr};
    if (table_encoding == (CFI_PE_DATAREL | CFI_PE_SDATA4))
        table.field_bytes = 4;
    else if (table_encoding == (CFI_PE_DATAREL | CFI_PE_SDATA8))
        table.field_bytes = 8;
    if (table.field_bytes == 0 || count_encoding == CFI_PE_OMIT)
        return fde_find_linear(segments, eh_frame, pc, fde);

    table.n = cfi_pointer(&in, count_encoding, eh_frame_hdr);
    table.pairs = in.pos;
    if (in.failed || table.n > cfi_left(&in) / (2 * (size_t)table.field_bytes))
        return false;
    uint64_t address = table_search(&table, pc);
    return address != 0 && cfi_fde_read(segments, address, fde) && pc >= fde->pc_start &&
           pc < fde->pc_end;
}
