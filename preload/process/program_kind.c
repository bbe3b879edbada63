/* program_kind.c - see program_kind.h. */
#include "process/program_kind.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>

#include "sys/line.h"
#include "sys/os.h"

#define HEAD_BYTES 1024 /* of the file: the program headers lie right after the ELF header */
#define PATH_BYTES 1024
#define MAX_SCRIPTS 4 /* as the kernel: a script whose interpreter is a script ... */

#if defined(__x86_64__)
#define OUR_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define OUR_MACHINE EM_AARCH64
#else
#error "which ELF machine is this?"
#endif

/* Whether the kernel gives rights at all: not to files of a nosuid mount, nor to a process that has
 * renounced new ones. HOOK */
static bool rights_can_be_had(int fd)
{
    struct statvfs volume;
    return os_prctl(PR_GET_NO_NEW_PRIVS, 0) != 1 &&
           (fstatvfs(fd, &volume) != 0 || (volume.f_flag & ST_NOSUID) == 0);
}

/* Whether the program will run with more rights than we have, so that the loader ignores
 * LD_PRELOAD. HOOK */
static bool gets_more_rights(int fd, const struct stat *file)
{
    char capability[64];
    bool by_user = (file->st_mode & S_ISUID) != 0 && file->st_uid != getuid();
    bool by_group =
        (file->st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) && file->st_gid != getgid();
    bool by_capability = !by_user && !by_group && getuid() != 0 &&
                         fgetxattr(fd, "security.capability", capability, sizeof capability) > 0;
    return (by_user || by_group || by_capability) && rights_can_be_had(fd);
}

/* The dynamic loader has no interpreter either, but it does preload. HOOK */
static bool is_loader(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    return strncmp(name, "ld-", 3) == 0 || strncmp(name, "ld.so", 5) == 0;
}

/* HOOK */
static bool has_interpreter(const uint8_t *head, size_t n_bytes)
{
    Elf64_Ehdr elf;
    memcpy(&elf, head, sizeof elf);
    for (size_t i = 0; i < elf.e_phnum; i++) {
        Elf64_Phdr segment;
        uint64_t at = elf.e_phoff + i * elf.e_phentsize;
        if (elf.e_phentsize < sizeof segment || at > n_bytes || n_bytes - at < sizeof segment)
            return true; /* not in the part that was read: assumed to have one */
        memcpy(&segment, head + at, sizeof segment);
        if (segment.p_type == PT_INTERP)
            return true;
    }
    return false;
}

/* HOOK */
static uint32_t kind_of_elf(const char *path, const uint8_t *head, size_t n_bytes)
{
    Elf64_Ehdr elf;
    if (n_bytes < sizeof elf)
        return 0;
    memcpy(&elf, head, sizeof elf);
    if (elf.e_ident[EI_CLASS] != ELFCLASS64 || elf.e_ident[EI_DATA] != ELFDATA2LSB ||
        elf.e_machine != OUR_MACHINE)
        return CAPTURE_CHILD_ARCH;
    if (elf.e_phnum > 0 && !has_interpreter(head, n_bytes) && !is_loader(path))
        return CAPTURE_CHILD_STATIC;
    return 0;
}

/* The first bytes of a program's file; 0 bytes when it is none or cannot be read. *more_rights is
 * set with them. HOOK */
static size_t head_read(const char *path, uint8_t *head, bool *more_rights)
{
    struct stat file;
    *more_rights = false;
    if (os_stat(path, &file) != 0 || !S_ISREG(file.st_mode))
        return 0;
    int fd = os_open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0);
    if (fd < 0)
        return 0;
    long n_bytes = os_call(SYS_pread64, fd, head, HEAD_BYTES, 0L);
    *more_rights = n_bytes > 4 && gets_more_rights(fd, &file);
    os_close(fd);
    return n_bytes > 4 ? (size_t)n_bytes : 0;
}

/* The interpreter of a script, from after its "#!". HOOK */
static bool interpreter_read(const uint8_t *head, size_t n_bytes, char *out)
{
    size_t at = 2, length = 0;
    while (at < n_bytes && (head[at] == ' ' || head[at] == '\t'))
        at++;
    while (at + length < n_bytes && strchr(" \t\n", head[at + length]) == NULL &&
           length + 1 < PATH_BYTES)
        length++;
    memcpy(out, head + at, length);
    out[length] = '\0';
    return length > 0;
}

/* HOOK */
uint32_t program_kind(const char *path)
{
    int saved_errno = errno;
    uint8_t head[HEAD_BYTES] = {0};
    char interpreter[PATH_BYTES];
    uint32_t kind = 0;
    for (int i = 0; i <= MAX_SCRIPTS; i++) {
        bool more_rights;
        size_t n_bytes = head_read(path, head, &more_rights);
        if (n_bytes >= 2 && memcmp(head, "#!", 2) == 0) {
            if (!interpreter_read(head, n_bytes, interpreter))
                break;
            path = interpreter;
            continue;
        }
        if (n_bytes >= SELFMAG && memcmp(head, ELFMAG, SELFMAG) == 0)
            kind = more_rights ? CAPTURE_CHILD_SETUID : kind_of_elf(path, head, n_bytes);
        break;
    }
    errno = saved_errno;
    return kind;
}

/* HOOK */
uint32_t program_kind_of_environment(char *const environment[], const char *library)
{
    const char *slash = strrchr(library, '/');
    const char *name = slash != NULL ? slash + 1 : library;
    for (size_t i = 0; environment != NULL && environment[i] != NULL; i++)
        if (strncmp(environment[i], "LD_PRELOAD=", 11) == 0)
            return strstr(environment[i], name) != NULL ? 0 : CAPTURE_CHILD_ENV;
    return CAPTURE_CHILD_ENV;
}

/* HOOK */
const char *program_find_in_path(const char *file, char *out, size_t out_bytes)
{
    int saved_errno = errno;
    const char *found = NULL, *path = getenv("PATH");
    if (strchr(file, '/') != NULL)
        return file;
    for (const char *at = path != NULL ? path : "/bin:/usr/bin"; found == NULL;) {
        struct line line;
        struct stat status;
        size_t length = strcspn(at, ":");
        line_init(&line, out, out_bytes);
        line_add_bytes(&line, at, length);
        line_add(&line, length > 0 ? "/" : "");
        line_add(&line, file);
        if (!line.cut && os_stat(out, &status) == 0 && S_ISREG(status.st_mode) &&
            access(out, X_OK) == 0)
            found = out;
        if (at[length] == '\0')
            break;
        at += length + 1;
    }
    errno = saved_errno;
    return found;
}
