/* read_common.c - numbers and times of the file as those of the profile, for both parts of the
 * reader (formats/htdump/read.h). */
#include "formats/htdump/read.h"

void htdump_bind(struct htdump_reader *reader, enum htdump_raw_table table, uint64_t key,
                 uint32_t id)
{
    /* An id of 0 is the builder's failure, which it reports itself. Key 0 means "none". */
    if (id != 0 && key != 0 && !map_set(&reader->tables[table], key, 0, id))
        reader->is_out_of_memory = true;
}

uint32_t htdump_bound(const struct htdump_reader *reader, enum htdump_raw_table table, uint64_t key)
{
    uint32_t id = key == 0 ? MAP_NONE : map_find(&reader->tables[table], key, 0);
    return id == MAP_NONE ? 0 : id;
}

uint32_t htdump_thread(struct htdump_reader *reader, uint64_t number)
{
    uint32_t thread = htdump_bound(reader, HTDUMP_RAW_THREADS, number);
    if (thread == 0 && number != 0) {
        const struct profile_thread added = {.tid = number};
        thread = profile_add_thread(reader->builder, &added);
        htdump_bind(reader, HTDUMP_RAW_THREADS, number, thread);
    }
    return thread;
}

uint64_t htdump_time(const struct htdump_reader *reader, uint64_t timestamp_ns)
{
    uint64_t origin_ns = reader->survey.origin_ns;
    return timestamp_ns < origin_ns ? 0 : timestamp_ns - origin_ns;
}
