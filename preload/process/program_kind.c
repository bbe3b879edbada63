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
#define DYNAMIC_ENTRIES 64 /* most programs have 30 */
#define MAX_SCRIPTS 4      /* as the kernel: a script whose interpreter is a script ... */

#if defined(__x86_64__)
#define OUR_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define OUR_MACHINE EM_AARCH64
#else
#error "which ELF machine is this?"
#endif

struct program_file {
    int fd;
    bool has_more_rights; /* will run with more than we have */
    size_t n_bytes;       /* of the head that were read; 0 = no program, or it cannot be read */
    uint8_t head[HEAD_BYTES];
};

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

/* HOOK */
static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* HOOK */
static bool is_loader(const char *name)
{
    return strncmp(name, "ld-", 3) == 0 || strncmp(name, "ld.so", 5) == 0;
}

/* Of all libcs the loaders have names of their own: ld-musl-x86_64.so.1, ld64-uClibc.so.1,
 * linker64. HOOK */
static bool is_loader_of_glibc(const char *name)
{
    return strncmp(name, "ld-linux", 8) == 0 || strncmp(name, "ld-lsb", 6) == 0 ||
           strncmp(name, "ld.so", 5) == 0 || strncmp(name, "ld-2.", 5) == 0;
}

/* Of a program with the interpreter that this header names. HOOK */
static uint32_t kind_of_interpreter(const struct program_file *file, const Elf64_Phdr *header)
{
    char path[PATH_BYTES] = "";
    size_t length = header->p_filesz < sizeof path ? header->p_filesz : sizeof path - 1;
    if (header->p_offset < file->n_bytes && length <= file->n_bytes - header->p_offset)
        memcpy(path, file->head + header->p_offset, length);
    else if (os_call(SYS_pread64, file->fd, path, length, header->p_offset) <= 0)
        return 0;
    return is_loader_of_glibc(base_name(path)) ? 0 : CAPTURE_CHILD_LIBC;
}

/* Of a program without an interpreter. The dynamic loader has none either, but it does preload.
 * HOOK */
static uint32_t kind_without_interpreter(const char *path)
{
    const char *name = base_name(path);
    if (!is_loader(name))
        return CAPTURE_CHILD_STATIC;
    return is_loader_of_glibc(name) ? 0 : CAPTURE_CHILD_LIBC;
}

/* The program header number `i`; false when it is not in the part of the file that was read. HOOK */
static bool header_read(const struct program_file *file, const Elf64_Ehdr *elf, size_t i,
                        Elf64_Phdr *header)
{
    uint64_t at = elf->e_phoff + i * elf->e_phentsize;
    if (elf->e_phentsize < sizeof *header || at > file->n_bytes ||
        file->n_bytes - at < sizeof *header)
        return false;
    memcpy(header, file->head + at, sizeof *header);
    return true;
}

/* Where the bytes for `address` are in the file; 0 = nowhere. HOOK */
static uint64_t offset_of(const struct program_file *file, const Elf64_Ehdr *elf, uint64_t address)
{
    Elf64_Phdr header;
    for (size_t i = 0; i < elf->e_phnum && header_read(file, elf, i, &header); i++)
        if (header.p_type == PT_LOAD && address >= header.p_vaddr &&
            address - header.p_vaddr < header.p_filesz)
            return header.p_offset + (address - header.p_vaddr);
    return 0;
}

/* The first library that the program needs, if that is a sanitizer's runtime; else "". HOOK */
static void runtime_read(const struct program_file *file, const Elf64_Ehdr *elf,
                         const Elf64_Phdr *dynamic, char runtime[SANITIZER_NAME_BYTES])
{
    Elf64_Dyn entries[DYNAMIC_ENTRIES] = {{0}};
    uint64_t name = UINT64_MAX, names = 0;
    size_t n_bytes = dynamic->p_filesz < sizeof entries ? dynamic->p_filesz : sizeof entries;
    long n_read = os_call(SYS_pread64, file->fd, entries, n_bytes, dynamic->p_offset);
    size_t n = n_read > 0 ? (size_t)n_read / sizeof entries[0] : 0;
    for (size_t i = 0; i < n && entries[i].d_tag != DT_NULL; i++) {
        if (entries[i].d_tag == DT_NEEDED && name == UINT64_MAX)
            name = entries[i].d_un.d_val;
        else if (entries[i].d_tag == DT_STRTAB)
            names = offset_of(file, elf, entries[i].d_un.d_ptr);
    }
    char text[SANITIZER_NAME_BYTES] = "";
    if (name < UINT32_MAX && names != 0 &&
        os_call(SYS_pread64, file->fd, text, sizeof text - 1, names + name) > 0 &&
        sanitizer_is_runtime(text, strlen(text)))
        memcpy(runtime, text, sizeof text);
}

