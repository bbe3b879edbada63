/* tree.c - see tree.h.
 *
 * SAMPLER_TREE=PID:NAMESPACE:HOST:FOLDER. The pid of the first process means something to those of
 * the same pid namespace only, and a batch system may carry the environment to another machine. */
#include "process/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "capture.h"
#include "environment.h"
#include "process/exec_env.h"
#include "state/paths.h"
#include "state/run.h"
#include "sys/keep.h"
#include "sys/layout.h"
#include "sys/os.h"

#define NAME_ATTEMPTS 1000u

static struct {
    enum tree_place place;
    pid_t first_pid;
    uint64_t pid_namespace; /* of that pid; 0: not known */
    const char *folder;     /* NULL: none */
} tree;

/* Its inode, by which namespaces differ. SETUP, EXIT */
static uint64_t own_pid_namespace(void)
{
    struct stat st;
    return os_stat("/proc/self/ns/pid", &st) == 0 ? st.st_ino : 0;
}

/* SETUP, HOOK */
static void add_host(struct line *line)
{
    struct utsname names = {.nodename = ""};
    os_call(SYS_uname, &names);
    for (const char *c = names.nodename; *c != '\0'; c++)
        line_add_bytes(line, *c == ':' ? "_" : c, 1);
}

/* SETUP */
static bool number_parse(const char **at, uint64_t *out)
{
    const char *c = *at;
    for (*out = 0; *c >= '0' && *c <= '9'; c++)
        *out = *out * 10 + (uint64_t)(*c - '0');
    bool ok = c > *at && *c == ':';
    *at = c + ok;
    return ok;
}

/* SETUP */
static bool host_parse(const char **at)
{
    char bytes[sizeof(struct utsname)];
    struct line host;
    line_init(&host, bytes, sizeof bytes);
    add_host(&host);
    bool ok = strncmp(*at, bytes, host.length) == 0 && (*at)[host.length] == ':';
    *at += ok ? host.length + 1 : 0;
    return ok;
}

/* Of NAME, the folder without its extension. any context */
static size_t name_bytes(void)
{
    return strlen(tree.folder) - strlen(CAPTURE_CHILDREN_EXTENSION);
}

/* SETUP */
static bool parse(const char *value)
{
    uint64_t pid, pid_namespace;
    size_t extension = strlen(CAPTURE_CHILDREN_EXTENSION);
    if (!number_parse(&value, &pid) || !number_parse(&value, &pid_namespace) || !host_parse(&value))
        return false;
    size_t length = strlen(value);
    if (value[0] != '/' || length <= extension || length >= RECORDING_PATH_MAX - 64 ||
        strcmp(value + length - extension, CAPTURE_CHILDREN_EXTENSION) != 0)
        return false;
    tree.first_pid = (pid_t)pid;
    tree.pid_namespace = pid_namespace;
    tree.folder = keep_text(value);
    return tree.folder != NULL;
}

/* any context */
static bool exists(const char *path)
{
    return os_call(SYS_faccessat, AT_FDCWD, path, F_OK) == 0;
}

/* any context */
static void first_recording(struct line *line, char path[RECORDING_PATH_MAX])
{
    line_init(line, path, RECORDING_PATH_MAX);
    line_add_bytes(line, tree.folder, name_bytes());
    line_add(line, CAPTURE_EXTENSION);
}

/* any context but SIGNAL */
static bool first_recording_exists(void)
{
    char path[RECORDING_PATH_MAX];
    struct line line;
    first_recording(&line, path);
    return exists(path);
}

/* NAME.sampler -> NAME.children. SETUP, HOOK */
static void folder_beside(struct line *line, const char *recording)
{
    line_add_bytes(line, recording, strlen(recording) - strlen(CAPTURE_EXTENSION));
    line_add(line, CAPTURE_CHILDREN_EXTENSION);
}

/* SETUP, HOOK */
bool tree_name_is_free(const char *recording)
{
    char path[RECORDING_PATH_MAX + 16];
    struct line line;
    line_init(&line, path, sizeof path);
    folder_beside(&line, recording);
    return !exists(path);
}

/* Of the program that this process has become: the one before may have been a shell that only made
 * its way to it. Another run's name is not taken. SETUP */
static void find_output(void)
{
    static LAYOUT_LARGE char wanted[RECORDING_PATH_MAX],
        path[RECORDING_PATH_MAX]; /* one caller at a time */
    struct line line, recording, output;
    line_init(&line, wanted, sizeof wanted);
    paths_add_output(&line, session.settings.output);
    for (unsigned attempt = 0; attempt < NAME_ATTEMPTS; attempt++) {
        line_init(&recording, path, sizeof path);
        line_init(&output, session.output, sizeof session.output);
        paths_beside(&recording, &output, wanted, attempt);
        size_t name = recording.length - strlen(CAPTURE_EXTENSION);
        bool is_ours = name == name_bytes() && memcmp(path, tree.folder, name) == 0;
        if (is_ours || (!exists(path) && tree_name_is_free(path)))
            return;
    }
}

