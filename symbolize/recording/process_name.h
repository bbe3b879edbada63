/* process_name.h - what a process is called in a profile and in the account. */
#ifndef SAMPLER_RECORDING_PROCESS_NAME_H
#define SAMPLER_RECORDING_PROCESS_NAME_H

#include "recording/recording.h"
#include "text.h"

/* The name people know a process by: the base name of the command it was called as, since one file
 * may be many commands (busybox, python3, redis-server, which is redis-check-rdb on disk). What a
 * program wrote over its arguments for ps(1) is not part of it: "nginx: worker process" is nginx,
 * "redis-server *:6379" redis-server. Without a command that of the file.
 *
 * `exe`: the path of the file; `first_word`: argv[0]. Either may be empty. A view of one of them. */
struct text process_name(struct text exe, struct text first_word);

/* That of the process of a recording; a view of one of its texts. */
struct text process_name_of(const struct recording *recording);

#endif
