/* paths.c - see paths.h. */
#include "state/paths.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "capture.h"
#include "sys/os.h"

/* Text from outside as part of a file name: no folders in it. SETUP, HOOK */
static void add_plain(struct line *line, const char *text)
{
    for (; *text != '\0'; text++)
        line_add_bytes(line, *text == '/' ? "_" : text, 1);
}

/* The rank in an MPI or Slurm job, 0 outside of one. SETUP, HOOK */
static void add_rank(struct line *line)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK",
                                        "SLURM_PROCID"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *rank = getenv(names[i]);
        if (rank != NULL && rank[0] != '\0') {
            add_plain(line, rank);
            return;
        }
    }
    line_add(line, "0");
}

/* SETUP, HOOK */
static void add_host(struct line *line)
{
    struct utsname names;
    add_plain(line, uname(&names) == 0 ? names.nodename : "localhost");
}

/* SETUP, HOOK */
void paths_add_output(struct line *line, const char *pattern)
{
    char folder[PATH_MAX];
    if (pattern[0] != '/' && os_call(SYS_getcwd, folder, sizeof folder) > 0) {
        line_add(line, folder);
        line_add(line, "/");
    }
    for (const char *c = pattern; *c != '\0'; c++) {
        if (*c != '%' || c[1] == '\0') {
            line_add_bytes(line, c, 1);
            continue;
        }
        c++;
        if (*c == 'n')
            add_plain(line, program_invocation_short_name);
        else if (*c == 'p')
            line_add_number(line, (uint64_t)os_getpid());
        else if (*c == 'h')
            add_host(line);
        else if (*c == 'r')
            add_rank(line);
        else if (*c == '%')
            line_add(line, "%");
        else
            line_add_bytes(line, c - 1, 2);
    }
}

/* Bytes of a path up to its extension. SETUP, HOOK, EXIT */
static size_t base_bytes(const char *path)
{
    const char *name = strrchr(path, '/');
    name = name != NULL ? name + 1 : path;
    const char *dot = strrchr(name, '.');
    return dot != NULL && dot != name ? (size_t)(dot - path) : strlen(path);
}

/* EXIT */
const char *paths_extension(const char *path)
{
    return path + base_bytes(path);
}

/* EXIT */
void paths_with_extension(struct line *line, const char *path, const char *extension)
{
    line_add_bytes(line, path, base_bytes(path));
    line_add(line, extension);
}

/* SETUP, HOOK */
void paths_beside(struct line *recording, struct line *result, const char *output, unsigned attempt)
{
    size_t base = base_bytes(output);
    struct line *both[] = {recording, result};
    for (unsigned i = 0; i < 2; i++) {
        line_add_bytes(both[i], output, base);
        if (attempt > 0) {
            line_add(both[i], ".");
            line_add_number(both[i], attempt);
        }
    }
    line_add(result, output + base);
    line_add(recording, CAPTURE_EXTENSION);
}