/* SETUP */
void tree_enter(void)
{
    const char *value = getenv(ENVIRONMENT_TREE);
    if (value == NULL)
        return;
    bool is_ours = session.settings.recording_dir == NULL && parse(value);
    bool is_first = is_ours && tree.first_pid == os_getpid() &&
                    (tree.pid_namespace == 0 || tree.pid_namespace == own_pid_namespace());
    if (is_first && !first_recording_exists() && !tree_has_folder())
        is_ours = false;
    if (!is_ours) {
        tree.folder = NULL;
        return;
    }
    tree.place = is_first ? TREE_FIRST : TREE_LATER;
    session.settings.recording_dir = tree.folder;
    if (is_first)
        find_output();
}

/* SETUP, HOOK */
void tree_begin(const char *recording)
{
    char bytes[RECORDING_PATH_MAX + 128];
    struct line line;
    tree.place = TREE_FIRST;
    tree.folder = NULL;
    if (!session.settings.follow)
        return;
    line_init(&line, bytes, sizeof bytes);
    folder_beside(&line, recording);
    tree.folder = keep_text(bytes);
    tree.first_pid = session.pid;
    tree.pid_namespace = own_pid_namespace();
    line_init(&line, bytes, sizeof bytes);
    line_add(&line, ENVIRONMENT_TREE "=");
    line_add_number(&line, (uint64_t)tree.first_pid);
    line_add(&line, ":");
    line_add_number(&line, tree.pid_namespace);
    line_add(&line, ":");
    add_host(&line);
    line_add(&line, ":");
    line_add(&line, tree.folder != NULL ? tree.folder : "");
    if (tree.folder != NULL && !line.cut)
        exec_env_set(bytes);
}

/* HOOK */
void tree_forked(void)
{
    if (tree.place != TREE_FIRST || tree.folder == NULL)
        return;
    tree.place = TREE_LATER;
    session.settings.recording_dir = tree.folder;
}

/* any context */
enum tree_place tree_place(void)
{
    return tree.place;
}

/* any context */
pid_t tree_first_pid(void)
{
    return tree.first_pid;
}

/* any context */
const char *tree_folder(void)
{
    return tree.folder != NULL ? tree.folder : "";
}

/* Whether it is there; false with errno: ENOENT, or EACCES where it is nobody's we know. SETUP,
 * HOOK */
static bool folder_is_ours(void)
{
    struct stat st = {.st_mode = 0};
    if (os_call(SYS_newfstatat, AT_FDCWD, tree.folder, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return false;
    errno = EACCES;
    return S_ISDIR(st.st_mode) && st.st_uid == (uid_t)os_call(SYS_geteuid);
}

/* SETUP, HOOK */
bool tree_make_folder(void)
{
    if (folder_is_ours())
        return true;
    if (errno != ENOENT)
        return false;
    if (os_call(SYS_mkdirat, AT_FDCWD, tree.folder, S_IRWXU) == 0) {
        os_call(SYS_fchmodat, AT_FDCWD, tree.folder, S_IRWXU); /* whatever the program's mask */
        return true;
    }
    return errno == EEXIST && folder_is_ours();
}

/* HOOK, EXIT */
bool tree_has_folder(void)
{
    return tree.folder != NULL && exists(tree.folder);
}

/* EXIT */
bool tree_is_over(void)
{
    if (first_recording_exists() && (os_call(SYS_kill, tree.first_pid, 0) == 0 || errno != ESRCH))
        return false;
    return tree.pid_namespace != 0 && tree.pid_namespace == own_pid_namespace();
}

/* EXIT */
int tree_take_turn(void)
{
    int fd = tree.folder == NULL
                 ? -1
                 : os_open(tree.folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
    while (fd >= 0 && os_call(SYS_flock, fd, LOCK_EX) != 0 && errno == EINTR)
        continue;
    return fd;
}

/* Unlocked as well: a child that another thread has forked meanwhile has the descriptor too. EXIT */
void tree_give_turn(int fd)
{
    os_call(SYS_flock, fd, LOCK_UN);
    os_close(fd);
}

/* EXIT */
void tree_gather(void)
{
    char from[RECORDING_PATH_MAX], to[RECORDING_PATH_MAX];
    struct line line;
    first_recording(&line, from);
    for (unsigned n = 0; n < NAME_ATTEMPTS; n++) {
        line_init(&line, to, sizeof to);
        line_add(&line, tree.folder);
        line_add(&line, "/");
        line_add_number(&line, (uint64_t)tree.first_pid);
        line_add(&line, ".");
        line_add_number(&line, n);
        line_add(&line, CAPTURE_EXTENSION);
        if (exists(to))
            continue;
        os_call(SYS_renameat, AT_FDCWD, from, AT_FDCWD, to);
        return;
    }
}

/* EXIT */
void tree_drop(void)
{
    char path[RECORDING_PATH_MAX];
    struct line line;
    line_init(&line, path, sizeof path);
    line_add(&line, tree.folder);
    line_add(&line, "/" CAPTURE_BRIEF_NAME);
    os_unlink(path);
    os_call(SYS_unlinkat, AT_FDCWD, tree.folder, AT_REMOVEDIR);
}

/* EXIT */
void tree_add_output(struct line *line, unsigned attempt, const char *extension)
{
    line_add_bytes(line, tree.folder, name_bytes());
    if (attempt > 0) {
        line_add(line, ".");
        line_add_number(line, attempt);
    }
    line_add(line, extension);
}
