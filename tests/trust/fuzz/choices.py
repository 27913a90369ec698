# SPDX-License-Identifier: BSD-3-Clause
"""Bytes of a fuzzer as choices: what bytes mean here never changes, so corpora keep their sense."""

from fractions import Fraction


class Choices:
    """Takes choices from bytes; when these are used up, each choice is the first one."""

    def __init__(self, data):
        self._data, self._place = data, 0

    @property
    def are_left(self):
        return self._place < len(self._data)

    def bytes(self, count):
        taken = self._data[self._place : self._place + count]
        self._place += len(taken)
        return taken

    def rest(self):
        return self.bytes(len(self._data))

    def below(self, end):
        return int.from_bytes(self.bytes(1), "little") % end

    def pick(self, options):
        return options[self.below(len(options))]

    def short(self):
        return int.from_bytes(self.bytes(2), "little")

    def signed(self):
        return self.below(256) - 128

    def text(self):
        """Up to 255 letters."""
        return self.bytes(self.below(256)).decode("utf-8", "replace")

    def fraction(self):
        return Fraction(self.signed(), 1 + self.below(256))
