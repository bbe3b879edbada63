/* write.c - see write.h.
 *
 * A box is an <svg> inside the picture: it clips its name, and as its place and width are parts of 100 %, the
 * script has but these two to change, and the picture fills whatever window it is shown in. */
#include "formats/svg/write.h"

#include <inttypes.h>

#include "formats/svg/boxes.h"
#include "formats/svg/colors.h"
#include "formats/svg/label.h"
#include "formats/svg/script.h"
#include "formats/svg/words.h"
#include "text/xml_write.h"

#define MARGIN_PX 8
#define HEAD_PX 56 /* above the boxes: two lines of text     */
#define FOOT_PX 48 /* below: what is left out, what colours mean */
#define LEVEL_PX 18
#define BOX_PX 17
#define TEXT_MARGIN_PX 4
#define EDGED_PX 4        /* boxes this wide are set apart from their neighbours by an edge */
#define CHARACTER_PX 7.23 /* of 12 px, in most fonts of one width */

struct drawing {
    const struct profile *profile;
    struct svg_boxes boxes;
    struct svg_colors colors;
    struct svg_words words;
    struct chars label;
    struct sink *out;
};

static unsigned boxes_height(const struct drawing *drawing)
{
    return drawing->boxes.n_levels * LEVEL_PX;
}

/* ---- around the boxes ------------------------------------------------------------------------ */

static void write_head(const struct drawing *drawing)
{
    struct sink *out = drawing->out;
    unsigned height = HEAD_PX + boxes_height(drawing) + FOOT_PX;
    sink_format(
        out,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" SVG_SIGN
        ". Zoom: click, Escape. Search: Ctrl+F or /. -->\n"
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"sampler\" width=\"%d\" height=\"%u\" "
        "viewBox=\"0 0 %d %u\" font-size=\"12\" font-family=\"ui-monospace,'DejaVu Sans "
        "Mono',Menlo,Consolas,monospace\">\n<title>",
        SVG_WIDTH_PX, height, SVG_WIDTH_PX, height);
    svg_write_heading(&drawing->words, out);
    sink_text(out, "</title>\n<style>");
    svg_colors_write(out, drawing->boxes.is_of_two);
    sink_format(out,
                "</style>\n<rect class=\"page\" width=\"100%%\" height=\"100%%\"/>\n"
                "<svg class=\"heading\" width=\"100%%\" height=\"%d\"><text x=\"%d\" y=\"22\" "
                "font-size=\"14\" font-weight=\"bold\">",
                HEAD_PX, MARGIN_PX);
    svg_write_heading(&drawing->words, out);
    sink_format(out, "</text><text class=\"soft\" x=\"%d\" y=\"42\">", MARGIN_PX);
    svg_write_facts(&drawing->words, out);
    sink_text(out, "</text></svg>\n");
}

static double entry_px(struct text name, const char *number)
{
    double columns = (double)name.length + (double)strlen(number) + (number[0] != '\0');
    return 16 + columns * CHARACTER_PX + 20;
}

/* One entry; returns where the next one goes. */
static double write_entry(const struct drawing *drawing, double x, const char *class,
                          struct text name, const char *number)
{
    sink_format(
        drawing->out,
        "<rect class=\"%s\" x=\"%.1f\" y=\"30\" width=\"11\" height=\"11\"/><text x=\"%.1f\" "
        "y=\"40\">",
        class, x, x + 16);
    xml_text(drawing->out, name);
    sink_format(drawing->out, "%s%s</text>", number[0] == '\0' ? "" : " ", number);
    return x + entry_px(name, number);
}

/* As many as there is room for. */
static void write_modules(const struct drawing *drawing)
{
    const struct svg_colors *colors = &drawing->colors;
    double x = MARGIN_PX;
    uint64_t all = drawing->words.all->total;
    for (size_t i = 0; i < colors->n_hues; i++) {
        uint32_t path = drawing->profile->modules[colors->hues[i].module].path;
        struct text name = text_base_name(profile_text(drawing->profile, path));
        name = name.length > 0 ? name : text_make("[unknown]");
        char class[SVG_CLASS_BYTES], number[16];
        svg_class_of_rank(i, class);
        snprintf(number, sizeof number, "%.1f%%",
                 all == 0 ? 0 : 100 * (double)colors->hues[i].self / (double)all);
        if (x + entry_px(name, number) > SVG_WIDTH_PX)
            break;
        x = write_entry(drawing, x, class, name, number);
    }
}

static void write_changes(const struct drawing *drawing)
{
    static const struct {
        const char *name;
        double before, after, interval;
    } examples[] = {{"gone", 1, 0, 0},          {"halved", 2, 1, 0},  {"-10%", 10, 9, 0},
                    {"+10%", 9, 10, 0},         {"doubled", 1, 2, 0}, {"new", 0, 1, 0},
                    {"within chance", 9, 10, 9}};
    double x = MARGIN_PX;
    for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++) {
        char class[SVG_CLASS_BYTES];
        svg_class_of_change(examples[i].before, examples[i].after, examples[i].interval, class);
        x = write_entry(drawing, x, class, text_make(examples[i].name), "");
    }
}

