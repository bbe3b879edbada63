/* capture_transfers.c - capture_transfers whole|cut ROUNDS: large blocking transfers.
 *
 *   whole   there are no handlers: each moves all it was asked to
 *   cut     an alarm comes in the middle: each ends there, as its handler is the program's own */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define N_BYTES (4u << 20)

static char bytes[N_BYTES];
static int zero_fd, file_fd;
static volatile sig_atomic_t n_alarms;

static void on_alarm(int signo)
{
    (void)signo;
    n_alarms++;
}

static struct iovec halves[3] = {
    {bytes, N_BYTES / 2}, {bytes, 0}, {bytes + N_BYTES / 2, N_BYTES / 2}};

static ssize_t do_write(int fd)
{
    return write(fd, bytes, N_BYTES);
}

static ssize_t do_writev(int fd)
{
    return writev(fd, halves, 3);
}

static ssize_t do_send(int fd)
{
    return send(fd, bytes, N_BYTES, 0);
}

static ssize_t do_sendmsg(int fd)
{
    const struct msghdr message = {.msg_iov = halves, .msg_iovlen = 3};
    return sendmsg(fd, &message, 0);
}

static ssize_t do_sendfile(int fd)
{
    off_t from = 0;
    return sendfile(fd, file_fd, &from, N_BYTES);
}

static ssize_t do_recv(int fd)
{
    return recv(fd, bytes, N_BYTES, MSG_WAITALL);
}

static ssize_t do_recvmsg(int fd)
{
    struct msghdr message = {.msg_iov = halves, .msg_iovlen = 3};
    return recvmsg(fd, &message, MSG_WAITALL);
}

static ssize_t do_read(int fd)
{
    (void)fd;
    return read(zero_fd, bytes, N_BYTES);
}

static ssize_t do_readv(int fd)
{
    (void)fd;
    return readv(zero_fd, halves, 3);
}

static ssize_t do_getrandom(int fd)
{
    (void)fd;
    return getrandom(bytes, N_BYTES, 0);
}

enum way { PIPE, SOCKET_OUT, SOCKET_IN, NO_PEER };

static const struct {
    const char *name;
    ssize_t (*transfer)(int);
    enum way way;
} transfers[] = {
    {"write to a pipe", do_write, PIPE},
    {"writev to a pipe", do_writev, PIPE},
    {"write to a socket", do_write, SOCKET_OUT},
    {"send", do_send, SOCKET_OUT},
    {"sendmsg", do_sendmsg, SOCKET_OUT},
    {"sendfile", do_sendfile, SOCKET_OUT},
    {"recv", do_recv, SOCKET_IN},
    {"recvmsg", do_recvmsg, SOCKET_IN},
    {"read of /dev/zero", do_read, NO_PEER},
    {"readv of /dev/zero", do_readv, NO_PEER},
    {"getrandom", do_getrandom, NO_PEER},
};

/* The other end: takes or gives piece by piece. `pause_at`: waits there for the alarm. */
static void be_peer(int fd, enum way way, int with_pause)
{
    size_t done = 0;
    static char piece[30000];
    while (done < N_BYTES) {
        ssize_t n =
            way == SOCKET_IN ? write(fd, piece, sizeof piece) : read(fd, piece, sizeof piece);
        if (n <= 0)
            break;
        done += (size_t)n;
        if (with_pause && done > N_BYTES / 2) {
            with_pause = 0;
            poll(NULL, 0, 60);
        }
    }
    _exit(0);
}

static ssize_t run(size_t i, int with_alarm)
{
    const struct itimerval in_30_ms = {.it_value.tv_usec = 30000}, never = {0};
    int ends[2] = {-1, -1};
    enum way way = transfers[i].way;
    if ((way == PIPE && pipe(ends) != 0) ||
        (way > PIPE && way < NO_PEER && socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0))
        abort();
    fflush(stdout);
    pid_t pid = way == NO_PEER ? 0 : fork();
    if (way != NO_PEER && pid == 0) {
        close(ends[1]);
        be_peer(ends[0], way, with_alarm);
    }
    if (with_alarm)
        setitimer(ITIMER_REAL, &in_30_ms, NULL);
    ssize_t n = transfers[i].transfer(ends[1]);
    setitimer(ITIMER_REAL, &never, NULL);
    if (way != NO_PEER) {
        close(ends[0]);
        close(ends[1]);
        waitpid(pid, NULL, 0);
    }
    return n;
}

int main(int argc, char **argv)
{
    struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
    if (argc < 3)
        return 2;
    int with_alarm = strcmp(argv[1], "cut") == 0, bad = 0;
    char name[] = "transfer.XXXXXX";
    zero_fd = open("/dev/zero", O_RDONLY);
    file_fd = mkstemp(name);
    unlink(name);
    if (zero_fd < 0 || file_fd < 0 || ftruncate(file_fd, N_BYTES) != 0 ||
        (with_alarm && sigaction(SIGALRM, &action, NULL) != 0))
        return 2;
    for (int round = 0; round < atoi(argv[2]); round++) {
        for (size_t i = 0; i < sizeof transfers / sizeof transfers[0]; i++) {
            if (with_alarm && transfers[i].way == NO_PEER)
                continue;
            int before = n_alarms;
            ssize_t n = run(i, with_alarm);
            int is_whole = n == (ssize_t)N_BYTES;
            if (with_alarm ? (is_whole && n_alarms != before) : !is_whole) {
                printf("%s: %zd of %u bytes\n", transfers[i].name, n, N_BYTES);
                bad++;
            }
        }
    }
    printf("%d transfers went otherwise\n", bad);
    return bad != 0;
}
