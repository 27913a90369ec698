# SPDX-License-Identifier: BSD-3-Clause
"""Where words stand in pictures."""

from contextlib import contextmanager
from itertools import combinations

from matplotlib.backends.backend_agg import FigureCanvasAgg, RendererAgg


@contextmanager
def noted(monkeypatch):
    """Note the words that are drawn, each with its box: left, right, top, bottom."""
    words = []

    def write(renderer, graphics, x, y, text, font, angle, ismath=False, **_):
        width, height, _ = renderer.get_text_width_height_descent(text, font, ismath=ismath)
        if angle == 90:
            words.append((text, x - height, x, y - width, y))
        else:
            words.append((text, x, x + width, y - height, y))

    with monkeypatch.context() as patch:
        patch.setattr(RendererAgg, "draw_text", write)
        yield words


def assert_apart(figure, monkeypatch):
    """No word of a figure hides another, or is cut by the figure's edge; return how many there are."""
    with noted(monkeypatch) as words:
        canvas = FigureCanvasAgg(figure)
        canvas.draw()  # the layout
        words.clear()
        canvas.draw()
    width, height = canvas.get_width_height()
    for text, left, right, top, bottom in words:
        assert -2 < left < right < width + 2, text
        assert -2 < top < bottom < height + 2, text
    for (one, *a), (other, *b) in combinations(words, 2):
        assert a[1] < b[0] or b[1] < a[0] or a[3] < b[2] or b[3] < a[2], (one, other)
    return len(words)
