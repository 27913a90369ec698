# SPDX-License-Identifier: BSD-3-Clause
"""Two ranks on two machines, as far as the kernel can tell: namespaces that a network joins."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support import ranks

ADDRESSES = ("10.77.41.1", "10.77.41.2")
BY_TCP = {
    "MPIR_CVAR_NOLOCAL": "1",
    "FI_PROVIDER": "tcp",
    "FI_TCP_IFACE": "wire",
    "UCX_TLS": "tcp,self",
    "UCX_NET_DEVICES": "wire",
}
SHELL = """#!/bin/sh
# What ssh would do: options, a host, and words of a command.
while [ "${{1#-}}" != "$1" ]; do shift; done
case $1 in {addresses[0]}) name={names[0]};; *) name={names[1]};; esac
shift
exec ip netns exec $name sh -c "$*"
"""


def ip(*words):
    return subprocess.run(["ip", *words], check=True, capture_output=True, text=True).stdout


def wait_until_up(names):
    """Wait for the wire's ends, which Linux joins up to a second after both were set up."""
    end = time.monotonic() + 30
    while not all("state UP" in ip("-n", name, "link", "show", "wire") for name in names):
        if time.monotonic() > end:
            pytest.skip("the wire between namespaces does not come up")
        time.sleep(0.02)


@pytest.fixture
def machines():
    """Two namespaces of a network each, with an interface of one name on both sides."""
    if os.geteuid() != 0 or shutil.which("ip") is None:
        pytest.skip("only root may make namespaces, and by ip")
    names = [f"particles-{os.getpid()}-{side}" for side in "ab"]
    made = []
    try:
        try:
            for name in names:
                ip("netns", "add", name)
                made.append(name)
            wire = ("link", "add", "wire", "netns", names[0], "type", "veth")
            ip(*wire, "peer", "name", "wire", "netns", names[1])
            for name, address in zip(names, ADDRESSES, strict=True):
                ip("-n", name, "addr", "add", f"{address}/24", "dev", "wire")
                ip("-n", name, "link", "set", "wire", "addrgenmode", "none")
                ip("-n", name, "link", "set", "wire", "up")
                ip("-n", name, "link", "set", "lo", "up")
            wait_until_up(names)
        except subprocess.CalledProcessError as error:
            pytest.skip(f"no namespaces of networks: {error.stderr.strip()}")
        yield names
    finally:
        for name in made:
            ip("netns", "delete", name)


def bytes_through(name):
    """Return what an interface has sent and received."""
    read = "cat /sys/class/net/wire/statistics/tx_bytes /sys/class/net/wire/statistics/rx_bytes"
    found = subprocess.run(
        ["ip", "netns", "exec", name, "sh", "-c", read], capture_output=True, text=True, check=True
    )
    return sum(map(int, found.stdout.split()))


@pytest.mark.sampled
@pytest.mark.one_device
def test_two_machines_give_the_same_bits_over_tcp(machines, tmp_path):
    """And send little more than what is counted."""
    mpiexec = ranks.launcher()
    version = subprocess.run([mpiexec, "--version"], capture_output=True, text=True, check=False)
    if "HYDRA" not in version.stdout:
        pytest.skip("mpiexec is not the one that is told how to reach other machines")
    alone, _ = ranks.check(0, "tests.communication.network_case", 0).split()
    shell = Path(tmp_path, "shell")
    shell.write_text(SHELL.format(names=machines, addresses=ADDRESSES))
    shell.chmod(0o755)
    launch = [mpiexec, "-launcher", "ssh", "-launcher-exec", str(shell), "-iface", "wire"]
    launch += ["-hosts", ",".join(ADDRESSES), "-n", "2"]
    program = [sys.executable, "-m", "tests.communication.network_case", "0"]
    done = subprocess.run(
        ["ip", "netns", "exec", machines[0], "timeout", "-k", "5", "120", *launch, *program],
        env={**ranks.environment_of_ranks(), **BY_TCP},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    digest, sent = done.stdout.split()
    assert digest == alone
    assert 1.0 < bytes_through(machines[0]) / int(sent) < 1.4
