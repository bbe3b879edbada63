/* header.c - the header of a .prof file: signature, version, and the fields each
 * version has. */
#include <inttypes.h>
#include <string.h>

#include "formats/easyprofiler/parse.h"

static bool check_signature(struct easyprofiler_parser *p)
{
    static const uint8_t big_endian[4] = {0x45, 0x61, 0x73, 0x79};
    struct cursor in = p->in;
    uint32_t signature = cursor_u32le(&p->in);
    if (p->in.failed)
        return err_fail(p->err, ERR_TRUNCATED, 0,
                        "not an EasyProfiler file: expected the signature 79 73 61 45, found %zu "
                        "bytes in all",
                        cursor_left(&in));
    if (signature == EASYPROFILER_SIGNATURE)
        return true;
    if (memcmp(in.pos, big_endian, sizeof big_endian) == 0)
        return err_fail(p->err, ERR_UNSUPPORTED, 0,
                        "the signature is 45 61 73 79: written on a big-endian machine, expected "
                        "79 73 61 45");
    return err_fail(p->err, ERR_FORMAT, 0,
                    "not an EasyProfiler file: expected the signature 79 73 61 45, found %02x %02x "
                    "%02x %02x",
                    in.pos[0], in.pos[1], in.pos[2], in.pos[3]);
}

/* Fields in the order of versions before 2.0.0; the process id came after 1.0.0 and has 64 bits
 * from 1.3.0. */
static void read_old_header(struct easyprofiler_parser *p, uint64_t *begin, uint64_t *end)
{
    struct easyprofiler_file *file = p->file;
    if (file->version > EASYPROFILER_VERSION(1, 0, 0))
        file->pid = easyprofiler_has_wide_ids(p) ? cursor_u64le(&p->in) : cursor_u32le(&p->in);
    file->frequency_hz = cursor_u64le(&p->in);
    *begin = cursor_u64le(&p->in);
    *end = cursor_u64le(&p->in);
    p->records_total = cursor_u32le(&p->in);
    p->blocks_memory = cursor_u64le(&p->in);
    file->n_descriptors = cursor_u32le(&p->in);
    p->descriptors_memory = cursor_u64le(&p->in);
}

/* From 2.0.0; counts of threads and bookmarks came with 2.1.0. */
static void read_new_header(struct easyprofiler_parser *p, uint64_t *begin, uint64_t *end,
                            uint16_t *padding)
{
    struct easyprofiler_file *file = p->file;
    file->pid = cursor_u64le(&p->in);
    file->frequency_hz = cursor_u64le(&p->in);
    *begin = cursor_u64le(&p->in);
    *end = cursor_u64le(&p->in);
    p->blocks_memory = cursor_u64le(&p->in);
    p->descriptors_memory = cursor_u64le(&p->in);
    p->records_total = cursor_u32le(&p->in);
    file->n_descriptors = cursor_u32le(&p->in);
    if (!easyprofiler_has_counts(p))
        return;
    p->n_sections = cursor_u32le(&p->in);
    p->n_bookmarks = cursor_u16le(&p->in);
    *padding = cursor_u16le(&p->in);
}

/* A newer version is read as the newest known one, with a note: if records changed, their own size
 * fields and texts will not fit. */
static bool check_version(struct easyprofiler_parser *p)
{
    uint32_t version = p->file->version;
    if (p->in.failed)
        return easyprofiler_fail_truncated(p, 4, "the version");
    if (version < EASYPROFILER_VERSION(0, 1, 0))
        return err_fail(p->err, ERR_VERSION, 4, "version %u.%u.%u, expected 0.1.0 or newer",
                        version >> 24, version >> 16 & 0xff, version & 0xffff);
    if (version > EASYPROFILER_VERSION(2, 1, 0))
        return easyprofiler_odd(p, 4, "version %u.%u.%u is newer than 2.1.0; read as 2.1.0",
                                version >> 24, version >> 16 & 0xff, version & 0xffff);
    return true;
}

bool easyprofiler_read_header(struct easyprofiler_parser *p)
{
    struct easyprofiler_file *file = p->file;
    if (!check_signature(p))
        return false;
    file->version = cursor_u32le(&p->in);
    if (!check_version(p))
        return false;
    uint64_t begin = 0;
    uint64_t end = 0;
    uint16_t padding = 0;
    if (file->version < EASYPROFILER_VERSION(2, 0, 0))
        read_old_header(p, &begin, &end);
    else
        read_new_header(p, &begin, &end, &padding);
    uint64_t header_bytes = cursor_offset(&p->in);
    if (p->in.failed)
        return easyprofiler_fail_truncated(p, 0, "the header");
    if (padding != 0)
        return err_fail(p->err, ERR_FORMAT, header_bytes - 2, "header padding is %u, expected 0",
                        padding);
    if (easyprofiler_has_counts(p) && p->n_sections == 0)
        return err_fail(p->err, ERR_FORMAT, header_bytes - 8,
                        "the count of threads is 0, expected at least 1");
    if (file->frequency_hz != 0)
        file->ns_per_tick = 1e9 / (double)file->frequency_hz;
    if (file->frequency_hz > INT64_MAX &&
        !easyprofiler_odd(p, 0, "the clock's frequency is negative; taken as %" PRIu64,
                          file->frequency_hz))
        return false;
    file->begin_ns = easyprofiler_to_ns(file, begin);
    file->end_ns = easyprofiler_to_ns(file, end);
    return true;
}
