/* unwaited.c - see unwaited.h. One system call where there is none, which is nearly always. Whose
 * children they are is known by thread: those of the first and of the calling one are looked at, for
 * of any other the kernel gives them to one of these as it ends. */
#include "process/unwaited.h"

#include <fcntl.h>
#include <stdbool.h>
#include <sys/wait.h>

#include "sys/line.h"
#include "sys/os.h"

#define LIST_BYTES 2048u

/* Whether a child, or child `pid`, is one. EXIT */
static bool is_left(idtype_t which, pid_t pid)
{
    siginfo_t info = {0};
    return os_call(SYS_waitid, which, pid, &info, WEXITED | WNOHANG | WNOWAIT, NULL) == 0 &&
           info.si_pid != 0;
}

/* Adds those among the numbers of one more piece of /proc/self/task/TID/children. `*pid` is the
 * number that goes on from the piece before. EXIT */
static void add_piece(struct line *list, const char *bytes, long n, uint64_t *pid)
{
    for (long i = 0; i < n; i++) {
        if (bytes[i] >= '0' && bytes[i] <= '9') {
            *pid = *pid * 10 + (uint64_t)(bytes[i] - '0');
            continue;
        }
        if (*pid != 0 && is_left(P_PID, (pid_t)*pid)) {
            line_add_number(list, *pid);
            line_add(list, " ");
        }
        *pid = 0;
    }
}

/* EXIT */
static void add_children_of(struct line *list, pid_t tid)
{
    char bytes[512];
    struct line path;
    uint64_t pid = 0;
    long n;
    line_init(&path, bytes, sizeof bytes);
    line_add(&path, "/proc/self/task/");
    line_add_number(&path, (uint64_t)tid);
    line_add(&path, "/children");
    int fd = os_open(bytes, O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0)
        return;
    while ((n = os_call(SYS_read, fd, bytes, sizeof bytes)) > 0)
        add_piece(list, bytes, n, &pid);
    os_close(fd);
}

/* EXIT */
void unwaited_note(struct stream *stream)
{
    char bytes[LIST_BYTES];
    struct line list;
    pid_t pid = os_getpid(), tid = os_gettid();
    if (!is_left(P_ALL, 0))
        return;
    line_init(&list, bytes, sizeof bytes);
    add_children_of(&list, pid);
    if (tid != pid)
        add_children_of(&list, tid);
    stream_put_info(stream, "unwaited", bytes, list.length);
}
