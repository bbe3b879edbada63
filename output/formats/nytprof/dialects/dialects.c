/* dialects.c - the rows of both NYTProf formats in the table, and which dialect a file is of.
 *
 * In a folder of its own above the two: each reader, given a file of the other dialect, hands it
 * over, so both rows need both readers, while chunked/ needs what is in the folder around it. */
#include "formats/nytprof/nytprof.h"
#include "formats/nytprof/stream.h"

/* The dialect shows behind the text lines at the top, which may be longer than the head. */
static int sniff(const uint8_t *head, size_t head_bytes, enum nytprof_dialect dialect)
{
    enum nytprof_dialect found = nytprof_dialect_of(head, head_bytes);
    if (found == NYTPROF_NONE)
        return 0;
    return found == dialect ? 100 : 10;
}

static int sniff_real(const uint8_t *head, size_t head_bytes)
{
    return sniff(head, head_bytes, NYTPROF_REAL);
}

static int sniff_chunked(const uint8_t *head, size_t head_bytes)
{
    return sniff(head, head_bytes, NYTPROF_CHUNKED);
}

static bool read_either(const uint8_t *data, size_t size_bytes,
                        const struct format_options *options, const struct format_notes *notes,
                        struct profile **out, struct err *err)
{
    if (nytprof_dialect_of(data, size_bytes) == NYTPROF_CHUNKED)
        return nytprof_read_chunked(data, size_bytes, options, notes, out, err);
    return nytprof_read_real(data, size_bytes, options, notes, out, err);
}

static bool dump_either(const uint8_t *data, size_t size_bytes, const struct format_notes *notes,
                        struct sink *out, struct err *err)
{
    if (nytprof_dialect_of(data, size_bytes) == NYTPROF_CHUNKED)
        return nytprof_dump_chunked(data, size_bytes, out, err);
    return nytprof_dump_real(data, size_bytes, notes, out, err);
}

static bool write_chunked(const struct profile *profile, const struct format_options *options,
                          const struct format_notes *notes, struct sink *out, struct err *err)
{
    (void)options;
    return nytprof_write_chunked(profile, notes, out, err);
}

static const char *const real_extensions[] = {"nytprof", NULL};
static const char *const chunked_extensions[] = {"nytprofc", NULL};

const struct format format_nytprof = {
    .name = "nytprof",
    .extensions = real_extensions,
    .about = "NYTProf 5 for Perl's nytprofhtml, nytprofcsv, nytprofcg, nytprofcalls",
    .keeps = KEEPS_SAMPLES | KEEPS_FILES,
    .sniff = sniff_real,
    .read = read_either,
    .write = nytprof_write_real,
    .dump = dump_either,
};

const struct format format_nytprof_chunked = {
    .name = "nytprof-chunked",
    .extensions = chunked_extensions,
    .about = "NYTProf-like framed chunks; read by no other software",
    .keeps = 0,
    .sniff = sniff_chunked,
    .read = read_either,
    .write = write_chunked,
    .dump = dump_either,
};
