/* err.h - one error value, owned by the caller; no allocation, no globals.
 *
 * Contract  A function that can fail returns bool and takes `struct err *err` last. On false, *err
 *           is filled and the outputs of the function are untouched.
 * First     The first error wins: err_fail on a filled value keeps the first story. Outer layers
 *           add the name of the file (err_name_file), not a second story.
 * Text      What was read, what was expected: one line, no final period, no newline. It may hold
 *           bytes of the input; whoever prints it on a terminal cleans it (cli/options/messages.h).
 * Context   Everything outside preload/. Not signal safe.
 *
 * Not found is no error: functions for which that is a normal answer return NULL or an empty
 * text. */
#ifndef SAMPLER_BASE_ERR_H
#define SAMPLER_BASE_ERR_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define MUST_CHECK __attribute__((warn_unused_result))

enum err_code {
    ERR_NONE = 0,
    ERR_MEMORY,      /* no memory; state is unchanged                                           */
    ERR_IO,          /* a system call failed: sys_errno says how                                */
    ERR_TRUNCATED,   /* the input ends in the middle of something: offset says where it began   */
    ERR_FORMAT,      /* the input is not of the expected form: offset, text                     */
    ERR_VERSION,     /* a version we do not read                                                */
    ERR_LIMIT,       /* a count or size beyond what the input can hold or we accept             */
    ERR_UNSUPPORTED, /* well-formed, but nothing we do (a format without a reader ...)          */
    ERR_USAGE,       /* the command line                                                        */
};

#define ERR_NO_OFFSET UINT64_MAX

struct err {
    enum err_code code;
    int sys_errno;   /* errno of the failed call, 0 if none                                     */
    uint64_t offset; /* byte offset in the input, or ERR_NO_OFFSET                              */
    uint64_t line;   /* line number from 1 for text inputs, else 0                              */
    char file[256];  /* the file meant, "" if not known yet                                     */
    char text[256];  /* what was read, what was expected; one line, no final period or newline  */
};

/* An empty value. */
#define ERR_INIT                                                                                   \
    {                                                                                              \
        .offset = ERR_NO_OFFSET                                                                    \
    }

/* Each fills *err (unless it is filled already) and returns false. */
bool err_fail(struct err *err, enum err_code code, uint64_t offset, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
bool err_fail_line(struct err *err, enum err_code code, uint64_t line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
bool err_fail_errno(struct err *err, int sys_errno, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool err_fail_memory(struct err *err);

/* Notes which file the error is about, if none is noted yet. Borrows `path`. Returns false. */
bool err_name_file(struct err *err, const char *path);

/* Writes "FILE: offset N: TEXT: strerror" (the parts there are) into `out`, cut to its size;
 * returns `out`. */
const char *err_describe(const struct err *err, char *out, size_t out_bytes);

#endif
