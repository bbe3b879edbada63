/* capture_eintr.c - capture_eintr CALLS: makes that many calls that a signal may break off, of
 * every kind, and says which of them returned EINTR. The program has no handler but for one, so
 * that none may.
 *
 * A second thread ends those waits that have no timeout. */
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/futex.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/random.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const struct timespec moment = {.tv_nsec = 20000};
static int epoll_fd, pair[2], pipe_fd[2], semaphores, queue, event_fd, timer_fd, signal_fd,
    lock_fd[2], listener, stream_listener;
static mqd_t messages = -1;
static aio_context_t aio;
static sem_t posix_semaphore;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static uint32_t futex_word;
static char fifo_path[64], lock_path[64];
static struct sockaddr_in stream_address;
static struct sockaddr_un full_address;
static pthread_t main_thread;
static volatile sig_atomic_t n_usr1;

static void on_usr1(int signo)
{
    (void)signo;
    n_usr1++;
}

static struct timespec soon(clockid_t clock)
{
    struct timespec when;
    clock_gettime(clock, &when);
    when.tv_nsec += 20000;
    if (when.tv_nsec >= 1000000000) {
        when.tv_sec++;
        when.tv_nsec -= 1000000000;
    }
    return when;
}

/* ---- the second thread ---------------------------------------------------------------------- */

static int order_pipe[2];
static void (*order)(void);

/* Has `action` done by the second thread in a moment. */
static void in_a_moment(void (*action)(void))
{
    char byte = 0;
    order = action;
    while (write(order_pipe[1], &byte, 1) != 1)
        continue;
}

static void *second_run(void *unused)
{
    char byte;
    while (read(order_pipe[0], &byte, 1) == 1) {
        struct timespec nap = {.tv_nsec = 10000};
        nanosleep(&nap, NULL);
        order();
    }
    return unused;
}

static void act_write(void)
{
    if (write(pipe_fd[1], "x", 1) != 1)
        abort();
}

static void act_eventfd(void)
{
    eventfd_write(event_fd, 1);
}

static void act_semop(void)
{
    struct sembuf up = {.sem_num = 1, .sem_op = 1};
    semop(semaphores, &up, 1);
}

static void act_post(void)
{
    sem_post(&posix_semaphore);
}

static void act_msgsnd(void)
{
    struct {
        long type;
        char text[1];
    } message = {1, {0}};
    msgsnd(queue, &message, 1, 0);
}

static void act_usr1(void)
{
    pthread_kill(main_thread, SIGUSR1);
}

static void act_usr2(void)
{
    pthread_kill(main_thread, SIGUSR2);
}

static void act_unlock(void)
{
    flock(lock_fd[1], LOCK_UN);
}

static void act_unlock_range(void)
{
    struct flock lock = {.l_type = F_UNLCK, .l_whence = SEEK_SET};
    fcntl(lock_fd[1], F_OFD_SETLK, &lock);
}

static void act_open(void)
{
    int fd = open(fifo_path, O_WRONLY);
    close(fd);
}

/* ---- the calls ------------------------------------------------------------------------------ */

static long call_poll(void)
{
    struct pollfd one = {.fd = pair[0], .events = POLLIN};
    return poll(&one, 1, 1);
}

static long call_ppoll(void)
{
    struct pollfd one = {.fd = pair[0], .events = POLLIN};
    return ppoll(&one, 1, &moment, NULL);
}

static long call_select(void)
{
    struct timeval timeout = {.tv_usec = 20};
    return select(0, NULL, NULL, NULL, &timeout);
}

static long call_pselect(void)
{
    return pselect(0, NULL, NULL, NULL, &moment, NULL);
}

static long call_epoll_wait(void)
{
    struct epoll_event event;
    return epoll_wait(epoll_fd, &event, 1, 1);
}

static long call_epoll_pwait(void)
{
    struct epoll_event event;
    sigset_t none;
    sigemptyset(&none);
    return epoll_pwait(epoll_fd, &event, 1, 1, &none);
}

static long call_epoll_pwait2(void)
{
    struct epoll_event event;
    long result = epoll_pwait2(epoll_fd, &event, 1, &moment, NULL);
    return result == -1 && errno == ENOSYS ? 0 : result;
}

