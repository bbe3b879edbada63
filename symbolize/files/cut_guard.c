/* cut_guard.c - see cut_guard.h. */
#include "files/cut_guard.h"

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

static size_t page_bytes;

/* A page of zeros in place of the one that is no longer in its file. Any other SIGBUS ends the process,
 * at the instruction again. */
static void on_bus_error(int number, siginfo_t *info, void *context)
{
    (void)context;
    char *page = (char *)info->si_addr - (uintptr_t)info->si_addr % page_bytes;
    if (info->si_code != BUS_ADRERR ||
        mmap(page, page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
             0) == MAP_FAILED)
        signal(number, SIG_DFL);
}

void cut_guard_install(void)
{
    struct sigaction action = {.sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO | SA_RESTART};
    page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    sigemptyset(&action.sa_mask);
    (void)sigaction(SIGBUS, &action, NULL);
}
