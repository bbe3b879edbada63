/* folder_content.h - what is in a folder of recordings: how many, and whether processes still write
 * to them.
 *
 * Context    EXIT. One caller at a time. */
#ifndef SAMPLER_FOLDER_CONTENT_H
#define SAMPLER_FOLDER_CONTENT_H

#include <stdbool.h>
#include <sys/types.h>

struct folder_content {
    bool has_recordings; /* other than brief ones */
    bool has_running;    /* a process other than this one has not ended its recording, and lives */
};

/* Of the folder open at `fd`. Looks no further once it has found one that is running. */
struct folder_content folder_content_of(int fd, pid_t own_pid);

#endif
