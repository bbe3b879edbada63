/* svg.h - a flame graph as a picture, in one file that browsers and programs for pictures show.
 *
 * Why        For documents, reports and README files, and for those who know flame graphs this way. The
 *            picture is whole without its script: names, numbers as tooltips, colours for light and dark
 *            surroundings. In a browser the script lets one zoom and search.
 * Two runs   are a differential flame graph, as in the html page: as wide as both together, coloured by
 *            change, pale within chance.
 * Written    only: of stacks without samples enough to be seen nothing is in it. */
#ifndef SAMPLER_SVG_H
#define SAMPLER_SVG_H

#include "formats/format.h"

extern const struct format format_svg;

#endif
