/* colors.c - see colors.h. Hues are those of Okabe and Ito's set, which people who do not see all colours tell
 * apart. They are written as #rrggbb, which every program that shows SVG knows. */
#include "formats/svg/colors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "number.h"
#include "saturated.h"

/* Degrees, and parts of 1. */
struct hsl {
    double hue, saturation, lightness;
};

static const struct hsl hues[SVG_N_HUES + 1] = {{36, .92, 0},  {203, .78, 0}, {160, .60, 0},
                                                {326, .48, 0}, {52, .88, 0},  {218, .62, 0},
                                                {14, .80, 0},  {185, .45, 0}, {210, .06, 0}};

#define N_SHADES 4
#define N_STEPS 8 /* of a change from hardly any to all of it */
#define GREW 24
#define SHRANK 205

enum theme { LIGHT, DARK, N_THEMES };

static const double lightness[N_THEMES][N_SHADES] = {{.74, .77, .80, .71}, {.32, .35, .29, .37}};
static const struct hsl pale[N_THEMES] = {{0, .30, .92}, {0, .14, .24}};
static const struct hsl same[N_THEMES] = {{210, .08, .90}, {210, .06, .24}};

/* ---- which class ----------------------------------------------------------------------------- */

static int hue_compare(const void *left, const void *right)
{
    const struct svg_hue *a = left, *b = right;
    return a->self != b->self ? compare_u64(b->self, a->self) : compare_u64(a->module, b->module);
}

bool svg_colors_init(struct svg_colors *colors, const struct svg_boxes *boxes,
                     const struct profile *profile, struct err *err)
{
    struct svg_hue *all = calloc(profile->n_modules, sizeof *all);
    *colors = (struct svg_colors){.rank = calloc(profile->n_modules, 1)};
    bool ok = all != NULL && colors->rank != NULL;
    for (uint32_t id = 0; ok && id < profile->n_modules; id++) {
        all[id].module = id;
        colors->rank[id] = SVG_N_HUES;
    }
    for (uint32_t id = 0; ok && id < profile->n_functions; id++)
        add_to(&all[profile->functions[id].module].self, boxes->self[id]);
    if (ok)
        qsort(all, profile->n_modules, sizeof *all, hue_compare);
    for (size_t i = 0; ok && i < SVG_N_HUES && i < profile->n_modules && all[i].self > 0; i++) {
        colors->hues[colors->n_hues++] = all[i];
        colors->rank[all[i].module] = (uint8_t)i;
    }
    free(all);
    return ok || err_fail_memory(err);
}

void svg_colors_deinit(struct svg_colors *colors)
{
    free(colors->rank);
    colors->rank = NULL;
}

static void class_make(char out[SVG_CLASS_BYTES], char letter, unsigned step)
{
    out[0] = letter;
    out[1] = (char)('0' + step);
    out[2] = '\0';
}

void svg_class_of_rank(size_t rank, char out[SVG_CLASS_BYTES])
{
    class_make(out, (char)('a' + rank), 0);
}

bool svg_is_beyond(double before, double after, double interval)
{
    return isinf(interval) || fabs(after - before) > interval;
}

/* + grew, - shrank and 0 the same; p and m (plus, minus) are within chance. */
void svg_class_of_change(double before, double after, double interval, char out[SVG_CLASS_BYTES])
{
    if (after == before) {
        class_make(out, 'n', 0);
    } else if (!svg_is_beyond(before, after, interval)) {
        class_make(out, after > before ? 'p' : 'm', 0);
    } else {
        double strength = sqrt(fabs(after - before) / fmax(before, after));
        class_make(out, after > before ? 'g' : 's',
                   (unsigned)fmin(strength * N_STEPS, N_STEPS - 1));
    }
}

void svg_class_of(const struct svg_colors *colors, const struct svg_boxes *boxes,
                  const struct profile *profile, const struct svg_box *box,
                  char out[SVG_CLASS_BYTES])
{
    if (box->level == 0) {
        class_make(out, 'r', 0);
    } else if (boxes->is_of_two) {
        svg_class_of_change((double)box->before, (double)box->total, box->interval, out);
    } else {
        uint8_t rank = colors->rank[profile->functions[box->function].module];
        class_make(out, (char)('a' + rank), box->function * 7 % N_SHADES);
    }
}

/* ---- rules ----------------------------------------------------------------------------------- */

/* CSS Color 4, section 7.1: one of red, green and blue. */
static unsigned channel(struct hsl color, double n)
{
    double k = fmod(n + color.hue / 30, 12);
    double a = color.saturation * fmin(color.lightness, 1 - color.lightness);
    double part = color.lightness - a * fmax(-1, fmin(fmin(k - 3, 9 - k), 1));
    return (unsigned)lround(part * 255);
}

static void write_rule(struct sink *out, char letter, unsigned step, struct hsl color)
{
    char name[SVG_CLASS_BYTES];
    class_make(name, letter, step);
    sink_format(out, ".sampler .%s{fill:#%02x%02x%02x}", name, channel(color, 0), channel(color, 8),
                channel(color, 4));
}

static struct hsl with_hue(struct hsl color, double hue)
{
    color.hue = hue;
    return color;
}

static void write_changes(struct sink *out, enum theme theme)
{
    write_rule(out, 'n', 0, same[theme]);
    write_rule(out, 'p', 0, with_hue(pale[theme], GREW));
    write_rule(out, 'm', 0, with_hue(pale[theme], SHRANK));
    for (unsigned step = 0; step < N_STEPS; step++) {
        double strength = (step + 0.5) / N_STEPS;
        const struct hsl color = {
            .saturation = .45 + .45 * strength,
            .lightness = theme == LIGHT ? .88 - .26 * strength : .26 + .18 * strength,
        };
        write_rule(out, 'g', step, with_hue(color, GREW));
        write_rule(out, 's', step, with_hue(color, SHRANK));
    }
}

static void write_hues(struct sink *out, enum theme theme)
{
    for (unsigned rank = 0; rank <= SVG_N_HUES; rank++) {
        for (unsigned shade = 0; shade < N_SHADES; shade++) {
            struct hsl color = hues[rank];
            color.lightness = lightness[theme][shade];
            write_rule(out, (char)('a' + rank), shade, color);
        }
    }
}

void svg_colors_write(struct sink *out, bool is_of_two)
{
    void (*const write)(struct sink *, enum theme) = is_of_two ? write_changes : write_hues;
    sink_text(out, ".sampler .page{fill:#fff}.sampler .e>rect{stroke:#fff}.sampler "
                   ".r0{fill:#e6e9ed}.sampler text{fill:#1b1f24}"
                   ".sampler .soft{fill:#59626e}\n");
    write(out, LIGHT);
    sink_text(out, "\n@media (prefers-color-scheme:dark){.sampler .page{fill:#15181c}"
                   ".sampler .e>rect{stroke:#15181c}.sampler .r0{fill:#2a2f36}.sampler "
                   "text{fill:#e8eaed}.sampler .soft{fill:#9aa4b0}\n");
    write(out, DARK);
    sink_text(out, "}\n");
}
