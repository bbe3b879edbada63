/* dump.c - the whole content of a .prof file as JSON, as EasyProfiler's own reader would report
 * it, so that the two can be compared: begins raised to the begin of the file, and of all blocks
 * with one run-time name the descriptor of the first. Texts that are not UTF-8 become {"hex":
 * "..."}. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "digits.h"
#include "formats/easyprofiler/easyprofiler.h"
#include "text/json_write.h"
#include "text/utf8.h"

struct dumper {
    const struct easyprofiler_file *file;
    struct json json;
    uint32_t *shown; /* descriptor shown for each block */
};

/* ---- leaves -------------------------------------------------------------------------------- */

/* Bytes as a string of hexadecimal digits, in pieces, so that any length needs no memory. */
static void put_hex(struct json *json, const uint8_t *data, size_t n_bytes)
{
    json_raw(json, "\"", 1);
    for (size_t i = 0; i < n_bytes; i++) {
        char pair[2];
        hex_digits(pair, data + i, 1);
        sink_write(json->out, pair, sizeof pair);
    }
    sink_write(json->out, "\"", 1);
}

static void put_text(struct json *json, const char *key, const char *bytes, size_t length)
{
    json_key(json, key);
    if (utf8_is_valid(bytes, length)) {
        json_bytes(json, bytes, length);
        return;
    }
    json_object_begin(json);
    json_key(json, "hex");
    put_hex(json, (const uint8_t *)bytes, length);
    json_object_end(json);
}

static void put_u64(struct json *json, const char *key, uint64_t value)
{
    json_key(json, key);
    json_u64(json, value);
}

static void put_color(struct json *json, uint32_t color)
{
    char text[16];
    int length = snprintf(text, sizeof text, "0x%08x", color);
    json_key(json, "color");
    json_bytes(json, text, (size_t)length);
}

static void put_type(struct json *json, uint8_t type)
{
    static const char *const names[] = {"event", "block", "value"};
    char text[8];
    json_key(json, "type");
    if (type <= EASYPROFILER_VALUE) {
        json_cstring(json, names[type]);
    } else {
        (void)snprintf(text, sizeof text, "%u", type);
        json_cstring(json, text);
    }
}

/* ---- values -------------------------------------------------------------------------------- */

static void put_double(struct json *json, uint8_t type, double value)
{
    if (isnan(value)) {
        json_cstring(json, "nan");
    } else if (isinf(value)) {
        json_cstring(json, value > 0 ? "inf" : "-inf");
    } else if (type == EASYPROFILER_FLOAT) {
        /* A float is shown by nine digits; more would show the double it was widened to. */
        char text[40];
        (void)snprintf(text, sizeof text, "%.9g", value);
        json_f64(json, strtod(text, NULL));
    } else {
        json_f64(json, value);
    }
}

static void put_number(struct json *json, uint8_t type, const uint8_t *data)
{
    struct easyprofiler_number number = easyprofiler_number_at(type, data);
    if (number.type == PROFILE_VALUE_BOOL)
        json_bool(json, number.as.u64 != 0);
    else if (number.type == PROFILE_VALUE_I64)
        json_i64(json, number.as.i64);
    else if (number.type == PROFILE_VALUE_F64)
        put_double(json, type, number.as.f64);
    else
        json_u64(json, number.as.u64);
}

static void put_data(struct json *json, const struct easyprofiler_value *value)
{
    size_t element_bytes = easyprofiler_data_bytes(value->type);
    if (value->type == EASYPROFILER_STRING) {
        const char *text = (const char *)value->data;
        put_text(json, "data", text, strnlen(text, value->data_bytes));
        return;
    }
    json_key(json, "data");
    if (element_bytes == 0) {
        put_hex(json, value->data, value->data_bytes);
    } else if (value->is_array) {
        json_array_begin(json);
        for (size_t at = 0; value->data_bytes - at >= element_bytes; at += element_bytes)
            put_number(json, value->type, value->data + at);
        json_array_end(json);
    } else if (value->data_bytes < element_bytes) {
        json_null(json);
    } else {
        put_number(json, value->type, value->data);
    }
}

static void put_value(struct json *json, const struct easyprofiler_value *value)
{
    static const char *const names[EASYPROFILER_N_DATA] = {
        "bool",   "char",  "int8",   "uint8", "int16",  "uint16", "int32",
        "uint32", "int64", "uint64", "float", "double", "string"};
    char number[8];
    (void)snprintf(number, sizeof number, "%u", value->type);
    json_key(json, "value");
    json_object_begin(json);
    json_key(json, "type");
    json_cstring(json, value->type < EASYPROFILER_N_DATA ? names[value->type] : number);
    json_key(json, "array");
    json_bool(json, value->is_array);
    put_u64(json, "vin", value->id);
    put_u64(json, "size", value->data_bytes);
    put_data(json, value);
    json_object_end(json);
}

