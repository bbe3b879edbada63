/* debug_servers.c - see debug_servers.h.
 *
 * The client's callback must not break a request off: the client would take that for "not there" and
 * remember it for ten minutes, for gdb as well. So waits are bounded by its own variables, and the
 * callback only looks on. */
#include "files/debug_servers.h"

#include <dlfcn.h>
#include <elfutils/debuginfod.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "text.h"

#define TIMEOUT_S "30"
#define MAX_TIME_S "120"
#define MAX_BUILD_ID_BYTES 64u /* the client takes less than that */

struct debug_servers {
    pthread_mutex_t asking; /* held for a whole request, with all up to `telling` */
    void *library;
    debuginfod_client *client; /* NULL: not begun */
    __typeof__(&debuginfod_find_debuginfo) find;
    __typeof__(&debuginfod_end) end;
    double left_s; /* of the time for all requests */

    pthread_mutex_t telling; /* held for moments, with what follows; taken last */
    char problem[200];       /* not "": nobody is asked any more */
    char fetching[100];      /* the module, "": none             */
    long got_bytes;
    long all_bytes; /* 0: not known */
};

/* ---- what is told ---------------------------------------------------------------------------- */

static void problem_set(struct debug_servers *servers, const char *text)
{
    pthread_mutex_lock(&servers->telling);
    snprintf(servers->problem, sizeof servers->problem, "%s", text);
    pthread_mutex_unlock(&servers->telling);
}

const char *debug_servers_problem(struct debug_servers *servers, char *out, size_t out_bytes)
{
    pthread_mutex_lock(&servers->telling);
    snprintf(out, out_bytes, "%s", servers->problem);
    pthread_mutex_unlock(&servers->telling);
    return out;
}

const char *debug_servers_describe(struct debug_servers *servers, char *out, size_t out_bytes)
{
    enum { MB = 1000000 };
    pthread_mutex_lock(&servers->telling);
    out[0] = '\0';
    if (servers->fetching[0] != '\0' && servers->all_bytes > 0)
        snprintf(out, out_bytes, "fetching %s, %.1f of %.1f MB", servers->fetching,
                 (double)servers->got_bytes / MB, (double)servers->all_bytes / MB);
    else if (servers->fetching[0] != '\0')
        snprintf(out, out_bytes, "asking for %s", servers->fetching);
    pthread_mutex_unlock(&servers->telling);
    return out;
}

/* `name`: NULL: it is over. */
static void fetching_set(struct debug_servers *servers, const char *name)
{
    pthread_mutex_lock(&servers->telling);
    servers->got_bytes = servers->all_bytes = 0;
    snprintf(servers->fetching, sizeof servers->fetching, "%s", name == NULL ? "" : name);
    pthread_mutex_unlock(&servers->telling);
}

/* The client has room for one pointer, and functions to set it and get it that we can do without: one
 * request goes on at a time in a thread. */
static _Thread_local struct debug_servers *this_request;

/* `got` is a number of bytes only once a server has begun to send, and then mostly says how many. */
static int progress_note(debuginfod_client *client, long got, long all)
{
    struct debug_servers *servers = this_request;
    (void)client;
    pthread_mutex_lock(&servers->telling);
    servers->got_bytes = got;
    servers->all_bytes = all > 0 ? all : 0;
    pthread_mutex_unlock(&servers->telling);
    return 0;
}

/* ---- the client ------------------------------------------------------------------------------ */

/* A function of the library in the pointer at `out`, as POSIX says of dlsym. */
static bool function_find(void *library, const char *name, void *out)
{
    void *function = dlsym(library, name);
    memcpy(out, &function, sizeof function);
    return function != NULL;
}

static bool client_load(struct debug_servers *servers)
{
    __typeof__(&debuginfod_begin) begin = NULL;
    __typeof__(&debuginfod_set_progressfn) set_progress = NULL;
    servers->library = dlopen(DEBUGINFOD_SONAME, RTLD_NOW | RTLD_LOCAL);
    if (servers->library == NULL) {
        problem_set(servers,
                    "DEBUGINFOD_URLS is set, but there is no " DEBUGINFOD_SONAME " to ask with");
        return false;
    }
    if (!function_find(servers->library, "debuginfod_begin", &begin) ||
        !function_find(servers->library, "debuginfod_end", &servers->end) ||
        !function_find(servers->library, "debuginfod_set_progressfn", &set_progress) ||
        !function_find(servers->library, "debuginfod_find_debuginfo", &servers->find) ||
        (servers->client = begin()) == NULL) {
        problem_set(servers, DEBUGINFOD_SONAME " cannot be used");
        return false;
    }
    set_progress(servers->client, progress_note);
    return true;
}

