/* progress.c - see progress.h. A thread of its own, since symbolizing has no place to count
 * from. */
#include "report/progress.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "options/messages.h"

#define WHAT_BYTES 128

struct progress {
    char what[WHAT_BYTES];
    const char *(*describe)(void *context, char *out, size_t out_bytes); /* NULL: nothing more */
    void *context;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t stopped;
    bool stop; /* under lock */
};

static void *show(void *argument)
{
    struct progress *progress = argument;
    struct timespec next;
    unsigned seconds = 0;
    clock_gettime(CLOCK_MONOTONIC, &next);
    pthread_mutex_lock(&progress->lock);
    while (!progress->stop) {
        next.tv_sec++;
        while (!progress->stop && pthread_cond_clockwait(&progress->stopped, &progress->lock,
                                                         CLOCK_MONOTONIC, &next) != ETIMEDOUT)
            ;
        if (progress->stop)
            break;
        char more[WHAT_BYTES] = "";
        char line[2 * WHAT_BYTES + 32];
        if (progress->describe != NULL)
            progress->describe(progress->context, more, sizeof more);
        snprintf(line, sizeof line, "sampler: %s%s%s, %u s ", progress->what,
                 more[0] == '\0' ? "" : ": ", more, ++seconds);
        status_show(line);
    }
    pthread_mutex_unlock(&progress->lock);
    status_show("");
    return NULL;
}

struct progress *progress_start_described(const char *what,
                                          const char *(*describe)(void *context, char *out,
                                                                  size_t out_bytes),
                                          void *context)
{
    if (isatty(STDERR_FILENO) != 1)
        return NULL;
    struct progress *progress = calloc(1, sizeof *progress);
    if (progress == NULL)
        return NULL;
    snprintf(progress->what, sizeof progress->what, "%s", what);
    progress->describe = describe;
    progress->context = context;
    pthread_mutex_init(&progress->lock, NULL);
    pthread_cond_init(&progress->stopped, NULL);
    if (pthread_create(&progress->thread, NULL, show, progress) != 0) {
        free(progress);
        return NULL;
    }
    return progress;
}

struct progress *progress_start(const char *what, const char *path)
{
    char text[WHAT_BYTES];
    snprintf(text, sizeof text, "%s%s%s", what, path == NULL ? "" : " ", path == NULL ? "" : path);
    return progress_start_described(text, NULL, NULL);
}

void progress_stop(struct progress *progress)
{
    if (progress == NULL)
        return;
    pthread_mutex_lock(&progress->lock);
    progress->stop = true;
    pthread_cond_signal(&progress->stopped);
    pthread_mutex_unlock(&progress->lock);
    pthread_join(progress->thread, NULL);
    pthread_cond_destroy(&progress->stopped);
    pthread_mutex_destroy(&progress->lock);
    free(progress);
}
