/* elf_file.c - see elf_file.h. */
#include "files/elf_file.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Takes the descriptor and the Elf in every case. */
static bool elf_file_wrap(Elf *elf, int fd, const struct stat *status, struct elf_file **out,
                          struct err *err)
{
    struct elf_file *file = calloc(1, sizeof *file);
    if (file == NULL) {
        elf_end(elf);
        if (fd >= 0)
            close(fd);
        return err_fail_memory(err);
    }
    *file = (struct elf_file){.elf = elf, .fd = fd};
    if (status != NULL)
        file->status = *status;
    GElf_Ehdr header;
    bool readable = elf_kind(elf) == ELF_K_ELF && gelf_getehdr(elf, &header) != NULL &&
                    header.e_ident[EI_CLASS] == ELFCLASS64 &&
                    header.e_ident[EI_DATA] == ELFDATA2LSB;
    if (!readable) {
        elf_file_close(file);
        return err_fail(err, ERR_FORMAT, 0, "not a 64-bit little-endian ELF file");
    }
    if (elf_getshdrstrndx(elf, &file->names_index) != 0)
        file->names_index = 0;
    *out = file;
    return true;
}

bool elf_file_open(const char *path, struct elf_file **out, struct err *err)
{
    elf_version(EV_CURRENT);
    /* O_NONBLOCK: a FIFO or a device under a recorded name must not hold us up. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) {
        err_fail_errno(err, errno, "cannot open");
        return err_name_file(err, path);
    }
    struct stat status;
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
        close(fd);
        err_fail(err, ERR_FORMAT, ERR_NO_OFFSET, "not a regular file");
        return err_name_file(err, path);
    }
    Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    if (elf == NULL) {
        close(fd);
        err_fail(err, ERR_FORMAT, ERR_NO_OFFSET, "%s", elf_errmsg(-1));
        return err_name_file(err, path);
    }
    return elf_file_wrap(elf, fd, &status, out, err) || err_name_file(err, path);
}

bool elf_file_open_image(const void *image, size_t size_bytes, struct elf_file **out,
                         struct err *err)
{
    elf_version(EV_CURRENT);
    /* libelf takes a char * and writes only when asked to, which we never do. */
    /* NOLINTNEXTLINE(performance-no-int-to-ptr): the way to drop a const that -Wcast-qual allows */
    Elf *elf = elf_memory((char *)(uintptr_t)image, size_bytes);
    if (elf == NULL)
        return err_fail(err, ERR_FORMAT, ERR_NO_OFFSET, "%s", elf_errmsg(-1));
    return elf_file_wrap(elf, -1, NULL, out, err);
}

bool elf_file_open_owned(void *image, size_t size_bytes, struct elf_file **out, struct err *err)
{
    if (!elf_file_open_image(image, size_bytes, out, err))
        return false;
    (*out)->owned_image = image;
    return true;
}

void elf_file_close(struct elf_file *file)
{
    if (file == NULL)
        return;
    elf_end(file->elf);
    if (file->fd >= 0)
        close(file->fd);
    free(file->owned_image);
    free(file);
}

bool elf_file_changed(const struct elf_file *file)
{
    struct stat now;
    if (file->fd < 0 || fstat(file->fd, &now) != 0)
        return false;
    const struct stat *then = &file->status;
    return now.st_size != then->st_size || now.st_mtim.tv_sec != then->st_mtim.tv_sec ||
           now.st_mtim.tv_nsec != then->st_mtim.tv_nsec;
}

struct text elf_file_build_id(const struct elf_file *file)
{
    const void *bytes = NULL;
    ssize_t length = dwelf_elf_gnu_build_id(file->elf, &bytes);
    return length > 0 ? (struct text){bytes, (size_t)length} : (struct text){"", 0};
}

const char *elf_file_section_name(const struct elf_file *file, const GElf_Shdr *header)
{
    const char *name = elf_strptr(file->elf, file->names_index, header->sh_name);
    return name == NULL ? "" : name;
}

Elf_Scn *elf_file_section(const struct elf_file *file, const char *name, GElf_Shdr *header)
{
    for (Elf_Scn *section = elf_nextscn(file->elf, NULL); section != NULL;
         section = elf_nextscn(file->elf, section)) {
        if (gelf_getshdr(section, header) != NULL &&
            strcmp(elf_file_section_name(file, header), name) == 0)
            return section;
    }
    return NULL;
}

/* Debug files keep the headers of sections they left out, as SHT_NOBITS. */
static bool has_section(const struct elf_file *file, const char *name)
{
    GElf_Shdr header;
    return elf_file_section(file, name, &header) != NULL && header.sh_type != SHT_NOBITS;
}

bool elf_file_has_dwarf(const struct elf_file *file)
{
    return has_section(file, ".debug_info") || has_section(file, ".zdebug_info");
}

bool elf_file_has_symtab(const struct elf_file *file)
{
    return has_section(file, ".symtab");
}
