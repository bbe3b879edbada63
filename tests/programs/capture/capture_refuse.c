/* capture_refuse.c - capture_refuse NAME=ERRNO... -- PROGRAM [ARGUMENT...]: runs a program whose
 * system call NAME fails with ERRNO, by a seccomp filter, as container runtimes do it. Names: the
 * table below. */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
    const char *name;
    uint32_t number;
} calls[] = {
    {"perf_event_open", SYS_perf_event_open},
    {"process_vm_readv", SYS_process_vm_readv},
    {"timer_create", SYS_timer_create},
    {"fallocate", SYS_fallocate},
    {"ioctl", SYS_ioctl},
    {"timer_delete", SYS_timer_delete},
};

static int refuse(const char *argument)
{
    const char *equals = strchr(argument, '=');
    if (equals == NULL)
        return -1;
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        if (strncmp(argument, calls[i].name, (size_t)(equals - argument)) != 0)
            continue;
        uint32_t error = (uint32_t)atoi(equals + 1) & SECCOMP_RET_DATA;
        struct sock_filter filter[] = {
            BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
            BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls[i].number, 0, 1),
            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        };
        struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};
        return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
    }
    return -1;
}

int main(int argc, char **argv)
{
    int i = 1;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return 77;
    for (; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (refuse(argv[i]) != 0)
            return 77;
    if (i + 1 >= argc)
        return 2;
    execvp(argv[i + 1], argv + i + 1);
    perror(argv[i + 1]);
    return 127;
}
