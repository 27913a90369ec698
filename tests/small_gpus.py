# SPDX-License-Identifier: BSD-3-Clause
"""``pytest -p small_gpus``: every device is told to be a GPU with little local memory."""

from gpu_forms import as_gpu
from particles import device
from usable import refusal

LOCAL_MEMORY = 16 * 1024

found = device.devices
device.devices = lambda: [as_gpu(one, LOCAL_MEMORY) for one in found() if refusal(one) is None]
