# SPDX-License-Identifier: BSD-3-Clause
"""``python -m particles`` is the ``particles`` command."""

import sys

from particles.cli.main import main

sys.exit(main())