/* ---- blocks -------------------------------------------------------------------------------- */

/* Opens the block's object; its children, if any, follow in an array. */
static void begin_block(struct dumper *d, uint32_t number)
{
    struct json *json = &d->json;
    const struct easyprofiler_block block = easyprofiler_block_at(d->file, number);
    uint32_t shown = d->shown[number];
    const struct easyprofiler_descriptor *descriptor = &d->file->descriptors[shown];
    struct text name = easyprofiler_runtime_name(&block);
    json_object_begin(json);
    if (name.length != 0)
        put_text(json, "name", name.bytes, name.length);
    else
        put_text(json, "name", descriptor->name, descriptor->name_length);
    put_u64(json, "begin", easyprofiler_shown_begin(d->file, block.begin_ns, block.end_ns));
    put_u64(json, "end", block.end_ns);
    put_u64(json, "desc", shown);
    put_type(json, descriptor->type);
    if (name.length != 0)
        put_text(json, "runtime_name", name.bytes, name.length);
    if (d->file->descriptors[block.descriptor].type == EASYPROFILER_VALUE) {
        struct easyprofiler_value value = easyprofiler_block_value(&block);
        put_value(json, &value);
    }
    if (easyprofiler_n_within(d->file, number) != 0) {
        json_key(json, "children");
        json_array_begin(json);
    }
}

/* Ends the innermost block shown, which has no children, and those around it down to `level`. */
static void end_blocks(struct json *json, uint32_t *n_open, uint32_t level)
{
    for (bool has_children = false; *n_open > level; --*n_open, has_children = true) {
        if (has_children)
            json_array_end(json);
        json_object_end(json);
    }
}

/* False: out of memory. */
static bool put_blocks(struct dumper *d, const struct easyprofiler_thread *thread)
{
    struct json *json = &d->json;
    struct easyprofiler_walk walk = easyprofiler_walk_make(d->file, thread);
    uint32_t block, level, n_open = 0;
    json_key(json, "blocks");
    json_array_begin(json);
    while ((block = easyprofiler_walk_next(&walk, &level)) != 0) {
        end_blocks(json, &n_open, level);
        begin_block(d, block);
        n_open++;
    }
    end_blocks(json, &n_open, 0);
    json_array_end(json);
    bool ok = !easyprofiler_walk_failed(&walk);
    easyprofiler_walk_deinit(&walk);
    return ok;
}

/* Descriptors of the blocks of a section that have a run-time name: that of the first such block.
 * `first` has them by name. False: out of memory. */
static bool find_shown_of(struct dumper *d, const struct easyprofiler_section *section,
                          struct intern *names, uint32_t *first)
{
    for (uint32_t i = section->first_block; i < section->first_block + section->n_blocks; i++) {
        const struct easyprofiler_block block = easyprofiler_block_at(d->file, i);
        struct text name = easyprofiler_runtime_name(&block);
        uint32_t n_names = intern_count(names);
        uint32_t id;
        d->shown[i] = block.descriptor;
        if (name.length == 0)
            continue;
        if (!intern_add(names, name.bytes, name.length, &id))
            return false;
        if (id == n_names)
            first[id] = block.descriptor;
        d->shown[i] = first[id];
    }
    return true;
}

/* What EasyProfiler makes of one run-time name on several descriptors, in the order of the file.
 * False: out of memory. */
static bool find_shown(struct dumper *d)
{
    const struct easyprofiler_file *file = d->file;
    const struct easyprofiler_section *sections = file->sections.items;
    size_t n = file->places.n, n_sections = file->sections.n;
    struct arena *arena = arena_create();
    struct intern *names = arena != NULL ? intern_create(arena) : NULL;
    uint32_t *first = calloc(n, sizeof *first);
    uint32_t *in_file = calloc(n_sections + 1, sizeof *in_file); /* sections in their order there */
    d->shown = calloc(n, sizeof *d->shown);
    bool ok = names != NULL && first != NULL && in_file != NULL && d->shown != NULL;
    for (uint32_t i = 0; ok && i < n_sections; i++)
        in_file[sections[i].order] = i;
    for (uint32_t i = 0; ok && i < n_sections; i++)
        ok = find_shown_of(d, &sections[in_file[i]], names, first);
    free(in_file);
    free(first);
    intern_destroy(names);
    arena_destroy(arena);
    return ok;
}

/* ---- the whole ----------------------------------------------------------------------------- */

