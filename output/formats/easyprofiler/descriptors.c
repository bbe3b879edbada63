/* descriptors.c - see formats/easyprofiler/descriptors.h. Both passes of the writer ask in the same
 * order, so the counting pass numbers the rows and the writing pass finds them all. */
#include "formats/easyprofiler/descriptors.h"

#include <stdlib.h>
#include <string.h>

bool easyprofiler_descriptors_init(struct easyprofiler_descriptors *table,
                                   const struct profile *profile)
{
    *table = (struct easyprofiler_descriptors){.profile = profile};
    bool ok = true;
    for (int i = 0; i < EASYPROFILER_N_TYPES; i++) {
        table->numbers[i] = calloc(profile->n_functions, sizeof *table->numbers[i]);
        ok = ok && table->numbers[i] != NULL;
    }
    return ok;
}

void easyprofiler_descriptors_deinit(struct easyprofiler_descriptors *table)
{
    for (int i = 0; i < EASYPROFILER_N_TYPES; i++)
        free(table->numbers[i]);
    easyprofiler_descriptor_rows_deinit(&table->rows);
}

uint32_t easyprofiler_descriptor_of(struct easyprofiler_descriptors *table, uint32_t function,
                                    enum easyprofiler_type type)
{
    uint32_t *number =
        function == EASYPROFILER_OMITTED ? &table->omitted_number : &table->numbers[type][function];
    if (*number == 0) {
        if (!easyprofiler_descriptor_rows_push(
                &table->rows, (struct easyprofiler_descriptor_row){function, type}))
            return 0;
        *number = (uint32_t)table->rows.n;
    }
    return *number - 1;
}

/* Light colours, one per file, so that what belongs together looks alike in the viewer. */
static uint32_t file_color(struct text file)
{
    static const uint32_t colors[] = {0xffffe0b2, 0xffc5e1a5, 0xff90caf9, 0xfff8bbd0,
                                      0xffb2dfdb, 0xffd1c4e9, 0xfffff59d, 0xffbcaaa4};
    uint32_t hash = 2166136261U;
    for (size_t i = 0; i < file.length; i++)
        hash = (hash ^ (unsigned char)file.bytes[i]) * 16777619U;
    return colors[(hash ^ hash >> 16) % (sizeof colors / sizeof colors[0])];
}

void easyprofiler_put_descriptors(const struct easyprofiler_descriptors *table,
                                  struct easyprofiler_records *records)
{
    static const uint32_t event_color = 0xffe65100, value_color = 0xff00695c,
                          omitted_color = 0xffbdbdbd;
    const struct text omitted = {"[frames omitted]", strlen("[frames omitted]")};
    for (uint32_t i = 0; i < table->rows.n; i++) {
        const struct easyprofiler_descriptor_row *row = &table->rows.items[i];
        if (row->function == EASYPROFILER_OMITTED) {
            easyprofiler_put_descriptor(records, i, 0, omitted_color, row->type, omitted,
                                        (struct text){"", 0});
            continue;
        }
        const struct profile_function *function = &table->profile->functions[row->function];
        uint32_t file_id =
            function->file != 0 ? function->file : table->profile->modules[function->module].path;
        struct text file = profile_text(table->profile, file_id);
        uint32_t color = row->type == EASYPROFILER_EVENT   ? event_color
                         : row->type == EASYPROFILER_VALUE ? value_color
                                                           : file_color(file);
        easyprofiler_put_descriptor(records, i, function->line, color, row->type,
                                    profile_text(table->profile, function->name), file);
    }
}