/* ---- requests -------------------------------------------------------------------------------- */

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* `status`: what the client returned, less than 0. */
static void failure_note(struct debug_servers *servers, int status)
{
    char text[sizeof servers->problem];
    if (status == -ENOENT || status == -EFBIG) /* not there, or larger than the user wants */
        return;
    const char *why = status == -ETIME ? "too slow (DEBUGINFOD_TIMEOUT, DEBUGINFOD_MAXTIME)"
                                       : strerrordesc_np(-status);
    snprintf(text, sizeof text, "the servers of DEBUGINFOD_URLS: %s", why == NULL ? "failed" : why);
    problem_set(servers, text);
}

/* Asks them; false if they have it not. */
static bool fetch(struct debug_servers *servers, struct text build_id, const char *name, char *path,
                  size_t path_bytes)
{
    char *kept = NULL;
    double start_s = now_s();
    this_request = servers;
    fetching_set(servers, name);
    int status = servers->find(servers->client, (const unsigned char *)build_id.bytes,
                               (int)build_id.length, &kept);
    fetching_set(servers, NULL);
    this_request = NULL;
    servers->left_s -= now_s() - start_s;
    if (status < 0) {
        failure_note(servers, status);
        return false;
    }
    close(status);
    bool fits = kept != NULL && strlen(kept) < path_bytes;
    if (fits)
        memcpy(path, kept, strlen(kept) + 1);
    free(kept);
    if (servers->left_s <= 0)
        problem_set(servers, "the servers of DEBUGINFOD_URLS took their time (DEBUGINFOD_MAXTIME)");
    return fits;
}

static bool may_ask(struct debug_servers *servers)
{
    char problem[sizeof servers->problem];
    return debug_servers_problem(servers, problem, sizeof problem)[0] == '\0' &&
           (servers->client != NULL || client_load(servers));
}

struct elf_file *debug_servers_find(struct debug_servers *servers, struct text build_id,
                                    const char *name, char *path, size_t path_bytes)
{
    struct err err = ERR_INIT;
    struct elf_file *file = NULL;
    if (build_id.length == 0 || build_id.length >= MAX_BUILD_ID_BYTES)
        return NULL;
    pthread_mutex_lock(&servers->asking);
    bool is_there = may_ask(servers) && fetch(servers, build_id, name, path, path_bytes);
    pthread_mutex_unlock(&servers->asking);
    if (!is_there || !elf_file_open(path, &file, &err))
        return NULL;
    if (text_equal(elf_file_build_id(file), build_id))
        return file;
    elf_file_close(file);
    return NULL;
}

struct debug_servers *debug_servers_open(void)
{
    const char *urls = getenv(DEBUGINFOD_URLS_ENV_VAR);
    if (urls == NULL || urls[strspn(urls, " ")] == '\0')
        return NULL;
    struct debug_servers *servers = calloc(1, sizeof *servers);
    if (servers == NULL)
        return NULL;
    (void)setenv(DEBUGINFOD_TIMEOUT_ENV_VAR, TIMEOUT_S, 0);
    (void)setenv(DEBUGINFOD_MAXTIME_ENV_VAR, MAX_TIME_S, 0);
    (void)setenv(DEBUGINFOD_RETRY_LIMIT_ENV_VAR, "0", 0);
    (void)unsetenv(DEBUGINFOD_PROGRESS_ENV_VAR); /* we say how far it is */
    const char *most = getenv(DEBUGINFOD_MAXTIME_ENV_VAR);
    double most_s = most == NULL ? 0 : strtod(most, NULL);
    servers->left_s = most_s > 0 ? most_s : HUGE_VAL; /* as the client takes it */
    pthread_mutex_init(&servers->asking, NULL);
    pthread_mutex_init(&servers->telling, NULL);
    return servers;
}

void debug_servers_close(struct debug_servers *servers)
{
    if (servers == NULL)
        return;
    if (servers->client != NULL)
        servers->end(servers->client);
    if (servers->library != NULL)
        dlclose(servers->library);
    pthread_mutex_destroy(&servers->telling);
    pthread_mutex_destroy(&servers->asking);
    free(servers);
}