static void put_descriptors(struct dumper *d)
{
    struct json *json = &d->json;
    json_key(json, "descriptors");
    json_array_begin(json);
    for (uint32_t i = 0; i < d->file->n_descriptors; i++) {
        const struct easyprofiler_descriptor *descriptor = &d->file->descriptors[i];
        if (descriptor->name == NULL) {
            json_null(json);
            continue;
        }
        json_object_begin(json);
        put_u64(json, "index", i);
        put_u64(json, "id", descriptor->id);
        json_key(json, "line");
        json_i64(json, descriptor->line);
        put_color(json, descriptor->color);
        put_type(json, descriptor->type);
        put_u64(json, "status", descriptor->status);
        put_text(json, "name", descriptor->name, descriptor->name_length);
        put_text(json, "file", descriptor->name + descriptor->file_start, descriptor->file_length);
        json_object_end(json);
    }
    json_array_end(json);
}

static void put_switches(struct dumper *d, const struct easyprofiler_section *section)
{
    struct json *json = &d->json;
    for (uint32_t i = 0; i < section->n_switches; i++) {
        const struct easyprofiler_switch *item =
            &d->file->switches.items[section->first_switch + i];
        json_object_begin(json);
        put_u64(json, "begin", easyprofiler_shown_begin(d->file, item->begin_ns, item->end_ns));
        put_u64(json, "end", item->end_ns);
        put_u64(json, "tid", item->to_tid);
        put_text(json, "process", item->process, item->process_length);
        json_object_end(json);
    }
}

/* False: out of memory. */
static bool put_thread(struct dumper *d, const struct easyprofiler_thread *thread)
{
    struct json *json = &d->json;
    const struct easyprofiler_section *sections = d->file->sections.items;
    json_object_begin(json);
    put_u64(json, "id", thread->tid);
    put_text(json, "name", thread->name, thread->name_length);
    put_u64(json, "depth", thread->n_levels);
    put_u64(json, "blocks_number", thread->n_blocks);
    json_key(json, "context_switches");
    json_array_begin(json);
    for (uint32_t i = 0; i < thread->n_sections; i++)
        put_switches(d, &sections[thread->first_section + i]);
    json_array_end(json);
    bool ok = put_blocks(d, thread);
    json_object_end(json);
    return ok;
}

static void put_bookmarks(struct dumper *d)
{
    struct json *json = &d->json;
    json_key(json, "bookmarks");
    json_array_begin(json);
    for (size_t i = 0; i < d->file->bookmarks.n; i++) {
        const struct easyprofiler_bookmark *bookmark = &d->file->bookmarks.items[i];
        json_object_begin(json);
        put_u64(json, "pos", bookmark->position_ns);
        put_color(json, bookmark->color);
        put_text(json, "text", bookmark->text, bookmark->text_length);
        json_object_end(json);
    }
    json_array_end(json);
}

/* False: out of memory. */
static bool put_file(struct dumper *d)
{
    struct json *json = &d->json;
    const struct easyprofiler_file *file = d->file;
    char version[32];
    (void)snprintf(version, sizeof version, "%u.%u.%u", file->version >> 24,
                   file->version >> 16 & 0xff, file->version & 0xffff);
    json_object_begin(json);
    json_key(json, "schema");
    json_cstring(json, "easyprof-expected-1");
    json_key(json, "ok");
    json_bool(json, true);
    json_key(json, "version");
    json_cstring(json, version);
    put_u64(json, "version_raw", file->version);
    put_u64(json, "pid", file->pid);
    put_u64(json, "begin_time", file->begin_ns);
    put_u64(json, "end_time", file->end_ns);
    put_u64(json, "records_total", file->n_records);
    put_descriptors(d);
    json_key(json, "threads");
    json_array_begin(json);
    bool ok = true;
    for (uint32_t i = 0; ok && i < file->n_threads; i++)
        ok = put_thread(d, &file->threads[i]);
    json_array_end(json);
    put_bookmarks(d);
    json_object_end(json);
    sink_text(json->out, "\n");
    return ok;
}

bool easyprofiler_dump(const uint8_t *data, size_t size_bytes, const struct format_notes *notes,
                       struct sink *out, struct err *err)
{
    struct easyprofiler_file *file;
    if (!easyprofiler_parse(data, size_bytes, false, notes, &file, err))
        return false;
    struct dumper dumper = {.file = file, .json = json_make(out, 1)};
    bool ok = (find_shown(&dumper) && put_file(&dumper)) || err_fail_memory(err);
    free(dumper.shown);
    easyprofiler_file_destroy(file);
    return ok;
}
