/* infos.c - see infos.h. */
#include "state/infos.h"

#include <string.h>
#include <sys/auxv.h>
#include <sys/utsname.h>

#include "state/run.h"
#include "sys/layout.h"
#include "sys/line.h"
#include "sys/os.h"
#include "sys/segment.h"
#include "unwind/modules.h"

#define TEXT_BYTES 4096u

/* The arguments as the kernel laid them out, one after the other; written in SETUP. A program may
 * write over them, which is how it changes its title. */
static const char *arguments;
static size_t arguments_bytes;

/* What the kernel was told to run; written in SETUP. */
static const char *executed;

static bool are_put; /* atomic */

/* SETUP */
void infos_set_arguments(int argc, char *const argv[])
{
    executed = address_pointer(getauxval(AT_EXECFN));
    if (argc <= 0 || argv == NULL || argv[0] == NULL)
        return;
    const char *end = argv[0];
    for (int i = 0; i < argc; i++) {
        if (argv[i] != end)
            return; /* not as laid out by the kernel: a loader of its own */
        end += strlen(argv[i]) + 1;
    }
    arguments = argv[0];
    arguments_bytes = (size_t)(end - argv[0]);
}

/* SETUP, HOOK */
static void put_command(struct stream *stream, const char *command, size_t n)
{
    if (n > TEXT_BYTES)
        n = TEXT_BYTES;
    if (n > 0 && command[n - 1] == '\0')
        n--; /* the last argument's own end */
    if (n > 0)
        stream_put_info(stream, "command", command, n);
}

/* SETUP, HOOK */
static void put_command_of_kernel(struct stream *stream)
{
    static LAYOUT_LARGE char bytes[TEXT_BYTES]; /* one caller at a time */
    int fd = os_open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0)
        return;
    long n = os_call(SYS_read, fd, bytes, sizeof bytes);
    os_close(fd);
    put_command(stream, bytes, n > 0 ? (size_t)n : 0);
}

/* SETUP, HOOK */
void infos_begin(struct stream *stream)
{
    __atomic_store_n(&are_put, false, __ATOMIC_RELAXED);
    if (arguments != NULL)
        put_command(stream, arguments, arguments_bytes);
    else
        put_command_of_kernel(stream);
}

/* any context */
SIGNAL_SAFE static void put_text(struct stream *stream, const char *key, const char *text)
{
    if (text[0] != '\0')
        stream_put_info(stream, key, text, strlen(text));
}

/* any context */
SIGNAL_SAFE static void put_user(struct stream *stream)
{
    char bytes[24];
    struct line digits;
    line_init(&digits, bytes, sizeof bytes);
    line_add_number(&digits, (uint64_t)os_call(SYS_geteuid));
    put_text(stream, "uid", bytes);
}

/* any context */
void infos_put(struct stream *stream)
{
    static LAYOUT_LARGE char folder[TEXT_BYTES]; /* too large for the handler's stack; one caller */
    struct utsname names = {.nodename = ""};
    if (likely(__atomic_load_n(&are_put, __ATOMIC_RELAXED)) ||
        __atomic_exchange_n(&are_put, true, __ATOMIC_ACQ_REL))
        return;
    put_text(stream, "exe", modules_main_path());
    long n = os_call(SYS_getcwd, folder, sizeof folder);
    if (n > 1)
        stream_put_info(stream, "cwd", folder, (size_t)n - 1);
    if (os_call(SYS_uname, &names) == 0)
        put_text(stream, "host", names.nodename);
    put_user(stream);
    put_text(stream, "unwinder", settings_unwinder_name(session.settings.unwinder));
    if (session.settings.measure == SETTINGS_EVENT)
        put_text(stream, "event", session.settings.event.name);
    put_text(stream, "version", SAMPLER_VERSION);
}

/* HOOK */
bool infos_are_put(void)
{
    return __atomic_load_n(&are_put, __ATOMIC_RELAXED);
}

/* HOOK, EXIT */
void infos_end(struct stream *stream)
{
    if (__atomic_load_n(&are_put, __ATOMIC_RELAXED))
        return;
    if (executed != NULL)
        put_text(stream, "exe", executed);
    if (session.settings.measure == SETTINGS_EVENT)
        put_text(stream, "event", session.settings.event.name);
}
