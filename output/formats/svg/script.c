/* script.c - see script.h. */
#include "formats/svg/script.h"

#include "file_bytes.h"

FILE_BYTES(script, SVG_SCRIPT);

struct text svg_script(void)
{
    return (struct text){script, (size_t)(script_end - script)};
}
