# SPDX-License-Identifier: BSD-3-Clause
"""``python -m particles`` is the ``particles`` command."""

import sys

from particles._cli import main

sys.exit(main())
