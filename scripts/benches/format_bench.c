/* format_bench.c FROM IN [TO OUT] - how long it takes to read IN as format FROM and to write it as
 * TO, and the most memory each took (the file itself counts in reading, the profile in writing).
 * One line of JSON on stdout. */
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "registry/registry.h"

/* CPU time: others may be at work on the machine. */
static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* The most memory since the last call. */
static unsigned long take_peak_kb(void)
{
    FILE *status = fopen("/proc/self/status", "re");
    unsigned long peak_kb = 0;
    char line[128];
    while (status != NULL && fgets(line, sizeof line, status) != NULL) {
        if (strncmp(line, "VmHWM:", 6) == 0)
            peak_kb = strtoul(line + 6, NULL, 10);
    }
    if (status != NULL)
        (void)fclose(status);
    int fd = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
    if (fd >= 0 && write(fd, "5", 1) != 1)
        peak_kb = 0;
    if (fd >= 0)
        close(fd);
    return peak_kb;
}

static uint8_t *load(const char *path, size_t *size_bytes)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    uint8_t *data = NULL;
    if (fd >= 0 && fstat(fd, &st) == 0)
        data = malloc((size_t)st.st_size + 1);
    *size_bytes = 0;
    for (ssize_t n = 1; data != NULL && n > 0 && *size_bytes < (size_t)st.st_size;) {
        n = read(fd, data + *size_bytes, (size_t)st.st_size - *size_bytes);
        *size_bytes += n > 0 ? (size_t)n : 0;
    }
    if (fd >= 0)
        close(fd);
    return data;
}

static void free_input(void *input)
{
    uint8_t **data = input;
    free(*data);
    *data = NULL;
}

static bool measure(char **argv, const struct format *from, const struct format *to,
                    struct err *err)
{
    uint8_t *data = NULL;
    const struct format_options options = {.input_done = free_input, .input = &data};
    struct profile *profile = NULL;
    struct sink *sink = NULL;
    struct stat st = {0};
    size_t size_bytes = 0;
    (void)take_peak_kb();
    double start_s = now_s();
    data = load(argv[2], &size_bytes);
    bool ok = data != NULL && from->read(data, size_bytes, &options, NULL, &profile, err);
    double read_s = now_s() - start_s;
    unsigned long read_kb = take_peak_kb();
    free_input(&data);
    malloc_trim(0);
    (void)take_peak_kb();
    unsigned long profile_kb = take_peak_kb();
    start_s = now_s();
    if (ok && to != NULL)
        ok = sink_create_file(argv[4], &sink, err) &&
             to->write(profile, &options, NULL, sink, err) && sink_close(sink, err);
    double write_s = now_s() - start_s;
    unsigned long write_kb = take_peak_kb();
    profile_destroy(profile);
    if (ok && to != NULL && stat(argv[4], &st) != 0)
        st.st_size = 0;
    if (ok)
        printf("{\"read_s\": %.4f, \"read_bytes\": %zu, \"read_kb\": %lu, \"write_s\": %.4f, "
               "\"write_bytes\": %lld, \"write_kb\": %lu, \"profile_kb\": %lu}\n",
               read_s, size_bytes, read_kb, write_s, (long long)st.st_size, write_kb, profile_kb);
    return ok;
}

int main(int argc, char **argv)
{
    const struct format *from = argc == 3 || argc == 5 ? format_by_name(argv[1]) : NULL;
    const struct format *to = argc == 5 ? format_by_name(argv[3]) : NULL;
    struct err err = ERR_INIT;
    char text[600];
    if (from == NULL || from->read == NULL || (argc == 5 && (to == NULL || to->write == NULL))) {
        fprintf(stderr, "usage: format_bench FROM IN [TO OUT]\n");
        return 2;
    }
    if (measure(argv, from, to, &err))
        return 0;
    fprintf(stderr, "format_bench: %s\n", err_describe(&err, text, sizeof text));
    return 1;
}
