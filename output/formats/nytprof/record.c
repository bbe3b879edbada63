/* record.c - see formats/nytprof/record.h. One row for each record, its fields in the order of their bytes. */
#include "formats/nytprof/record.h"

#include <stddef.h>

#define FIELD(name, wire, member)                                                                  \
    {                                                                                              \
        name, NYTPROF_WIRE_##wire, offsetof(struct nytprof_record, member)                         \
    }

/* clang-format off */
const struct nytprof_kind nytprof_kinds[] = {
    {NYTPROF_ATTRIBUTE, "ATTRIBUTE", {FIELD("key", KEY, text), FIELD("value", VALUE, other)}},
    {NYTPROF_OPTION, "OPTION", {FIELD("key", KEY, text), FIELD("value", VALUE, other)}},
    {NYTPROF_COMMENT, "COMMENT", {FIELD("text", LINE, text)}},
    {NYTPROF_PROCESS_START, "PID_START", {FIELD("pid", U32, pid), FIELD("ppid", U32, ppid), FIELD("time", F64, time)}},
    {NYTPROF_PROCESS_END, "PID_END", {FIELD("pid", U32, pid), FIELD("time", F64, time)}},
    {NYTPROF_FILE, "NEW_FID",
        {FIELD("fid", U32, fid), FIELD("eval_fid", U32, eval_fid), FIELD("eval_line", U32, eval_line),
         FIELD("flags", U32, flags), FIELD("size", U32, size_bytes), FIELD("mtime", U32, mtime),
         FIELD("name", TEXT, text)}},
    {NYTPROF_LINE_TIME, "TIME_LINE",
        {FIELD("ticks", I32, ticks), FIELD("fid", U32, fid), FIELD("line", U32, line)}},
    {NYTPROF_BLOCK_TIME, "TIME_BLOCK",
        {FIELD("ticks", I32, ticks), FIELD("fid", U32, fid), FIELD("line", U32, line),
         FIELD("block_line", U32, block_line), FIELD("sub_line", U32, sub_line)}},
    {NYTPROF_DISCOUNT, "DISCOUNT", {{NULL, NYTPROF_WIRE_NONE, 0}}},
    {NYTPROF_SOURCE, "SRC_LINE", {FIELD("fid", U32, fid), FIELD("line", U32, line), FIELD("text", TEXT, text)}},
    {NYTPROF_SUB, "SUB_INFO",
        {FIELD("fid", U32, fid), FIELD("name", TEXT, text), FIELD("first_line", U32, line),
         FIELD("last_line", U32, last_line)}},
    {NYTPROF_EDGE, "SUB_CALLERS",
        {FIELD("fid", U32, fid), FIELD("line", U32, line), FIELD("caller", TEXT, other), FIELD("count", U32, count),
         FIELD("incl", F64, inclusive), FIELD("excl", F64, exclusive), FIELD("reci", F64, recursive),
         FIELD("rec_depth", U32, depth), FIELD("called", TEXT, text)}},
    {NYTPROF_ENTRY, "SUB_ENTRY", {FIELD("fid", U32, fid), FIELD("line", U32, line)}},
    {NYTPROF_RETURN, "SUB_RETURN",
        {FIELD("depth", U32, depth), FIELD("incl_ticks", F64, inclusive), FIELD("excl_ticks", F64, exclusive),
         FIELD("name", TEXT, text)}},
    {NYTPROF_COMPRESSED, "START_DEFLATE", {{NULL, NYTPROF_WIRE_NONE, 0}}},
};
/* clang-format on */

const size_t nytprof_n_kinds = sizeof nytprof_kinds / sizeof nytprof_kinds[0];

const struct nytprof_kind *nytprof_kind_of(uint8_t tag)
{
    static const char tags[] = ":!#Pp@+*-Ssc><z"; /* in the order of the rows */
    _Static_assert(sizeof tags - 1 == sizeof nytprof_kinds / sizeof nytprof_kinds[0], "a tag each");
    const char *at = memchr(tags, tag, sizeof tags - 1);
    return at == NULL ? NULL : &nytprof_kinds[at - tags];
}
