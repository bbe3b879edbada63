/* layout.h - where variables lie in the library's memory.
 *
 * A child of fork shares its parent's pages until it writes to them, and each first write copies a
 * page: 1 to 2 us, on some virtual machines 15. So what every process writes lies together, and
 * variables of more than a kilobyte or so, of which most processes touch little or nothing, lie
 * behind it. The linker sorts zeroed variables by the names of their sections
 * (-fdata-sections gives each its own, preload/CMakeLists.txt has the linker's option). */
#ifndef SAMPLER_LAYOUT_H
#define SAMPLER_LAYOUT_H

/* Zeroed, large. */
#define LAYOUT_LARGE __attribute__((section(".bss.z_large")))

/* Zeroed, large, but its beginning is written by every process: right behind the small ones. One
 * variable. */
#define LAYOUT_LARGE_BUT_HEAD __attribute__((section(".bss.y_large_but_head")))

#endif
