# SPDX-License-Identifier: BSD-3-Clause
"""A file that a library changes in place, yet whole and checked after whatever happens.

Such a file is made of pages (`pages`): a label (`label`), the content that the library sees, which
tells what state the file is in and the sum of the table; then that table, of the sums of all pages.
`Reader` gives a library content page by page, each compared with its sum; `Writer` lets it change
what it likes, keeps changed pages in memory, and writes appended ones where nobody looks yet.

States of a file, each of which somebody may find after a cut of any kind:

whole
    No journal lies beside it, or one that is not complete: nothing has been changed. What lies
    beyond the table was appended by who was cut short.
changing
    A complete journal lies beside it, with what the changed pages were. The file is whatever part
    of the change has reached the disk. Readers put the journal's pages over it and so see the state
    before; the next writer, or ``particles repair``, writes them back, and removes the journal.

A change goes through these, and each arrow waits for the disk::

    whole: appended pages -> journal -> changing: changed pages -> journal removed: whole

Who holds the journal's lock is the only writer, in either state. Who reads shares the file's lock;
a writer has it for itself in the state "changing" alone. So whoever gets it finds the state
"whole", or the journal of a process that is no more.

A new file is written as its own journal, which gets the file's name when it is complete, be it in
place of another one. A file with several hard links is read and replaced, but not changed.
"""

from particles.io.atomic.pages import DamageError
from particles.io.atomic.reader import Reader, reading
from particles.io.atomic.signals import Held, held
from particles.io.atomic.writer import Writer, changing, committed

__all__ = ["DamageError", "Held", "Reader", "Writer", "changing", "committed", "held", "reading"]
