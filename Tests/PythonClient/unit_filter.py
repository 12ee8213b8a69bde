"""Runs a program under the seccomp filter that a unit of systemd asks for, without systemd.

    python3 unit_filter.py docker/borealis.service .build/debug/borealis serve ...

What the unit forbids kills the program here (SIGSYS), also where the unit would only let the call fail: so a test notices.
systemd-analyze tells which calls a group such as @system-service has, libseccomp makes the filter.
"""

import ctypes
import errno
import functools
import os
import pathlib
import re
import subprocess
import sys
from collections.abc import Iterable

KILL_PROCESS, ALLOW = 0x80000000, 0x7FFF0000
EQUAL, MASKED_EQUAL, NOT_EQUAL = 4, 7, 1
PROT_WRITE, PROT_EXEC, SHM_EXEC = 2, 4, 0o100000
CLONE_NAMESPACES = 0x7E020080  # cgroup, ipc, net, mnt, pid, user, uts and time
PR_SET_NO_NEW_PRIVS = 38
AF = {"AF_UNIX": 1, "AF_INET": 2, "AF_INET6": 10, "AF_NETLINK": 16, "AF_PACKET": 17}


class Comparison(ctypes.Structure):
    """scmp_arg_cmp"""

    _fields_ = [("arg", ctypes.c_uint), ("op", ctypes.c_int), ("a", ctypes.c_uint64), ("b", ctypes.c_uint64)]


class Filter:
    """A seccomp filter that kills for what no rule allows, or for what a rule forbids."""

    def __init__(self, *, allows_by_default: bool):
        self._library = ctypes.CDLL("libseccomp.so.2")
        self._library.seccomp_init.restype = ctypes.c_void_p
        self._library.seccomp_syscall_resolve_name.argtypes = [ctypes.c_char_p]
        # For a call of another architecture too (SystemCallArchitectures=native).
        self._context = ctypes.c_void_p(self._library.seccomp_init(ALLOW if allows_by_default else KILL_PROCESS))
        self._action = KILL_PROCESS if allows_by_default else ALLOW

    def add(self, call: str, *comparisons: Comparison) -> None:
        number = self._library.seccomp_syscall_resolve_name(call.encode())
        if number < 0:
            return  # No call of this architecture.
        array = (Comparison * max(1, len(comparisons)))(*comparisons)
        status = self._library.seccomp_rule_add_array(
            self._context, ctypes.c_uint32(self._action), number, len(comparisons), array)  # fmt: skip
        # libseccomp sees that two rules are one.
        if status not in (0, -errno.EEXIST):
            raise OSError(-status, f"no rule for {call}: {os.strerror(-status)}")

    def load(self) -> None:
        status = self._library.seccomp_load(self._context)
        if status:
            raise OSError(-status, f"no filter: {os.strerror(-status)}")


def values(unit: str, name: str) -> list[str]:
    """What the lines `name=` say, in their order."""
    return re.findall(rf"^{name}=(.*)$", unit, re.MULTILINE)


def is_on(unit: str, name: str) -> bool:
    return values(unit, name)[-1:] == ["yes"]


@functools.cache
def groups() -> dict[str, list[str]]:
    """What systemd's groups of calls hold: calls and other groups."""
    command = ["systemd-analyze", "syscall-filter", "--no-pager"]
    found: dict[str, list[str]] = {}
    members: list[str] = []
    for line in subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines():
        if line.startswith("@"):
            members = found[line.strip()] = []
        elif line.startswith("    ") and not line.strip().startswith("#"):
            members.append(line.strip())
    return found


def expand(names: Iterable[str]) -> set[str]:
    """The calls of groups and names."""
    calls: set[str] = set()
    for name in names:
        calls |= expand(groups()[name]) if name.startswith("@") else {name}
    return calls


def allowed_calls(unit: str) -> set[str]:
    """The first line makes a list of what is allowed; later ones add to it or, behind ~, take away."""
    # What systemd itself always allows, so that the program can be started at all.
    allowed = expand(["@default"]) | {"execve", "exit", "exit_group", "rt_sigreturn", "sigreturn"}
    for line in values(unit, "SystemCallFilter"):
        calls = expand(line.removeprefix("~").split())
        allowed = allowed - calls if line.startswith("~") else allowed | calls
    return allowed


def filters(unit: str) -> Iterable[Filter]:
    """One filter for each thing that systemd makes a filter of; the kernel asks all of them."""
    assert values(unit, "SystemCallArchitectures") == ["native"], "other architectures are not tried"
    calls = Filter(allows_by_default=False)
    for call in allowed_calls(unit):
        calls.add(call)
    # Python still has to load the others and start the program.
    for call in ("seccomp", "prctl", "execve"):
        calls.add(call)
    if os.geteuid() == 0:
        # SQLite gives the files that it makes to the database's owner, as root alone; the unit's user is another.
        calls.add("fchown")
    families = Filter(allows_by_default=True)
    known = {AF[name] for name in values(unit, "RestrictAddressFamilies")[-1].split()}
    for family in set(range(46)) - known:
        families.add("socket", Comparison(0, EQUAL, family, 0))
    yield families
    rest = Filter(allows_by_default=True)
    if is_on(unit, "MemoryDenyWriteExecute"):
        both = PROT_WRITE | PROT_EXEC
        rest.add("mmap", Comparison(2, MASKED_EQUAL, both, both))
        rest.add("mprotect", Comparison(2, MASKED_EQUAL, PROT_EXEC, PROT_EXEC))
        rest.add("pkey_mprotect", Comparison(2, MASKED_EQUAL, PROT_EXEC, PROT_EXEC))
        rest.add("shmat", Comparison(2, MASKED_EQUAL, SHM_EXEC, SHM_EXEC))
    if is_on(unit, "RestrictNamespaces"):
        for bit in (1 << index for index in range(32) if CLONE_NAMESPACES >> index & 1):
            rest.add("clone", Comparison(0, MASKED_EQUAL, bit, bit))
            rest.add("unshare", Comparison(0, MASKED_EQUAL, bit, bit))
        rest.add("setns")
    if is_on(unit, "RestrictRealtime"):
        for policy in (1, 2, 6):
            rest.add("sched_setscheduler", Comparison(1, EQUAL, policy, 0))
    if is_on(unit, "RestrictSUIDSGID"):
        for call, argument in {"chmod": 1, "fchmod": 1, "fchmodat": 2, "mkdir": 1, "mkdirat": 2, "mknod": 1}.items():
            for bit in (0o4000, 0o2000):
                rest.add(call, Comparison(argument, MASKED_EQUAL, bit, bit))
    if is_on(unit, "LockPersonality"):
        rest.add("personality", Comparison(0, NOT_EQUAL, 0, 0))
    yield rest
    yield calls


def main() -> None:
    unit = pathlib.Path(sys.argv[1]).read_text()
    prepared = list(filters(unit))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl")
    for one in prepared:
        one.load()
    os.execv(sys.argv[2], sys.argv[2:])


if __name__ == "__main__":
    main()
