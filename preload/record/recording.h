/* recording.h - the file of the recording: its header page and the handing out of chunks.
 *
 * What is in the chunks is stream.h's; what the bytes mean is capture.h's. The header page stays
 * mapped until the process ends; chunks are mapped one by one, so a stream has one in memory at a
 * time. Space is reserved before it is touched: a full disk or a file size limit ends the recording
 * (counted as CAPTURE_LOST_DISK, never tried again), it does not send SIGBUS or SIGXFSZ.
 * The file descriptor is only used when it still is our file; otherwise the file is opened again by
 * its path.
 * Context    recording_open, _abandon: SETUP or HOOK (a forked child). The rest: any. */
#ifndef SAMPLER_PRELOAD_RECORD_RECORDING_H
#define SAMPLER_PRELOAD_RECORD_RECORDING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "capture.h"
#include "sys/context.h"

#define RECORDING_PATH_MAX 4096
#define RECORDING_TIME_UNIT_NS                                                                     \
    1000u /* what we put into time_unit_ns: deltas of 1 kHz fit 2 bytes */

struct recording {
    struct capture_header *header; /* mapped, NULL = no recording                       */
    int fd;                        /* atomic; replaced when found to be no longer ours  */
    dev_t dev;
    ino_t ino;
    bool stopped; /* atomic: no more room; set once    */
    char path[RECORDING_PATH_MAX];
};

/* Creates `path` (absolute; must not exist), mode 0600, with `header` as its first bytes. False
 * with errno: EEXIST when the name is taken. */
bool recording_open(struct recording *recording, const char *path,
                    const struct capture_header *header);

/* In a forked child: lets go of the parent's recording without a trace in it. */
void recording_abandon(struct recording *recording);

/* A fresh chunk, mapped, of zeros but for its struct capture_chunk; NULL when there is no room. */
SIGNAL_SAFE struct capture_chunk *recording_map_chunk(struct recording *recording, uint32_t stream,
                                                      uint32_t sequence);
SIGNAL_SAFE void recording_unmap_chunk(struct capture_chunk *chunk);

/* Adds to one of the header's counters.
 * NOLINTNEXTLINE(readability-non-const-parameter): it is changed, by the atomic builtin */
SIGNAL_SAFE static inline void recording_count(uint64_t *counter, uint64_t n)
{
    __atomic_add_fetch(counter, n, __ATOMIC_RELAXED);
}

#endif
