/* folder_content.h - what is in a folder of recordings: whether there are any, and whether processes
 * still write to them.
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

/* Whether the last of what process `pid` has recorded there ends with the process. False where
 * nothing is of it. */
bool folder_has_end_of(int fd, pid_t pid);

#endif
