/* modules.h - the ELF modules of the process, as the handler meets them.
 *
 *   pc -> _dl_find_object -> link map and .eh_frame_hdr -> entry of the table (added when first
 * met)
 *
 * One process-wide table, append only; ids from 1, stable for the life of the process. An entry is
 * filled, then published by one release store, and never changes. A module unloaded and another
 * loaded at its place get two entries; a module with holes between its segments, which
 * _dl_find_object gives segment by segment, gets one.
 *
 * Generation: anything cached about a pc (a row, a module id) holds only while modules_generation()
 * stands still. It goes up when the program unloads a module (hook on dlclose).
 *
 * When full, modules_find returns NULL, and the pc counts as outside any module.
 *
 * Context: modules_init SETUP; modules_unloaded HOOK; the rest SIGNAL, any thread, no lock. */
#ifndef SAMPLER_PRELOAD_UNWIND_MODULES_H
#define SAMPLER_PRELOAD_UNWIND_MODULES_H

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
    const char *path; /* of the link map ("" never: the program's own path is filled in); copied */
    uint32_t build_id_bytes; /* 0..MODULE_BUILD_ID_MAX */
    uint32_t recorded;       /* 0 or 1, atomic: a MODULE record for it is committed (recording.h) */
    uint8_t build_id[MODULE_BUILD_ID_MAX];
    struct segments segments; /* what of it may be read and run; none where its header is hidden */
};

void modules_init(void);

/* The module `pc` lies in, or NULL: code in no module (JIT), or the table is full. */
SIGNAL_SAFE struct module *modules_find(uint64_t pc);

/* By id, 1 <= id <= what modules_find gave out. */
SIGNAL_SAFE struct module *modules_get(uint32_t id);

SIGNAL_SAFE uint64_t modules_generation(void);
void modules_unloaded(void);

#endif
