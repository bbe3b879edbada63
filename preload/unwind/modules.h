/* modules.h - the ELF modules of the process, as the handler comes across them.
 *
 *   pc -> _dl_find_object -> link map, .eh_frame_hdr -> entry of the table (added when first seen)
 *
 * One process-wide table, append only; ids from 1, stable for the life of the process. An entry is
 * filled, then published by one release store, and never changes. A module unloaded and another
 * loaded at its place get two entries; a module with holes between its segments, which
 * _dl_find_object gives segment by segment, gets one.
 *
 * Generation  anything cached about a pc (a row, a module id) holds only while modules_generation()
 *             stands still. It goes up when the program unloads a module (hook on dlclose).
 * When full   or without memory for a table, modules_find returns NULL: the pc counts as outside
 *             any module, and its stack is recorded as such.
 * Context     modules_init SETUP; modules_unloaded HOOK; the rest SIGNAL, any thread, no lock: the
 *            first of them maps the table. */
#ifndef SAMPLER_MODULES_H
#define SAMPLER_MODULES_H

#include <stdbool.h>
#include <stdint.h>

#include "sys/context.h"
#include "sys/segment.h"

#define MODULES_MAX 4096u
#define MODULE_BUILD_ID_MAX 32u

struct module {
    uint32_t id;    /* from 1                                                                    */
    uint32_t flags; /* enum capture_module_flag                                                  */
    uint64_t start; /* from its first segment to the end of its last, half-open                  */
    uint64_t end;
    uint64_t bias; /* pc - vaddr                                                                */
    uint64_t eh_frame_hdr; /* address of .eh_frame_hdr, 0 if the module has none */
    const char *path; /* copied from the link map, where the program's own is empty: that is filled
                         in; "" when there is no room for paths any more */
    uint32_t build_id_bytes; /* 0..MODULE_BUILD_ID_MAX */
    uint32_t
        recorded_in; /* atomic: the recording that has a MODULE record of it (its number, 0 = none) */
    uint64_t file_dev; /* of what the path led to when it was recorded, 0 = nothing; atomic */
    uint64_t file_ino;
    uint8_t build_id[MODULE_BUILD_ID_MAX];
    struct segments segments; /* what of it may be read and run; none where its header is hidden */
};

/* Finds out which modules are the program and the vDSO. */
void modules_init(void);

/* The module `pc` lies in, or NULL: code in no module (JIT), or the table is full. */
SIGNAL_SAFE struct module *modules_find(uint64_t pc);

/* The program's file, as it was called when this was first asked for or a module looked for; "" where
 * /proc did not show it, or there is no memory. */
SIGNAL_SAFE const char *modules_main_path(void);

/* By id; 1 <= id, and modules_find has returned it. */
SIGNAL_SAFE struct module *modules_get(uint32_t id);

/* The largest id so far; not each up to it was returned by modules_find. */
SIGNAL_SAFE uint32_t modules_count(void);

/* Where its dynamic section is; 0 if it is not loaded any more. */
SIGNAL_SAFE uint64_t modules_dynamic(const struct module *module);

/* The current generation, and the step to the next: a module may have been unloaded. */
SIGNAL_SAFE uint64_t modules_generation(void);
void modules_unloaded(void);

#endif
