/* mini_debug.c - see mini_debug.h. The section may claim anything: what comes out is bounded by what such
 * a section can be worth, and so is what liblzma needs for it. */
#include "files/mini_debug.h"

#include <lzma.h>
#include <stdlib.h>

#include "number.h"

/* xz makes a quarter of symbol tables; of nothing but zeros less than a thousandth. */
#define MAX_RATIO 64u
#define MAX_UNPACKED_BYTES ((size_t)256 << 20)
#define MAX_DECODER_BYTES ((uint64_t)128 << 20) /* xz -9 needs 65 MB */
#define FIRST_BYTES ((size_t)64 << 10)

struct bytes {
    uint8_t *data;
    size_t n;
    size_t room;
};

static bool bytes_grow(struct bytes *bytes, size_t most)
{
    size_t room = (size_t)min_u64(bytes->room == 0 ? FIRST_BYTES : 2 * bytes->room, most);
    uint8_t *data = room > bytes->room ? realloc(bytes->data, room) : NULL;
    if (data == NULL)
        return false;
    bytes->data = data;
    bytes->room = room;
    return true;
}

/* All that comes out of the stream; false if it does not end well. */
static bool unpack(lzma_stream *stream, struct bytes *out, size_t most)
{
    lzma_ret status = LZMA_OK;
    while (status == LZMA_OK) {
        if (out->n == out->room && !bytes_grow(out, most))
            return false;
        stream->next_out = out->data + out->n;
        stream->avail_out = out->room - out->n;
        status = lzma_code(stream, LZMA_FINISH);
        out->n = out->room - stream->avail_out;
    }
    return status == LZMA_STREAM_END;
}

static bool section_unpack(const Elf_Data *section, struct bytes *out)
{
    lzma_stream stream = LZMA_STREAM_INIT;
    if (lzma_stream_decoder(&stream, MAX_DECODER_BYTES, 0) != LZMA_OK)
        return false;
    stream.next_in = section->d_buf;
    stream.avail_in = section->d_size;
    uint64_t worth = section->d_size > MAX_UNPACKED_BYTES / MAX_RATIO
                         ? MAX_UNPACKED_BYTES
                         : (uint64_t)section->d_size * MAX_RATIO + FIRST_BYTES;
    bool ok = unpack(&stream, out, (size_t)min_u64(worth, MAX_UNPACKED_BYTES));
    lzma_end(&stream);
    return ok;
}

struct elf_file *mini_debug_open(const struct elf_file *file)
{
    GElf_Shdr header;
    struct err err = ERR_INIT;
    struct bytes unpacked = {0};
    struct elf_file *mini = NULL;
    Elf_Scn *section = elf_file_section(file, ".gnu_debugdata", &header);
    const Elf_Data *data =
        section == NULL || header.sh_type == SHT_NOBITS ? NULL : elf_rawdata(section, NULL);
    if (data == NULL || data->d_buf == NULL)
        return NULL;
    if (section_unpack(data, &unpacked) &&
        elf_file_open_owned(unpacked.data, unpacked.n, &mini, &err))
        return mini;
    free(unpacked.data);
    return NULL;
}

bool is_mini_debug(const struct elf_file *debug)
{
    return debug->owned_image != NULL;
}
