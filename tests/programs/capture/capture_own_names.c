/* capture_own_names.c - a program that has functions of its own under the names of libc's, exported as
 * all of a program's are that a library also asks for. Each may do what it likes here; in a signal
 * handler, or for a library that means libc's, none of them would be right: each of those says its
 * name and ends the program. write is counted instead, as the program uses it itself.
 *
 *   capture_own_names MS    uses MS ms of CPU, then prints how often write was called */
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned long sink;
static int n_writes;

static long call(long number, long a, long b, long c)
{
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c)
                     : "rcx", "r11", "memory");
    return result;
}

static long end(const char *name, long n_bytes)
{
    call(SYS_write, 2, (long)name, n_bytes);
    call(SYS_exit_group, 99, 0, 0);
    return 0;
}

/* own_NAME in C, NAME for the linker: the headers have types for these. */
#define TRAP(name)                                                                                 \
    long own_##name(void) __asm__(#name);                                                          \
    long own_##name(void)                                                                          \
    {                                                                                              \
        static const char text[] = #name " of the program was called\n";                           \
        return end(text, sizeof text - 1);                                                         \
    }

TRAP(syscall)
TRAP(prctl)
TRAP(clone)
TRAP(getpid)
TRAP(clock_gettime)
TRAP(process_vm_readv)
TRAP(munmap)
TRAP(unlink)
TRAP(memcpy)
TRAP(memmove)
TRAP(memset)
TRAP(memcmp)
TRAP(memchr)
TRAP(strlen)
TRAP(strnlen)
TRAP(strstr)

ssize_t write(int fd, const void *bytes, size_t n_bytes)
{
    n_writes++;
    return call(SYS_write, fd, (long)bytes, (long)n_bytes);
}

/* clock() of libc reads the clock without a name that could be ours. */
__attribute__((noinline)) static void burn(long ms)
{
    clock_t until = clock() + ms * (CLOCKS_PER_SEC / 1000);
    while (clock() < until)
        for (int i = 0; i < 100000; i++)
            sink += (unsigned long)i;
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    burn(atol(argv[1]));
    char text[] = "0 writes\n";
    text[0] = (char)('0' + n_writes);
    return write(STDOUT_FILENO, text, sizeof text - 1) == (ssize_t)sizeof text - 1 ? 7 : 1;
}