static long call_nanosleep(void)
{
    struct timespec left;
    return nanosleep(&moment, &left);
}

static long call_clock_nanosleep(void)
{
    int error = clock_nanosleep(CLOCK_MONOTONIC, 0, &moment, NULL);
    errno = error;
    return error != 0 ? -1 : 0;
}

static long call_clock_nanosleep_until(void)
{
    struct timespec when = soon(CLOCK_MONOTONIC);
    int error = clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, NULL);
    errno = error;
    return error != 0 ? -1 : 0;
}

static long call_usleep(void)
{
    return usleep(20);
}

static long call_semtimedop(void)
{
    struct sembuf down = {.sem_num = 0, .sem_op = -1};
    return semtimedop(semaphores, &down, 1, &moment);
}

static long call_semop(void)
{
    struct sembuf down = {.sem_num = 1, .sem_op = -1};
    in_a_moment(act_semop);
    return semop(semaphores, &down, 1);
}

static long call_sigtimedwait(void)
{
    sigset_t usr2;
    sigemptyset(&usr2);
    sigaddset(&usr2, SIGUSR2);
    return sigtimedwait(&usr2, NULL, &moment);
}

static long call_sigwaitinfo(void)
{
    sigset_t usr2;
    sigemptyset(&usr2);
    sigaddset(&usr2, SIGUSR2);
    in_a_moment(act_usr2);
    return sigwaitinfo(&usr2, NULL);
}

static long call_signalfd(void)
{
    struct signalfd_siginfo info;
    in_a_moment(act_usr2);
    return read(signal_fd, &info, sizeof info);
}

/* Must not return before its signal has come. */
static long call_sigsuspend(void)
{
    sigset_t usr1, before;
    int n_before = n_usr1;
    sigemptyset(&usr1);
    sigaddset(&usr1, SIGUSR1);
    sigprocmask(SIG_BLOCK, &usr1, &before);
    in_a_moment(act_usr1);
    sigsuspend(&before);
    int too_early = n_usr1 == n_before;
    while (n_usr1 == n_before)
        sigsuspend(&before);
    sigprocmask(SIG_SETMASK, &before, NULL);
    errno = EINTR;
    return too_early ? -1 : 0;
}

static long call_recv(void)
{
    char byte;
    return recv(pair[0], &byte, 1, 0);
}

static long call_recvmsg(void)
{
    char byte;
    struct iovec buffer = {.iov_base = &byte, .iov_len = 1};
    struct msghdr message = {.msg_iov = &buffer, .msg_iovlen = 1};
    return recvmsg(pair[0], &message, 0);
}

static long call_accept(void)
{
    return accept(listener, NULL, NULL);
}

/* The backlog is full, and a timeout is set. */
static long call_connect_full(void)
{
    struct timeval timeout = {.tv_usec = 100};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
    long result = connect(fd, (struct sockaddr *)&full_address, sizeof full_address);
    int error = errno;
    close(fd);
    errno = error;
    return result;
}

static long call_connect(void)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    long result = connect(fd, (struct sockaddr *)&stream_address, sizeof stream_address);
    if (result == 0)
        close(accept(stream_listener, NULL, NULL));
    else if (errno == EALREADY || errno == EINPROGRESS)
        errno = EINTR;
    int error = errno;
    close(fd);
    errno = error;
    return result;
}

static long call_read(void)
{
    char byte;
    in_a_moment(act_write);
    return read(pipe_fd[0], &byte, 1);
}

static long call_eventfd(void)
{
    eventfd_t value;
    in_a_moment(act_eventfd);
    return eventfd_read(event_fd, &value);
}

static long call_timerfd(void)
{
    const struct itimerspec once = {.it_value = moment};
    uint64_t n;
    timerfd_settime(timer_fd, 0, &once, NULL);
    return read(timer_fd, &n, sizeof n);
}

static long call_msgrcv(void)
{
    struct {
        long type;
        char text[1];
    } message;
    in_a_moment(act_msgsnd);
    return msgrcv(queue, &message, 1, 0, 0);
}

static long call_sem_wait(void)
{
    in_a_moment(act_post);
    return sem_wait(&posix_semaphore);
}

static long call_sem_timedwait(void)
{
    struct timespec when = soon(CLOCK_REALTIME);
    return sem_timedwait(&posix_semaphore, &when);
}

