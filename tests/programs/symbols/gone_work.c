/* gone_work.c - a program whose library goes while it runs, for tests of what is left of its names.
 *
 *   gone_work LIBRARY HOW MS     HOW: stays   it stays where it is
 *                                     deleted  as soon as it is loaded
 *                                     late     after the work
 *                                     replaced by another file of that name, OTHER in the environment
 *                                     memfd    loaded from a file without a name, whose descriptor is closed
 *                                     memfd-open  the same, and it stays open
 *                                     killed   deleted, and SIGKILL at the end
 *
 * The library exports exported_work(ms), which works in itself and in a static function. */
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int fail(const char *what)
{
    perror(what);
    return 1;
}

/* A copy of the file in memory; -1. */
static int memory_file(const char *path)
{
    char bytes[65536];
    int from = open(path, O_RDONLY | O_CLOEXEC), to = memfd_create("library", MFD_CLOEXEC);
    for (ssize_t n = 1; from >= 0 && to >= 0 && n > 0;) {
        n = read(from, bytes, sizeof bytes);
        if (n > 0 && write(to, bytes, (size_t)n) != n)
            return -1;
    }
    if (from < 0)
        return -1;
    close(from);
    return to;
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    const char *how = argv[2];
    char path[64];
    int fd = strncmp(how, "memfd", 5) == 0 ? memory_file(argv[1]) : -1;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    void *library = dlopen(fd >= 0 ? path : argv[1], RTLD_NOW);
    if (library == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    if (strcmp(how, "memfd") == 0)
        close(fd);
    if ((strcmp(how, "deleted") == 0 || strcmp(how, "killed") == 0) && unlink(argv[1]) != 0)
        return fail("unlink");
    const char *other = getenv("OTHER");
    if (strcmp(how, "replaced") == 0 && (other == NULL || rename(other, argv[1]) != 0))
        return fail("rename");
    /* NOLINTNEXTLINE(performance-no-int-to-ptr): how ISO C has a function from dlsym */
    void (*work)(unsigned) = (void (*)(unsigned))(size_t)dlsym(library, "exported_work");
    if (work == NULL)
        return 1;
    work((unsigned)atoi(argv[3]));
    if (strcmp(how, "late") == 0 && unlink(argv[1]) != 0)
        return fail("unlink");
    if (strcmp(how, "killed") == 0)
        raise(SIGKILL);
    return 0;
}
