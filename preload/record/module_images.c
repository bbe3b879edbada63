/* module_images.c - see module_images.h.
 *
 * A module may be unloaded by another thread while it is copied: every read is one that cannot
 * fault (memory_copy), and a copy that breaks off leaves holes, which read as zeros. */
#include "record/module_images.h"

#include <elf.h>
#include <stddef.h>
#include <string.h>

#include "capture.h"
#include "sys/layout.h"
#include "sys/line.h"
#include "sys/os.h"
#include "unwind/memory.h"

#define IMAGE_MAX_BYTES (UINT64_C(16) << 20)
#define ALL_MAX_BYTES (UINT64_C(64) << 20)
#define DYNAMIC_MAX 128u /* entries that are looked through */
#define PATH_BYTES 64u
#define N_PARTS 2u
/* Four bytes, relative to where they are: DW_EH_PE_pcrel | DW_EH_PE_sdata4. */
#define EH_POINTER 0x1bu

/* Where bytes come from: memory, or a file. */
struct source {
    int fd; /* -1: memory */
    uint64_t start;
};

/* Half-open; equal: there is none. */
struct part {
    uint64_t start, end;
};

/* An ELF file made of what is mapped. */
struct outline {
    const struct module *module;
    struct part symbols; /* .dynsym to the end of .dynstr   */
    struct part frames;  /* .eh_frame_hdr and .eh_frame     */
    uint64_t symtab, strtab, n_strtab_bytes;
    struct outline_head {
        Elf64_Ehdr header;
        Elf64_Phdr segments[SEGMENTS_MAX + N_PARTS + 2];
        Elf64_Dyn dynamic[4];
    } head;
};

/* Of the one caller that comes first. */
static bool is_begun; /* atomic */
static LAYOUT_LARGE uint8_t piece[STREAM_IMAGE_PIECE_BYTES];
static LAYOUT_LARGE struct outline outline;

/* ---- bytes ----------------------------------------------------------------------------------- */

/* EXIT */
SIGNAL_SAFE static bool piece_read(const struct source *source, uint64_t offset, size_t n_bytes)
{
    if (source->fd >= 0)
        return os_call(SYS_pread64, source->fd, piece, n_bytes, offset) == (long)n_bytes;
    return memory_copy(piece, source->start + offset, n_bytes);
}

/* EXIT */
SIGNAL_SAFE static bool put_bytes(struct stream *stream, uint32_t id, uint64_t offset,
                                  const struct source *source, uint64_t n_bytes)
{
    for (uint64_t at = 0; at < n_bytes; at += sizeof piece) {
        size_t n = n_bytes - at < sizeof piece ? (size_t)(n_bytes - at) : sizeof piece;
        if (!piece_read(source, at, n) || !stream_put_image(stream, id, offset + at, piece, n))
            return false;
    }
    return true;
}

/* EXIT */
SIGNAL_SAFE static bool starts(const char *path, const char *folder)
{
    while (*folder != '\0' && *path == *folder) {
        path++;
        folder++;
    }
    return *folder == '\0';
}

/* ---- the whole file -------------------------------------------------------------------------- */

/* EXIT */
SIGNAL_SAFE static void add_hex(struct line *line, uint64_t value)
{
    char digits[17];
    size_t at = sizeof digits - 1;
    digits[at] = '\0';
    do {
        digits[--at] = "0123456789abcdef"[value & 15];
        value >>= 4;
    } while (value != 0);
    line_add(line, digits + at);
}

/* The link to the file that is mapped, whatever its path leads to now. EXIT */
SIGNAL_SAFE static void mapped_path(const struct module *module, char path[PATH_BYTES])
{
    struct line line;
    const struct segment *first = &module->segments.segment[0];
    const uint64_t last = MEMORY_PAGE_BYTES - 1;
    line_init(&line, path, PATH_BYTES);
    line_add(&line, "/proc/self/map_files/");
    add_hex(&line, first->start & ~last);
    line_add(&line, "-");
    add_hex(&line, (first->end + last) & ~last);
}

/* Which takes rights; -1 without them. EXIT */
SIGNAL_SAFE static int open_mapped(const struct module *module)
{
    char path[PATH_BYTES];
    mapped_path(module, path);
    return os_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
}

/* Whether its name is gone, or was given to another file. To ask takes no rights. EXIT */
SIGNAL_SAFE static bool is_deleted(const struct module *module)
{
    static const char end[] = " (deleted)";
    static LAYOUT_LARGE char link[RECORDING_PATH_MAX];
    char path[PATH_BYTES];
    mapped_path(module, path);
    long n = os_call(SYS_readlinkat, AT_FDCWD, path, link, sizeof link);
    return n >= (long)sizeof end && memcmp(link + n - (sizeof end - 1), end, sizeof end - 1) == 0;
}

/* EXIT */
SIGNAL_SAFE static bool is_as_recorded(const struct module *module, const struct stat *file)
{
    uint64_t ino = __atomic_load_n(&module->file_ino, __ATOMIC_RELAXED);
    return ino != 0 && file->st_ino == ino &&
           file->st_dev == __atomic_load_n(&module->file_dev, __ATOMIC_RELAXED);
}

