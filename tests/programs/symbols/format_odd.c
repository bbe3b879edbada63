/* format_odd.c - a function whose symbol has what formats have to escape; compiled without debug
 * information, so that the symbol is the name. Static: assemblers take such names only locally. */
#include <math.h>

#include "format_work.h"

static double
odd_named(double x) __asm__("\"odd; 'quoted' name, with blanks %d <T as Trait>::run\"");

__attribute__((noinline)) static double odd_named(double x)
{
    for (int i = 0; i < 4000; i++)
        x = cos(x) + i;
    return x;
}

double odd_call(double x)
{
    return odd_named(x) + 1;
}
