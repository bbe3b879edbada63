/* sampler.h - what a program can tell the profiler that may be in it.
 *
 * Including this header is all a program needs. Without the profiler it runs as if the calls were
 * not there; where libsampler.so is in it (by sampler-run, LD_PRELOAD, or linked) the calls reach
 * it. They are looked up by dlsym(3) at the first use in each source file; a program for glibc
 * before 2.34 links with -ldl. With SAMPLER_LINKED defined these are plain declarations instead,
 * for programs that link with -lsampler (`pkg-config --cflags --libs sampler`) and then need the
 * library to run.
 *
 * Threads    Any thread may call any of them at any time, several threads at once too.
 * Signals    In a signal handler only sampler_label, sampler_start, sampler_stop and
 *            sampler_is_active may be called, and only after one of them has been called from the
 *            same source file: the first call looks the library up, which may take locks.
 * Vfork      In a child of vfork nothing may be called.
 * Errno      Left alone, except by sampler_flush when it fails. */
#ifndef SAMPLER_H
#define SAMPLER_H

#ifdef __cplusplus
extern "C" {
#endif

/* Resume and stop sampling for the whole process; no effect if it is in that state already. Return
 * 0, or -1 when there is no profiler. What the process uses while stopped is in no sample, nor is
 * it reported as missing: the closing lines state how long sampling was on. With SAMPLER_PAUSED=1
 * (sampler-run --paused) a program begins stopped. */
#define SAMPLER_DECLARE_START int sampler_start(void)
#define SAMPLER_DECLARE_STOP int sampler_stop(void)

/* Writes the profile so far to `path`, in the format its extension names; sampling continues. The
 * calling thread waits while another process turns the recording into the profile. Returns 0, or -1
 * with errno: ENOTCONN when there is no profiler, EINVAL without a path, EIO when the profile could
 * not be written (stderr states why). */
#define SAMPLER_DECLARE_FLUSH int sampler_flush(const char *path)

/* From its next sample on, the calling thread's stacks stand below a frame of this name, in place
 * of the label it had; NULL or "" removes the label. The text is copied, up to 255 bytes of it.
 * Cheap: nothing is written before there is a sample. A thread created later begins without a
 * label. Returns 0, or -1 when there is no profiler or it does not know this thread. */
#define SAMPLER_DECLARE_LABEL int sampler_label(const char *label)

/* 1 while samples are taken, 0 while they are not or when there is no profiler. */
#define SAMPLER_DECLARE_IS_ACTIVE int sampler_is_active(void)

/* The functions themselves, looked up under the name of the variable. Later versions only add
 * members: check size_bytes before using one that the first version did not have. */
struct sampler_functions {
    unsigned long size_bytes; /* of this struct, as the library knows it */
    int (*start)(void);
    int (*stop)(void);
    int (*flush)(const char *path);
    int (*label)(const char *label);
    int (*is_active)(void);
};

#if defined(SAMPLER_LINKED)

SAMPLER_DECLARE_START;
SAMPLER_DECLARE_STOP;
SAMPLER_DECLARE_FLUSH;
SAMPLER_DECLARE_LABEL;
SAMPLER_DECLARE_IS_ACTIVE;
extern const struct sampler_functions sampler_functions_1;

#else

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>

#define SAMPLER_INLINE static inline __attribute__((unused))

/* NULL when there is no profiler. */
SAMPLER_INLINE const struct sampler_functions *sampler_functions_find(void)
{
    static const struct sampler_functions *found;
    static int is_known; /* after `found`: release and acquire */
    if (!__atomic_load_n(&is_known, __ATOMIC_ACQUIRE)) {
        const int saved_errno = errno;
        /* The null handle is RTLD_DEFAULT, which needs _GNU_SOURCE. */
        const struct sampler_functions *functions =
            (const struct sampler_functions *)dlsym(NULL, "sampler_functions_1");
        __atomic_store_n(&found, functions, __ATOMIC_RELAXED);
        __atomic_store_n(&is_known, 1, __ATOMIC_RELEASE);
        errno = saved_errno;
    }
    return __atomic_load_n(&found, __ATOMIC_RELAXED);
}

SAMPLER_INLINE SAMPLER_DECLARE_START
{
    const struct sampler_functions *functions = sampler_functions_find();
    return functions != NULL ? functions->start() : -1;
}

SAMPLER_INLINE SAMPLER_DECLARE_STOP
{
    const struct sampler_functions *functions = sampler_functions_find();
    return functions != NULL ? functions->stop() : -1;
}

SAMPLER_INLINE SAMPLER_DECLARE_FLUSH
{
    const struct sampler_functions *functions = sampler_functions_find();
    if (functions != NULL)
        return functions->flush(path);
    errno = ENOTCONN;
    return -1;
}

SAMPLER_INLINE SAMPLER_DECLARE_LABEL
{
    const struct sampler_functions *functions = sampler_functions_find();
    return functions != NULL ? functions->label(label) : -1;
}

SAMPLER_INLINE SAMPLER_DECLARE_IS_ACTIVE
{
    const struct sampler_functions *functions = sampler_functions_find();
    return functions != NULL ? functions->is_active() : 0;
}

#undef SAMPLER_INLINE

#endif

#undef SAMPLER_DECLARE_START
#undef SAMPLER_DECLARE_STOP
#undef SAMPLER_DECLARE_FLUSH
#undef SAMPLER_DECLARE_LABEL
#undef SAMPLER_DECLARE_IS_ACTIVE

#ifdef __cplusplus
}
#endif

#endif
