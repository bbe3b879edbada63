/* recording.h - the file of the recording: its header page, and chunks handed out to streams.
 *
 * In memory   until the first sample, where that was requested (recording_begin): most programs that
 *             a shell script starts end before it, and a file costs each of them about as much as all
 *             else we do. A process that gets that far is placed in a file of its own; what others hold
 *             is appended to one file for all.
 *
 * What is in the chunks is stream.h's; what the bytes mean is capture.h's. The header page stays
 * mapped until the process ends; chunks are mapped one by one, so a stream has one in memory at a
 * time.
 *
 * Descriptor  used only while it still is our file, by device and inode; otherwise the file is
 *             opened again by its path. Where descriptors are scarce (sys/fds.h) none is kept.
 * When full   space is reserved before it is touched, so a full disk or a file size limit sends no
 *             SIGBUS or SIGXFSZ. It ends the recording: no chunk is handed out ever after, and what
 *             had to go there is counted as CAPTURE_LOST_DISK by whoever wanted it.
 * When gone   removed, that is, as sampler-run does with those of daemons that it was told not to
 *             wait for: it ends in the same way, instead of growing where nobody sees it.
 * Context     recording_open, recording_begin, recording_abandon: SETUP or HOOK (a forked child).
 *             recording_append: HOOK, EXIT. The rest: any. */
#ifndef SAMPLER_RECORDING_H
#define SAMPLER_RECORDING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "capture.h"
#include "sys/context.h"

#define RECORDING_PATH_MAX 4096

/* What goes into time_unit_ns: the deltas of 1 kHz fit 2 bytes. */
#define RECORDING_TIME_UNIT_NS 1000u

enum recording_state {
    RECORDING_NOWHERE, /* it could not be placed, or was appended: what is written now is lost */
    RECORDING_IN_MEMORY,
    RECORDING_BEING_PLACED,
    RECORDING_IN_FILE,
};

struct recording {
    struct capture_header *header; /* mapped; NULL = no recording */
    size_t header_mapped;          /* bytes mapped with it, which are the recording's */
    uint32_t state;                /* enum recording_state; atomic */
    uint32_t number;               /* of the process and those it was forked from: 1 ... */
    int fd;                        /* atomic; replaced when it is no longer ours; -1 = none kept */
    dev_t dev;                     /* of the file, with ino: to know it again */
    ino_t ino;
    bool stopped;                  /* atomic: no more room, or removed; set once */
    size_t folder_bytes;           /* of the path, while it is not in its file, with the slash; */
    size_t prefix_length;          /* and of what comes before "0.sampler" */
    bool makes_folder;             /* where that of its path is gone when it is placed */
    int place_errno;               /* why it could not be placed */
    char path[RECORDING_PATH_MAX]; /* absolute */
};

/* Creates `path` (absolute; must not exist), mode 0600, with `header` as its first bytes; both are
 * copied. False with errno, and no file left behind: EEXIST when the name is taken. */
bool recording_open(struct recording *recording, const char *path,
                    const struct capture_header *header);

/* The same in memory. Its file, when it gets one, is the first of FOLDER/PID.0.sampler,
 * FOLDER/PID.1.sampler ... that does not exist, with the header's pid. False with errno. */
bool recording_begin(struct recording *recording, const char *folder,
                     const struct capture_header *header);

/* Sees to it that the recording is in its file: to be called before the first sample, and before
 * there is a second thread. False (and place_errno) when it cannot be: it ends, as when the disk
 * is full. */
SIGNAL_SAFE bool recording_place(struct recording *recording);

/* Appends a recording that is still in memory to the file of brief ones (capture.h) in its folder,
 * which is made if need be; it has ended then. False when it is not in memory, or nothing could be
 * appended. */
bool recording_append(struct recording *recording);

/* In a forked child, or when a recording is given up: unmaps and closes it. The file is as it
 * was. */
void recording_abandon(struct recording *recording);

/* A new chunk for `stream`, mapped: zeros after its struct capture_chunk, which is filled in. NULL
 * when there is no room, or no recording. The stream owns it until recording_unmap_chunk. */
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
