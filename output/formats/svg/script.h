/* script.h - the script in a picture, as it was built of script/ (cmake/Scripts.cmake). */
#ifndef SAMPLER_SVG_SCRIPT_H
#define SAMPLER_SVG_SCRIPT_H

#include "text.h"

struct text svg_script(void);

#endif
