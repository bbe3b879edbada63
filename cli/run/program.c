/* program.c - see program.h. */
#include "run/program.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

/* How many interpreters of interpreters are followed; the kernel follows 5. */
#define MAX_SCRIPT_DEPTH 5
#define SCRIPT_LINE_BYTES 256 /* BINPRM_BUF_SIZE of the kernel */
#define MAX_PROGRAM_HEADERS 256

/* ---- finding --------------------------------------------------------------------------------- */

static bool is_executable(const char *path, int *sys_errno)
{
    struct stat st;
    if (stat(path, &st) != 0) {
        *sys_errno = errno;
        return false;
    }
    *sys_errno = EACCES;
    return S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

static int fail_find(const char *command, int sys_errno, struct err *err)
{
    bool missing = sys_errno == ENOENT || sys_errno == ENOTDIR;
    err_fail(err, ERR_IO, ERR_NO_OFFSET, "%.150s: %s", command,
             missing               ? "no such command"
             : sys_errno == EACCES ? "is not executable"
                                   : strerror(sys_errno));
    return missing ? LAUNCH_NOT_FOUND : LAUNCH_NOT_EXECUTABLE;
}

int program_find(const char *command, char *path, size_t path_bytes, struct err *err)
{
    int sys_errno = ENOENT;
    if (strchr(command, '/') != NULL) {
        int n = snprintf(path, path_bytes, "%s", command);
        if (n < 0 || (size_t)n >= path_bytes)
            return fail_find(command, ENAMETOOLONG, err);
        return is_executable(path, &sys_errno) ? 0 : fail_find(command, sys_errno, err);
    }
    const char *folders = getenv("PATH");
    if (folders == NULL)
        folders = "/bin:/usr/bin"; /* what execvp takes then */
    int worst = ENOENT;
    for (const char *at = folders; command[0] != '\0';) {
        size_t length = strcspn(at, ":");
        int n = snprintf(path, path_bytes, "%.*s%s%s", (int)length, at, length > 0 ? "/" : "./",
                         command);
        if (n > 0 && (size_t)n < path_bytes) {
            if (is_executable(path, &sys_errno))
                return 0;
            if (sys_errno == EACCES)
                worst = EACCES;
        }
        if (at[length] == '\0')
            break;
        at += length + 1;
    }
    return fail_find(command, worst, err);
}

/* ---- can it be preloaded --------------------------------------------------------------------- */

static bool read_at(int fd, void *out, size_t size_bytes, uint64_t offset)
{
    return offset <= INT64_MAX && pread(fd, out, size_bytes, (off_t)offset) == (ssize_t)size_bytes;
}

static bool refuse(const char *path, const char *why, struct err *err)
{
    return err_fail(err, ERR_UNSUPPORTED, ERR_NO_OFFSET, "cannot profile %.150s: %s", path, why);
}

static bool check_rights(const char *path, const struct stat *st, struct err *err)
{
    if ((st->st_mode & S_ISUID) != 0 && st->st_uid != getuid())
        return refuse(path, "it is a setuid program, which takes no preloaded library", err);
    if ((st->st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) && st->st_gid != getgid())
        return refuse(path, "it is a setgid program, which takes no preloaded library", err);
    if (getuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0)
        return refuse(path, "it has file capabilities, so it takes no preloaded library", err);
    return true;
}

/* The machine we were built for, as our own file states it. */
static bool own_header(Elf64_Ehdr *out)
{
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    bool ok = fd >= 0 && read_at(fd, out, sizeof *out, 0);
    if (fd >= 0)
        close(fd);
    return ok;
}

/* A static position-independent program marks itself by DF_1_PIE; the dynamic linker, which has no
 * interpreter either and runs programs by itself, does not. */
static bool is_static_pie(int fd, const Elf64_Phdr *dynamic)
{
    Elf64_Dyn entry;
    for (uint64_t i = 0; i < dynamic->p_filesz / sizeof entry; i++) {
        if (!read_at(fd, &entry, sizeof entry, dynamic->p_offset + i * sizeof entry) ||
            entry.d_tag == DT_NULL)
            return false;
        if (entry.d_tag == DT_FLAGS_1)
            return (entry.d_un.d_val & DF_1_PIE) != 0;
    }
    return false;
}

/* Where the bytes for `address` are in the file; 0 = nowhere. */
static uint64_t offset_of(uint64_t address, const Elf64_Phdr *headers, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (headers[i].p_type == PT_LOAD && address >= headers[i].p_vaddr &&
            address - headers[i].p_vaddr < headers[i].p_filesz)
            return headers[i].p_offset + (address - headers[i].p_vaddr);
    return 0;
}

/* The first library the program needs, if that is a sanitizer's runtime; else "". */
static void find_runtime(int fd, const Elf64_Phdr *dynamic, const Elf64_Phdr *headers, size_t n,
                         char runtime[SANITIZER_NAME_BYTES])
{
    Elf64_Dyn entry;
    uint64_t name = UINT64_MAX, names = 0;
    runtime[0] = '\0';
    for (uint64_t i = 0; i < dynamic->p_filesz / sizeof entry; i++) {
        if (!read_at(fd, &entry, sizeof entry, dynamic->p_offset + i * sizeof entry) ||
            entry.d_tag == DT_NULL)
            break;
        if (entry.d_tag == DT_NEEDED && name == UINT64_MAX)
            name = entry.d_un.d_val;
        else if (entry.d_tag == DT_STRTAB)
            names = offset_of(entry.d_un.d_ptr, headers, n);
    }
    char text[SANITIZER_NAME_BYTES] = "";
    if (name < UINT32_MAX && names != 0 && read_at(fd, text, sizeof text - 1, names + name) &&
        sanitizer_is_runtime(text, strlen(text)))
        memcpy(runtime, text, sizeof text);
}

static bool check_interpreter(int fd, const char *path, const Elf64_Phdr *header, struct err *err)
{
    char name[PATH_MAX] = "";
    size_t length = header->p_filesz < sizeof name ? header->p_filesz : sizeof name - 1;
    if (read_at(fd, name, length, header->p_offset) && strstr(name, "/ld-musl-") != NULL)
        return refuse(path, "it uses musl, the library needs glibc", err);
    return true;
}

static bool check_elf(int fd, const char *path, const Elf64_Ehdr *header,
                      char runtime[SANITIZER_NAME_BYTES], struct err *err)
{
    Elf64_Ehdr own;
    Elf64_Phdr headers[MAX_PROGRAM_HEADERS];
    const Elf64_Phdr *interpreter = NULL, *dynamic = NULL;
    if (!own_header(&own))
        return true;
    if (header->e_ident[EI_CLASS] != own.e_ident[EI_CLASS])
        return refuse(path, "it is a 32-bit program, the library is 64-bit", err);
    if (header->e_machine != own.e_machine || header->e_ident[EI_DATA] != own.e_ident[EI_DATA])
        return refuse(path, "it is a program for another kind of processor", err);
    if (header->e_phentsize != sizeof(Elf64_Phdr) || header->e_phnum > MAX_PROGRAM_HEADERS)
        return true; /* odd: the kernel will say */
    if (!read_at(fd, headers, header->e_phnum * sizeof headers[0], header->e_phoff))
        return true;
    for (unsigned i = 0; i < header->e_phnum; i++) {
        if (headers[i].p_type == PT_INTERP)
            interpreter = &headers[i];
        if (headers[i].p_type == PT_DYNAMIC)
            dynamic = &headers[i];
    }
    if (interpreter != NULL && dynamic != NULL)
        find_runtime(fd, dynamic, headers, header->e_phnum, runtime);
    if (interpreter != NULL)
        return check_interpreter(fd, path, interpreter, err);
    if (header->e_type == ET_EXEC || (dynamic != NULL && is_static_pie(fd, dynamic)))
        return refuse(path, "it is statically linked, so no library can be preloaded", err);
    return true;
}

/* The first word after "#!"; empty when the line has none. */
static void script_interpreter(const char *line, char *out, size_t out_bytes)
{
    const char *start = line + 2 + strspn(line + 2, " \t");
    snprintf(out, out_bytes, "%.*s", (int)strcspn(start, " \t\r\n"), start);
}

/* Looks at one file. Sets `next` to the interpreter of a script, else to "". */
static bool check_file(const char *path, char *next, size_t next_bytes,
                       char runtime[SANITIZER_NAME_BYTES], struct err *err)
{
    next[0] = '\0';
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return true;
    struct stat st;
    char head[SCRIPT_LINE_BYTES + 1] = "";
    bool ok = true;
    ssize_t n = pread(fd, head, SCRIPT_LINE_BYTES, 0);
    if (n >= 2 && memcmp(head, "#!", 2) == 0) {
        script_interpreter(head, next, next_bytes);
    } else if (n >= (ssize_t)sizeof(Elf64_Ehdr) && memcmp(head, ELFMAG, SELFMAG) == 0) {
        Elf64_Ehdr header;
        memcpy(&header, head, sizeof header);
        ok = (fstat(fd, &st) != 0 || check_rights(path, &st, err)) &&
             check_elf(fd, path, &header, runtime, err);
    }
    close(fd);
    return ok;
}

bool program_check_preload(const char *path, char runtime[SANITIZER_NAME_BYTES], struct err *err)
{
    char at[PATH_MAX];
    char next[PATH_MAX];
    runtime[0] = '\0';
    snprintf(at, sizeof at, "%s", path);
    for (unsigned depth = 0; depth < MAX_SCRIPT_DEPTH; depth++) {
        if (!check_file(at, next, sizeof next, runtime, err))
            return false;
        if (next[0] == '\0')
            return true;
        memcpy(at, next, sizeof at);
    }
    return true;
}