static long call_cond_timedwait(void)
{
    struct timespec when = soon(CLOCK_REALTIME);
    pthread_mutex_lock(&mutex);
    int error = pthread_cond_timedwait(&condition, &mutex, &when);
    pthread_mutex_unlock(&mutex);
    errno = error;
    return error != 0 ? -1 : 0;
}

static long call_mq(void)
{
    char text[16];
    struct timespec when = soon(CLOCK_REALTIME);
    return messages < 0 ? 0 : mq_timedreceive(messages, text, sizeof text, NULL, &when);
}

static long call_futex(void)
{
    return syscall(SYS_futex, &futex_word, FUTEX_WAIT_PRIVATE, 0, &moment, NULL, 0);
}

static long call_futex_until(void)
{
    struct timespec when = soon(CLOCK_MONOTONIC);
    return syscall(SYS_futex, &futex_word, FUTEX_WAIT_BITSET_PRIVATE, 0, &when, NULL, ~0u);
}

static long call_syscall_ppoll(void)
{
    struct pollfd one = {.fd = pair[0], .events = POLLIN};
    struct timespec timeout = moment;
    return syscall(SYS_ppoll, &one, 1, &timeout, NULL, 8);
}

static long call_io_getevents(void)
{
    struct io_event event;
    struct timespec timeout = moment;
    return aio == 0 ? 0 : syscall(SYS_io_getevents, aio, 1, 1, &event, &timeout);
}

#if defined(__x86_64__)

/* The number is a constant that the compiler puts where it likes. */
static long call_inline_ppoll(void)
{
    struct pollfd one = {.fd = pair[0], .events = POLLIN};
    struct timespec timeout = moment;
    register long mask __asm__("r10") = 0;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(SYS_ppoll), "D"(&one), "S"(1), "d"(&timeout), "r"(mask)
                     : "rcx", "r11", "memory");
    errno = (int)-result;
    return result < 0 ? -1 : result;
}

/* The number comes from a register that the call leaves alone. */
static long call_inline_register(void)
{
    struct timespec timeout = moment;
    long result = 0;
    for (int i = 0; i < 8 && result == 0; i++) {
        register long number __asm__("r9") = SYS_nanosleep;
        __asm__ volatile("movl %%r9d, %%eax\n\tsyscall"
                         : "=a"(result)
                         : "r"(number), "D"(&timeout), "S"(NULL)
                         : "rcx", "r11", "memory");
    }
    errno = (int)-result;
    return result < 0 ? -1 : result;
}

#else

static long call_inline_ppoll(void)
{
    return 0;
}

static long call_inline_register(void)
{
    return 0;
}

#endif

static long call_flock(void)
{
    flock(lock_fd[1], LOCK_EX);
    in_a_moment(act_unlock);
    long result = flock(lock_fd[0], LOCK_EX);
    int error = errno;
    flock(lock_fd[0], LOCK_UN);
    errno = error;
    return result;
}

static long call_fcntl(void)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET}, unlock = {.l_type = F_UNLCK};
    fcntl(lock_fd[1], F_OFD_SETLK, &lock);
    in_a_moment(act_unlock_range);
    long result = fcntl(lock_fd[0], F_OFD_SETLKW, &lock);
    int error = errno;
    fcntl(lock_fd[0], F_OFD_SETLK, &unlock);
    errno = error;
    return result;
}

static long call_open(void)
{
    in_a_moment(act_open);
    int fd = open(fifo_path, O_RDONLY);
    int error = errno;
    if (fd >= 0)
        close(fd);
    errno = error;
    return fd;
}

static long call_wait(void)
{
    int status;
    pid_t pid = vfork();
    if (pid == 0)
        _exit(0);
    return waitpid(pid, &status, 0);
}

static long call_waitid(void)
{
    siginfo_t info;
    pid_t pid = vfork();
    if (pid == 0)
        _exit(0);
    return waitid(P_PID, (id_t)pid, &info, WEXITED);
}

/* All that was asked for, or it was broken off. */
static long call_getrandom(void)
{
    static char bytes[100000];
    errno = EINTR;
    return getrandom(bytes, sizeof bytes, 0) == (ssize_t)sizeof bytes ? 0 : -1;
}