/* HOOK */
static void kind_of_elf(const struct program_file *file, const char *path,
                        struct program_kind *kind)
{
    Elf64_Ehdr elf;
    Elf64_Phdr header;
    bool has_interpreter = false;
    if (file->n_bytes < sizeof elf)
        return;
    memcpy(&elf, file->head, sizeof elf);
    if (elf.e_ident[EI_CLASS] != ELFCLASS64 || elf.e_ident[EI_DATA] != ELFDATA2LSB ||
        elf.e_machine != OUR_MACHINE) {
        kind->missed = CAPTURE_CHILD_ARCH;
        return;
    }
    for (size_t i = 0; i < elf.e_phnum; i++) {
        if (!header_read(file, &elf, i, &header))
            return; /* assumed to be one of ours */
        if (header.p_type == PT_INTERP) {
            has_interpreter = true;
            kind->missed = kind_of_interpreter(file, &header);
        } else if (header.p_type == PT_DYNAMIC && has_interpreter) {
            runtime_read(file, &elf, &header, kind->runtime);
        }
    }
    if (!has_interpreter && elf.e_phnum != 0)
        kind->missed = kind_without_interpreter(path);
}

/* False when there is no such file. HOOK */
static bool file_open(struct program_file *file, const char *path)
{
    struct stat status;
    if (os_stat(path, &status) != 0 || !S_ISREG(status.st_mode))
        return false;
    file->fd = os_open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0);
    if (file->fd < 0)
        return false;
    long n_bytes = os_call(SYS_pread64, file->fd, file->head, HEAD_BYTES, 0L);
    file->n_bytes = n_bytes > 4 ? (size_t)n_bytes : 0;
    file->has_more_rights = n_bytes > 4 && gets_more_rights(file->fd, &status);
    return true;
}

/* HOOK */
static bool begins_with(const struct program_file *file, const char *magic, size_t n_bytes)
{
    return file->n_bytes >= n_bytes && memcmp(file->head, magic, n_bytes) == 0;
}

/* The interpreter of a script, from after its "#!"; "" when it names none. HOOK */
static void interpreter_read(const struct program_file *file, char *out)
{
    size_t at = 2, length = 0;
    while (at < file->n_bytes && (file->head[at] == ' ' || file->head[at] == '\t'))
        at++;
    while (at + length < file->n_bytes && strchr(" \t\n", file->head[at + length]) == NULL &&
           length + 1 < PATH_BYTES)
        length++;
    memcpy(out, file->head + at, length);
    out[length] = '\0';
}

/* The kind of one file; *script is set to the interpreter of a script, else to "". HOOK */
static void kind_of_file(const char *path, char *script, struct program_kind *kind)
{
    struct program_file file = {.fd = -1};
    script[0] = '\0';
    if (!file_open(&file, path))
        return;
    if (begins_with(&file, "#!", 2))
        interpreter_read(&file, script);
    else if (begins_with(&file, ELFMAG, SELFMAG) && file.has_more_rights)
        kind->missed = CAPTURE_CHILD_SETUID;
    else if (begins_with(&file, ELFMAG, SELFMAG))
        kind_of_elf(&file, path, kind);
    os_close(file.fd);
}

/* HOOK */
struct program_kind program_kind(const char *path)
{
    int saved_errno = errno;
    char scripts[2][PATH_BYTES]; /* in turn: the path of one file, what it names */
    struct program_kind kind = {0};
    for (unsigned i = 0; i <= MAX_SCRIPTS; i++) {
        char *interpreter = scripts[i % 2];
        kind_of_file(path, interpreter, &kind);
        if (interpreter[0] == '\0')
            break;
        path = interpreter;
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