/* The first line also is where the script says what the mouse points at. */
static void write_foot(const struct drawing *drawing)
{
    struct sink *out = drawing->out;
    uint32_t n = drawing->boxes.n_left_out;
    sink_format(
        out,
        "<svg class=\"foot\" y=\"%u\" width=\"100%%\" height=\"%d\"><text class=\"soft\" x=\"%d\" "
        "y=\"18\">",
        HEAD_PX + boxes_height(drawing), FOOT_PX, MARGIN_PX);
    if (n > 0)
        sink_format(out, "%" PRIu32 " boxes narrower than %g pixels are left out, %.1f%% together",
                    n, SVG_NARROWEST_PX, 100 * drawing->boxes.share_left_out);
    sink_text(out, "</text>");
    if (drawing->boxes.is_of_two)
        write_changes(drawing);
    else
        write_modules(drawing);
    sink_text(out, "</svg>\n");
}

/* ---- boxes ----------------------------------------------------------------------------------- */

/* The name, and what is said of its change. False when out of memory. */
static bool write_label(struct drawing *drawing, const struct svg_box *box, const char *mark)
{
    double room_px = box->width * (SVG_WIDTH_PX - 2 * MARGIN_PX) - 2 * TEXT_MARGIN_PX;
    size_t columns = room_px < 0 ? 0 : (size_t)(room_px / CHARACTER_PX);
    size_t mark_columns = mark[0] == '\0' ? 0 : strlen(mark) + 1;
    struct text name = svg_name_of(&drawing->words, box);
    if (!svg_label_fit(&drawing->label, name, columns > mark_columns ? columns - mark_columns : 0))
        return false;
    bool has_mark = mark_columns > 0 && drawing->label.n > 0;
    if (!has_mark && !svg_label_fit(&drawing->label, name, columns))
        return false;
    if (drawing->label.n == 0)
        return true;
    sink_format(drawing->out, "<text x=\"%d\" y=\"12.7\">", TEXT_MARGIN_PX);
    xml_text(drawing->out, chars_text(&drawing->label));
    sink_format(drawing->out, "%s%s</text>", has_mark ? " " : "", has_mark ? mark : "");
    return true;
}

static bool write_box(struct drawing *drawing, const struct svg_box *box)
{
    struct sink *out = drawing->out;
    unsigned above = drawing->boxes.n_levels - 1 - box->level;
    char class[SVG_CLASS_BYTES], mark[SVG_MARK_BYTES];
    svg_class_of(&drawing->colors, &drawing->boxes, drawing->profile, box, class);
    svg_mark_of(&drawing->words, box, mark);
    bool is_wide = box->width * SVG_WIDTH_PX >= EDGED_PX;
    sink_format(out, "<svg class=\"%s%s\" x=\"%.4f%%\" y=\"%u\" width=\"%.4f%%\" height=\"%d\"",
                class, is_wide ? " e" : "", 100 * box->start, above * LEVEL_PX, 100 * box->width,
                BOX_PX);
    if (mark[0] != '\0')
        sink_format(out, " data-mark=\"%s\"", mark);
    sink_text(out, "><title>");
    svg_write_title(&drawing->words, box, out);
    sink_text(out, "</title><rect width=\"100%\" height=\"100%\"/>");
    bool ok = write_label(drawing, box, mark);
    sink_text(out, "</svg>\n");
    return ok;
}

static bool write_boxes(struct drawing *drawing)
{
    const struct svg_box_list *list = &drawing->boxes.list;
    bool ok = true;
    sink_format(drawing->out, "<svg class=\"boxes\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%u\"",
                MARGIN_PX, HEAD_PX, SVG_WIDTH_PX - 2 * MARGIN_PX, boxes_height(drawing));
    if (drawing->boxes.share_left_out > 0)
        sink_format(drawing->out, " data-left-out=\"%.6f\"", drawing->boxes.share_left_out);
    sink_text(drawing->out, ">\n");
    for (size_t i = 0; ok && i < list->n; i++)
        ok = write_box(drawing, &list->items[i]);
    sink_text(drawing->out, "</svg>\n");
    return ok;
}

static bool draw(struct drawing *drawing)
{
    write_head(drawing);
    if (!write_boxes(drawing))
        return false;
    write_foot(drawing);
    struct text script = svg_script();
    sink_text(drawing->out, "<script><![CDATA[");
    sink_write(drawing->out, script.bytes, script.length);
    sink_text(drawing->out, "]]></script>\n</svg>\n");
    return true;
}

bool svg_write(const struct profile *profile, const struct format_options *options,
               const struct format_notes *notes, struct sink *out, struct err *err)
{
    (void)options;
    struct drawing drawing = {.profile = profile, .out = out};
    if (!svg_boxes_init(&drawing.boxes, profile, err)) {
        svg_boxes_deinit(&drawing.boxes);
        return false;
    }
    bool ok = svg_colors_init(&drawing.colors, &drawing.boxes, profile, err);
    ok = ok && ((svg_words_init(&drawing.words, profile, &drawing.boxes) && draw(&drawing)) ||
                err_fail_memory(err));
    if (ok && drawing.boxes.is_cut)
        format_note(notes, "stacks were cut: frames above the first %d are not drawn",
                    SVG_MOST_LEVELS);
    chars_deinit(&drawing.label);
    svg_colors_deinit(&drawing.colors);
    svg_boxes_deinit(&drawing.boxes);
    return ok;
}