static const struct {
    const char *name;
    long (*call)(void);
    int every; /* not in each round: slow */
} calls[] = {
    {"poll", call_poll, 16},
    {"ppoll", call_ppoll, 1},
    {"select", call_select, 1},
    {"pselect", call_pselect, 1},
    {"epoll_wait", call_epoll_wait, 16},
    {"epoll_pwait", call_epoll_pwait, 16},
    {"epoll_pwait2", call_epoll_pwait2, 1},
    {"nanosleep", call_nanosleep, 1},
    {"clock_nanosleep", call_clock_nanosleep, 1},
    {"clock_nanosleep until", call_clock_nanosleep_until, 1},
    {"usleep", call_usleep, 1},
    {"semop", call_semop, 2},
    {"semtimedop", call_semtimedop, 1},
    {"sigtimedwait", call_sigtimedwait, 1},
    {"sigwaitinfo", call_sigwaitinfo, 2},
    {"signalfd", call_signalfd, 2},
    {"sigsuspend", call_sigsuspend, 2},
    {"recv", call_recv, 32},
    {"recvmsg", call_recvmsg, 32},
    {"accept", call_accept, 32},
    {"connect", call_connect, 4},
    {"connect, no room", call_connect_full, 32},
    {"read of a pipe", call_read, 2},
    {"read of an eventfd", call_eventfd, 2},
    {"read of a timerfd", call_timerfd, 1},
    {"msgrcv", call_msgrcv, 2},
    {"sem_wait", call_sem_wait, 2},
    {"sem_timedwait", call_sem_timedwait, 1},
    {"pthread_cond_timedwait", call_cond_timedwait, 1},
    {"mq_timedreceive", call_mq, 1},
    {"futex", call_futex, 1},
    {"futex until", call_futex_until, 1},
    {"syscall(SYS_ppoll)", call_syscall_ppoll, 1},
    {"io_getevents", call_io_getevents, 1},
    {"ppoll in line", call_inline_ppoll, 1},
    {"nanosleep by register", call_inline_register, 1},
    {"flock", call_flock, 2},
    {"fcntl", call_fcntl, 2},
    {"open of a FIFO", call_open, 4},
    {"waitpid", call_wait, 8},
    {"waitid", call_waitid, 8},
    {"getrandom", call_getrandom, 4},
};

/* ---- what the calls need -------------------------------------------------------------------- */

static int set_up_sockets(void)
{
    const struct timeval timeout = {.tv_usec = 100};
    socklen_t n_bytes = sizeof stream_address;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0 || pipe(pipe_fd) != 0)
        return 0;
    setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
    listener = socket(AF_UNIX, SOCK_STREAM, 0);
    full_address.sun_family = AF_UNIX;
    snprintf(full_address.sun_path + 1, sizeof full_address.sun_path - 1, "capture_eintr.%d",
             (int)getpid());
    setsockopt(listener, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
    const struct sockaddr any = {.sa_family = AF_UNIX};
    int full = socket(AF_UNIX, SOCK_STREAM, 0);
    if (bind(listener, &any, sizeof any.sa_family) != 0 ||
        bind(full, (struct sockaddr *)&full_address, sizeof full_address) != 0 ||
        listen(full, 0) != 0 || listen(listener, 4) != 0)
        return 0;
    for (int i = 0; i < 2; i++) {
        int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
        connect(fd, (struct sockaddr *)&full_address, sizeof full_address);
    }
    stream_listener = socket(AF_INET, SOCK_STREAM, 0);
    stream_address.sin_family = AF_INET;
    stream_address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return bind(stream_listener, (struct sockaddr *)&stream_address, sizeof stream_address) == 0 &&
           getsockname(stream_listener, (struct sockaddr *)&stream_address, &n_bytes) == 0 &&
           listen(stream_listener, 8) == 0;
}

static int set_up_files(void)
{
    snprintf(fifo_path, sizeof fifo_path, "fifo.%d", (int)getpid());
    snprintf(lock_path, sizeof lock_path, "lock.%d", (int)getpid());
    lock_fd[0] = open(lock_path, O_RDWR | O_CREAT, 0600);
    lock_fd[1] = open(lock_path, O_RDWR);
    epoll_fd = epoll_create1(0);
    event_fd = eventfd(0, 0);
    timer_fd = timerfd_create(CLOCK_MONOTONIC, 0);
    return mkfifo(fifo_path, 0600) == 0 && lock_fd[0] >= 0 && lock_fd[1] >= 0 && epoll_fd >= 0 &&
           event_fd >= 0 && timer_fd >= 0;
}

