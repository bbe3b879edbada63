/* line.c - see line.h. */
#include "sys/line.h"

#include <errno.h>
#include <string.h>

#include "sys/os.h"

/* Written in SETUP, constant afterwards. */
static struct {
    bool open;
    dev_t dev;
    ino_t ino;
} stderr_at_start;

/* any context */
void line_init(struct line *line, char *bytes, size_t size_bytes)
{
    line->bytes = bytes;
    line->length = 0;
    line->size_bytes = size_bytes;
    line->cut = false;
    bytes[0] = '\0';
}

/* any context */
void line_add_bytes(struct line *line, const char *bytes, size_t n_bytes)
{
    size_t room = line->size_bytes - 1 - line->length;
    if (n_bytes > room) {
        n_bytes = room;
        line->cut = true;
    }
    memcpy(line->bytes + line->length, bytes, n_bytes);
    line->length += n_bytes;
    line->bytes[line->length] = '\0';
}

/* any context */
void line_add(struct line *line, const char *text)
{
    line_add_bytes(line, text, strlen(text));
}

/* any context */
void line_add_number(struct line *line, uint64_t number)
{
    char digits[20];
    size_t n = sizeof digits;
    do {
        digits[--n] = (char)('0' + number % 10);
        number /= 10;
    } while (number != 0);
    line_add_bytes(line, digits + n, sizeof digits - n);
}

/* SETUP */
void line_remember_stderr(void)
{
    struct stat now;
    stderr_at_start.open = os_fstat(STDERR_FILENO, &now) == 0;
    if (stderr_at_start.open) {
        stderr_at_start.dev = now.st_dev;
        stderr_at_start.ino = now.st_ino;
    }
}

/* any context but SIGNAL */
bool line_stderr_is_same(void)
{
    struct stat now;
    return stderr_at_start.open && os_fstat(STDERR_FILENO, &now) == 0 &&
           now.st_dev == stderr_at_start.dev && now.st_ino == stderr_at_start.ino;
}

/* To stderr, whose reader may be gone: a SIGPIPE that comes of that is taken back, as the program
 * did not cause it. any context but SIGNAL */
static void write_stderr(const char *bytes, size_t n_bytes)
{
    const uint64_t sigpipe = os_signal_bit(SIGPIPE);
    const struct timespec at_once = {0};
    uint64_t pending = 0, before = 0;
    os_sigmask(SIG_BLOCK, &sigpipe, &before);
    os_sigpending(&pending);
    long n = os_call(SYS_write, STDERR_FILENO, bytes, n_bytes);
    if (n < 0 && errno == EPIPE && (pending & sigpipe) == 0)
        os_call(SYS_rt_sigtimedwait, &sigpipe, NULL, &at_once, OS_SIGSET_BYTES);
    if ((before & sigpipe) == 0)
        os_sigmask(SIG_UNBLOCK, &sigpipe, NULL);
}

/* any context but SIGNAL */
void line_say(struct line *line)
{
    int saved_errno = errno;
    char out[1200];
    struct line whole;
    line_init(&whole, out, sizeof out - 1);
    line_add(&whole, "sampler: ");
    line_add_bytes(&whole, line->bytes, line->length);
    out[whole.length++] = '\n';
    if (line_stderr_is_same())
        write_stderr(out, whole.length);
    errno = saved_errno;
}
