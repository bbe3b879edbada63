/* unwind_plugin.cpp - a shared object that unwind_work.cpp loads and unloads. */
#include <cstdint>
#include <cstdio>
#include <cstring>

extern "C" __attribute__((visibility("default"))) uint64_t plugin_run(unsigned depth,
                                                                      uint64_t (*burn)(unsigned));

uint64_t plugin_run(unsigned depth, uint64_t (*burn)(unsigned))
{
    char text[100];
    snprintf(text, sizeof text, "%u", depth);
    uint64_t value = burn(2000) + strlen(text);
    try {
        if (depth % 3 == 0)
            throw depth;
        value += depth == 0 ? 0 : plugin_run(depth - 1, burn);
    } catch (unsigned caught) {
        value += caught == 0 ? 1 : plugin_run(depth - 1, burn);
    }
    return value + burn(100);
}