/* "/proc/self/fd/5", as files without a name are loaded; -1 if it is another one now. EXIT */
SIGNAL_SAFE static int open_descriptor(const struct module *module)
{
    struct stat file;
    if (!starts(module->path, "/proc/"))
        return -1;
    int fd = os_open(module->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
    if (fd >= 0 && (os_fstat(fd, &file) != 0 || !is_as_recorded(module, &file))) {
        os_close(fd);
        fd = -1;
    }
    return fd;
}

/* Returns its bytes; 0: it cannot be had, or is too large. EXIT */
SIGNAL_SAFE static uint64_t put_file(struct stream *stream, const struct module *module)
{
    struct stat file = {.st_size = 0};
    int fd = open_descriptor(module);
    if (fd < 0)
        fd = open_mapped(module);
    if (fd < 0)
        return 0;
    const struct source source = {.fd = fd};
    bool is_put = os_fstat(fd, &file) == 0 && S_ISREG(file.st_mode) && file.st_size > 0 &&
                  (uint64_t)file.st_size <= IMAGE_MAX_BYTES &&
                  put_bytes(stream, module->id, 0, &source, (uint64_t)file.st_size);
    os_close(fd);
    return is_put ? (uint64_t)file.st_size : 0;
}

/* ---- an ELF file of what is mapped ----------------------------------------------------------- */

/* EXIT */
SIGNAL_SAFE static bool is_readable(const struct module *module, struct part part)
{
    return part.start < part.end && part.end - part.start <= IMAGE_MAX_BYTES / N_PARTS &&
           segments_left(&module->segments, part.start, SEGMENT_READ) >= part.end - part.start;
}

/* ld.so has made addresses of them, but not everywhere. EXIT */
SIGNAL_SAFE static uint64_t address_of(const struct module *module, uint64_t value)
{
    return value >= module->start && value < module->end ? value : module->bias + value;
}

/* EXIT */
SIGNAL_SAFE static void find_symbols(void)
{
    const struct module *module = outline.module;
    uint64_t dynamic = modules_dynamic(module);
    outline.symtab = outline.strtab = outline.n_strtab_bytes = 0;
    outline.symbols = (struct part){0, 0};
    for (unsigned i = 0; dynamic != 0 && i < DYNAMIC_MAX; i++) {
        Elf64_Dyn entry;
        if (!memory_copy(&entry, dynamic + i * sizeof entry, sizeof entry) ||
            entry.d_tag == DT_NULL)
            break;
        if (entry.d_tag == DT_SYMTAB)
            outline.symtab = address_of(module, entry.d_un.d_ptr);
        else if (entry.d_tag == DT_STRTAB)
            outline.strtab = address_of(module, entry.d_un.d_ptr);
        else if (entry.d_tag == DT_STRSZ)
            outline.n_strtab_bytes = entry.d_un.d_val;
    }
    const struct part symbols = {outline.symtab, outline.strtab + outline.n_strtab_bytes};
    if (outline.symtab != 0 && outline.symtab < outline.strtab &&
        outline.n_strtab_bytes < IMAGE_MAX_BYTES && is_readable(module, symbols))
        outline.symbols = symbols;
}

/* From the earlier one of the two to the end of their segment. EXIT */
SIGNAL_SAFE static void find_frames(void)
{
    const struct module *module = outline.module;
    uint64_t hdr = module->eh_frame_hdr;
    struct {
        uint8_t version, encodings[3];
        int32_t frames; /* from here */
    } start;
    outline.frames = (struct part){0, 0};
    if (hdr == 0 || !memory_copy(&start, hdr, sizeof start) || start.version != 1 ||
        start.encodings[0] != EH_POINTER)
        return;
    uint64_t frames = hdr + 4 + (uint64_t)(int64_t)start.frames, from = frames < hdr ? frames : hdr;
    const struct part part = {from, from + segments_left(&module->segments, from, SEGMENT_READ)};
    if (is_readable(module, part) && frames < part.end && hdr < part.end)
        outline.frames = part;
}

/* EXIT */
SIGNAL_SAFE static void add_segment(uint32_t type, uint32_t flags, struct part part,
                                    uint64_t offset)
{
    uint64_t n_bytes = part.end - part.start;
    outline.head.segments[outline.head.header.e_phnum++] =
        (Elf64_Phdr){.p_type = type,
                     .p_flags = flags,
                     .p_offset = offset,
                     .p_vaddr = part.start - outline.module->bias,
                     .p_paddr = part.start - outline.module->bias,
                     .p_filesz = (flags & PF_X) != 0 ? 0 : n_bytes,
                     .p_memsz = n_bytes,
                     .p_align = 1};
}

/* Code has its place, but no bytes. Returns the bytes of all. EXIT */
SIGNAL_SAFE static uint64_t make_head(void)
{
    const struct module *module = outline.module;
    uint64_t n_symbols = outline.symbols.end - outline.symbols.start;
    uint64_t symbols_at = sizeof outline.head, frames_at = symbols_at + n_symbols;
    for (uint64_t i = 0; i < module->segments.n; i++) {
        const struct segment *segment = &module->segments.segment[i];
        if ((segment->flags & SEGMENT_EXECUTE) != 0)
            add_segment(PT_LOAD, PF_R | PF_X, (struct part){segment->start, segment->end}, 0);
    }
    if (n_symbols > 0) {
        const Elf64_Dyn entries[] = {{DT_SYMTAB, {.d_ptr = outline.symtab - module->bias}},
                                     {DT_STRTAB, {.d_ptr = outline.strtab - module->bias}},
                                     {DT_STRSZ, {.d_val = outline.n_strtab_bytes}},
                                     {DT_NULL, {.d_val = 0}}};
        memcpy(outline.head.dynamic, entries, sizeof entries);
        add_segment(PT_LOAD, PF_R, outline.symbols, symbols_at);
        add_segment(PT_DYNAMIC, PF_R, (struct part){module->bias, module->bias + sizeof entries},
                    offsetof(struct outline_head, dynamic));
    }
    if (outline.frames.end > outline.frames.start) {
        const struct part hdr = {module->eh_frame_hdr, outline.frames.end};
        add_segment(PT_LOAD, PF_R, outline.frames, frames_at);
        add_segment(PT_GNU_EH_FRAME, PF_R, hdr, frames_at + (hdr.start - outline.frames.start));
    }
    return frames_at + (outline.frames.end - outline.frames.start);
}

/* Returns its bytes; 0 if there is nothing to be had. EXIT */
SIGNAL_SAFE static uint64_t put_outline(struct stream *stream, const struct module *module)
{
    Elf64_Ehdr *header = &outline.head.header;
    memset(&outline, 0, sizeof outline);
    outline.module = module;
    if (modules_dynamic(module) == 0 || /* it is not loaded any more */
        !memory_copy(header, module->start, sizeof *header) ||
        memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
        return 0;
    find_symbols();
    find_frames();
    if (outline.symbols.start == outline.symbols.end && outline.frames.start == outline.frames.end)
        return 0;
    header->e_phoff = offsetof(struct outline_head, segments);
    header->e_phentsize = sizeof(Elf64_Phdr);
    header->e_phnum = 0;
    header->e_shoff = header->e_shnum = header->e_shstrndx = 0;
    uint64_t n_bytes = make_head();
    const struct source head = {.fd = -1, .start = (uint64_t)&outline.head};
    const struct source symbols = {.fd = -1, .start = outline.symbols.start};
    const struct source frames = {.fd = -1, .start = outline.frames.start};
    uint64_t n_symbols = outline.symbols.end - outline.symbols.start;
    (void)(put_bytes(stream, module->id, 0, &head, sizeof outline.head) &&
           put_bytes(stream, module->id, sizeof outline.head, &symbols, n_symbols) &&
           put_bytes(stream, module->id, sizeof outline.head + n_symbols, &frames,
                     outline.frames.end - outline.frames.start));
    return n_bytes;
}

/* ---- which ----------------------------------------------------------------------------------- */

/* EXIT */
SIGNAL_SAFE static bool is_temporary(const char *path)
{
    static const char *const folders[] = {"/tmp/", "/var/tmp/", "/dev/shm/"};
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++)
        if (starts(path, folders[i]))
            return true;
    return false;
}

/* Whether the file that is mapped is where it was. EXIT */
SIGNAL_SAFE static bool is_there(const struct module *module)
{
    struct stat file;
    return !starts(module->path, "/proc/") && os_stat(module->path, &file) == 0 &&
           is_as_recorded(module, &file) && !is_deleted(module);
}

/* Whether paths still lead where they led: a program that has given up its root finds none of its
 * files, which others do. EXIT */
SIGNAL_SAFE static bool has_same_root(const struct recording *recording)
{
    struct stat file;
    return os_stat(recording->path, &file) == 0 && file.st_dev == recording->dev &&
           file.st_ino == recording->ino;
}

/* EXIT */
void module_images_put(struct stream *stream)
{
    uint64_t n_bytes = 0;
    if (stream->chunk == NULL || modules_count() == 0 ||
        __atomic_exchange_n(&is_begun, true, __ATOMIC_ACQ_REL) || !has_same_root(stream->recording))
        return;
    for (uint32_t id = 1; id <= modules_count() && n_bytes < ALL_MAX_BYTES; id++) {
        const struct module *module = modules_get(id);
        if (__atomic_load_n(&module->recorded_in, __ATOMIC_ACQUIRE) != stream->recording->number ||
            (module->flags & CAPTURE_MODULE_VDSO) != 0)
            continue;
        bool is_gone = !is_there(module);
        uint64_t n_put = is_gone ? put_file(stream, module) : 0;
        if (n_put == 0 && (is_gone || is_temporary(module->path)))
            n_put = put_outline(stream, module);
        n_bytes += n_put;
    }
}
