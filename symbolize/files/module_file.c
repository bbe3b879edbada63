/* module_file.c - see module_file.h. */
#include "files/module_file.h"

#include <string.h>

#include "capture.h"

static bool is_the_one(const struct recording_module *module, const struct elf_file *file)
{
    struct text build_id = elf_file_build_id(file);
    if (module->build_id.length != 0)
        return text_equal(module->build_id, build_id);
    bool known = module->ino != 0 || module->size_bytes != 0 || module->mtime_s != 0;
    return !known || (module->dev == (uint64_t)file->status.st_dev &&
                      module->ino == (uint64_t)file->status.st_ino &&
                      module->size_bytes == (uint64_t)file->status.st_size &&
                      module->mtime_s == (uint64_t)file->status.st_mtim.tv_sec);
}

static bool image_open(const struct recording_module *module, struct elf_file **out,
                       struct err *err)
{
    struct err why = ERR_INIT;
    char text[200];
    return elf_file_open_image(module->image.bytes, module->image.length, out, &why) ||
           err_fail(err, why.code, ERR_NO_OFFSET, "its image in the recording: %s",
                    err_describe(&why, text, sizeof text));
}

/* A descriptor of the program that ran is another file here, or none. */
static bool is_descriptor(struct text path)
{
    return text_starts(path, "/proc/") && memmem(path.bytes, path.length, "/fd/", 4) != NULL;
}

static bool path_open(const struct recording_module *module, struct elf_file **out, struct err *err)
{
    struct elf_file *file;
    if (is_descriptor(module->path)) {
        err_fail(err, ERR_UNSUPPORTED, ERR_NO_OFFSET,
                 "a file without a name, gone with the program");
        return err_name_file(err, module->path.bytes);
    }
    if (!elf_file_open(module->path.bytes, &file, err))
        return false;
    if (!is_the_one(module, file)) {
        elf_file_close(file);
        err_fail(err, ERR_UNSUPPORTED, ERR_NO_OFFSET,
                 "changed since the program ran (%s); it is not used",
                 module->build_id.length != 0 ? "another build id" : "another file or date");
        return err_name_file(err, module->path.bytes);
    }
    *out = file;
    return true;
}

bool module_file_open(const struct recording_module *module, struct elf_file **out,
                      struct err *instead, struct err *err)
{
    *out = NULL;
    if (module->image.length != 0 && (module->flags & CAPTURE_MODULE_VDSO) != 0)
        return image_open(module, out, err);
    if (memchr(module->path.bytes, 0, module->path.length) != NULL)
        return true; /* no path */
    if (module->image.length == 0)
        return path_open(module, out, err);
    return path_open(module, out, instead) || image_open(module, out, err);
}
