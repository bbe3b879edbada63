/* label.h - the name in a box: what people call a function (text/short_name.h), in little room.
 *
 *   std::map<int, Table<int, 3>>::at(int const&)
 *   std::map<…>::at         without arguments,
 *   …::at                   then without what encloses it,
 *   std::m…                 then without its end
 *
 * The picture's script makes labels anew when a box becomes wider, by the rules of the html page, which are
 * the same (formats/html/viewer/words/names.js). The whole name is the box's title. */
#ifndef SAMPLER_SVG_LABEL_H
#define SAMPLER_SVG_LABEL_H

#include "err.h"
#include "text.h"
#include "vector.h"

/* Puts into `out` (emptied first) at most `columns` characters, nothing if there is room for none. False
 * when out of memory. */
MUST_CHECK bool svg_label_fit(struct chars *out, struct text name, size_t columns);

#endif