static int set_up_queues(void)
{
    char name[64];
    struct mq_attr attributes = {.mq_maxmsg = 2, .mq_msgsize = 16};
    snprintf(name, sizeof name, "/capture_eintr.%d", (int)getpid());
    messages = mq_open(name, O_RDWR | O_CREAT, 0600, &attributes);
    mq_unlink(name);
    semaphores = semget(IPC_PRIVATE, 2, 0600);
    queue = msgget(IPC_PRIVATE, 0600);
    if (syscall(SYS_io_setup, 4, &aio) != 0)
        aio = 0;
    return semaphores >= 0 && queue >= 0 && sem_init(&posix_semaphore, 0, 0) == 0;
}

static int set_up_signals(void)
{
    struct sigaction action = {.sa_handler = on_usr1};
    sigset_t usr2;
    sigemptyset(&usr2);
    sigaddset(&usr2, SIGUSR2);
    signal_fd = signalfd(-1, &usr2, 0);
    main_thread = pthread_self();
    return sigaction(SIGUSR1, &action, NULL) == 0 && sigprocmask(SIG_BLOCK, &usr2, NULL) == 0 &&
           signal_fd >= 0;
}

static void tidy_up(void)
{
    semctl(semaphores, 0, IPC_RMID);
    msgctl(queue, IPC_RMID, NULL);
    unlink(fifo_path);
    unlink(lock_path);
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Twice six milliseconds, and not some that a busy machine made of it. */
static int wait_often(long wanted)
{
    long late = 0;
    for (long i = 0; i < wanted; i++) {
        struct pollfd one = {.fd = pair[0], .events = POLLIN};
        struct epoll_event event;
        double before = seconds();
        long n = i % 2 == 0 ? poll(&one, 1, 6) : epoll_wait(epoll_fd, &event, 1, 6);
        double took = seconds() - before;
        late += took >= 0.012 && took < 0.0125;
        if (n != 0 || took < 0.006) {
            printf("a wait of 6 ms took %.6f s, result %ld\n", took, n);
            return 1;
        }
    }
    printf("%ld waits, %ld twice as long\n", wanted, late);
    return 0;
}

/* A process that sends what is ignored by default, and so breaks off nothing. */
static pid_t make_noise(void)
{
    pid_t parent = getpid(), pid = fork();
    while (pid == 0 && getppid() == parent && kill(parent, SIGWINCH) == 0)
        usleep(50);
    if (pid == 0)
        _exit(0);
    return pid;
}

int main(int argc, char **argv)
{
    enum { N_KINDS = sizeof calls / sizeof calls[0] };
    static long n_made[N_KINDS], n_broken[N_KINDS];
    pthread_t second;
    long wanted = argc > 1 ? atol(argv[1]) : 20000, made = 0, broken = 0;
    if (!set_up_sockets() || !set_up_files() || !set_up_queues() || !set_up_signals() ||
        pipe(order_pipe) != 0 || pthread_create(&second, NULL, second_run, NULL) != 0) {
        perror("capture_eintr");
        return 2;
    }
    if (argc > 2)
        return wait_often(wanted);
    pid_t noise = make_noise();
    for (long round = 0; made < wanted; round++) {
        for (size_t i = 0; i < N_KINDS; i++) {
            if (round % calls[i].every != 0)
                continue;
            n_made[i]++;
            made++;
            if (calls[i].call() == -1 && errno == EINTR)
                n_broken[i]++;
        }
    }
    for (size_t i = 0; i < N_KINDS; i++) {
        broken += n_broken[i];
        if (n_broken[i] != 0)
            printf("%s: %ld of %ld were broken off\n", calls[i].name, n_broken[i], n_made[i]);
    }
    printf("%ld calls, %ld broken off\n", made, broken);
    kill(noise, SIGKILL);
    waitpid(noise, NULL, 0);
    tidy_up();
    return broken != 0;
}
