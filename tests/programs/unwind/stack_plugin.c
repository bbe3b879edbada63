/* stack_plugin.c - built twice, with another name and another frame size, else alike to the byte:
 * rules and names of the one are wrong for the other. */
#include <stdint.h>

__attribute__((visibility("default"), noinline)) uint64_t PLUGIN_NAME(uint64_t n,
                                                                      uint64_t (*burn)(uint64_t));

uint64_t PLUGIN_NAME(uint64_t n, uint64_t (*burn)(uint64_t))
{
    volatile uint64_t local[PLUGIN_WORDS];
    local[0] = n;
    local[PLUGIN_WORDS - 1] = n;
    return burn(n) + local[0] + local[PLUGIN_WORDS - 1];
}
