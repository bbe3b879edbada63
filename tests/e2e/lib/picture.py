"""What tests of the svg format share: its boxes as they are drawn, and its pixels as a program without script draws them."""

import struct
import subprocess
import xml.etree.ElementTree
import zlib

from e2e import need

SVG = "{http://www.w3.org/2000/svg}"


class Box:
    def __init__(self, element):
        part = lambda what: float(element.get(what).rstrip("%")) / 100
        self.name, self.numbers, *self.place = element.find(SVG + "title").text.split("\n")
        self.start, self.width, self.y = part("x"), part("width"), int(element.get("y"))
        self.css_class = element.get("class").split()[0]
        self.mark = element.get("data-mark")
        text = element.find(SVG + "text")
        self.label = None if text is None else text.text


def boxes_of(path):
    """All boxes, the root first."""
    root = xml.etree.ElementTree.parse(path).getroot()
    return [Box(element) for element in root.find(SVG + "svg[@class='boxes']")]


def paths_of(boxes):
    """Each box by the names from the root's child to it, which must lie below one another."""
    middle = lambda box: box.start + box.width / 2
    paths = {}
    for box in boxes[1:]:
        below = sorted((other for other in boxes if other.y > box.y and other.start <= middle(box) <= other.start + other.width),
                       key=lambda other: -other.y)
        assert [other.y - box.y for other in below] == list(range(18 * len(below), 0, -18)), box.name
        paths.setdefault(tuple([other.name for other in below[1:]] + [box.name]), []).append(box)
    return paths


def pixels_of(path):
    """A function that tells the colour at (x, y) as rsvg-convert draws the picture, "#rrggbb"."""
    png = subprocess.run([need("rsvg-convert"), path], stdout=subprocess.PIPE, check=True).stdout
    at, data = 8, b""
    while at < len(png):
        length, kind = struct.unpack(">I4s", png[at:at + 8])
        body = png[at + 8:at + 8 + length]
        if kind == b"IHDR":
            width, height, depth, color_type = struct.unpack(">IIBB", body[:10])
            assert depth == 8, depth
            n_channels = {2: 3, 6: 4}[color_type]
        data += body if kind == b"IDAT" else b""
        at += 12 + length
    return decoded(zlib.decompress(data), width, height, n_channels)


def decoded(data, width, height, n_channels):
    """Undoes the filters of PNG (section 9 of its specification)."""
    n = n_channels * width
    rows, before = [], bytes(n)
    for y in range(height):
        kind, row = data[y * (n + 1)], bytearray(data[y * (n + 1) + 1:(y + 1) * (n + 1)])
        for i in range(n):
            left, corner = (row[i - n_channels], before[i - n_channels]) if i >= n_channels else (0, 0)
            up = before[i]
            guess = left + up - corner
            paeth = min((left, up, corner), key=lambda value: abs(guess - value))
            row[i] = (row[i] + (0, left, up, (left + up) // 2, paeth)[kind]) & 255
        rows.append(bytes(row))
        before = row
    return lambda x, y: "#%02x%02x%02x" % tuple(rows[int(y)][n_channels * int(x):][:3])
