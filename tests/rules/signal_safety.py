#!/usr/bin/env python3
"""signal_safety.py ROOT... -- COMPILER ARGUMENT... SOURCE...

Compiles the SOURCEs and fails if code of the signal handler violates a rule of
core/docs/signal-safety.md: a marked function calls one that is not marked, its
frame is larger than 1 KiB, or it is recursive. (A function is marked by
SP_SIGNAL_SAFE, SP_HANDLER_CODE or SP_HANDLER_RARE.) Each ROOT must be a marked
function. Uses GCC's -fcallgraph-info. Calls are read from a compilation without
optimisation, because inlining would hide them, and the sizes of frames from one
with optimisation.
"""
import os
import re
import subprocess
import sys
import tempfile

FRAME_BYTES_MAX = 1024
MARKS = ("sp_signal_safe", "sp_handler_code")

# Functions of the C library that marked functions may call: those that POSIX lists as
# async-signal-safe, plain system calls, and functions that the compiler inlines.
SAFE = {
    "memcpy", "memcmp", "memset", "memmove", "memchr", "__errno_location",
    "clock_gettime", "syscall", "process_vm_readv", "getpid", "sched_getcpu",
    "__tls_get_addr", "sigaction", "kill", "strcmp", "madvise",
}
# Functions of Ruby and CPython that marked functions may call, with the reason.
RUNTIME = {
    "ruby_thread_has_gvl_p": "reads two words, one of them thread-local in libruby",
    "Py_TYPE": "reads a field, inline",
    "_Py_TYPE": "Py_TYPE from CPython 3.14 on",
    "Py_SIZE": "reads a field, inline",
}
# Functions that may call through a pointer, and what they call.
POINTERS = {
    "signal_handler": "the function that takes the sample",
    "signal_chain": "the previous handler",
    "sigterm_handler": "a language's previous handler",
    "sample_context_read": "the runtime's reader of contexts",
    "sample_frames_read": "the runtime's walker",
    "sample_take": "the runtime's reader of a stack's end",
    "rb_sp_walker_walk": "rb_during_gc(), which reads a field of the heap",
    "py_sp_walk_thread": "pthread_getspecific(), or the equivalent of CPython's faulthandler",
}
# Marked functions call these only at a thread's first use of the library, or after an
# error. The public header forbids such calls in a handler.
FIRST_USE = {"sp_self_attach", "label_push_texts", "sp_fail"}

NODE = re.compile(r'^node: \{ title: "(?:[^"]*/)?([^"]+)" label: "[^"]*?\\n([^"\\]*)(?:\\n(\d+) bytes[^"]*)?"')
EDGE = re.compile(r'^edge: \{ sourcename: "(?:[^"]*/)?([^"]+)" targetname: "(?:[^"]*/)?([^"]+)" label: "([^"]*)"')


class Code:
    """The functions, calls and frames that compilations contain. The key of a static
    function is SOURCE:NAME, that of any other function its name."""

    def __init__(self):
        self.calls, self.frames, self.marked = [], {}, set()

    def add(self, command, source):
        with tempfile.TemporaryDirectory() as directory:
            out = os.path.join(directory, "o")
            # Do not use ccache, which would restore only the object file.
            subprocess.run([*command, "-fcallgraph-info=su", "-c", "-o", out, source], check=True,
                           env={**os.environ, "CCACHE_DISABLE": "1"})
            with open(out + ".ci", encoding="utf-8") as graph:
                for line in graph:
                    self._read(line)
            table = subprocess.run(["objdump", "-t", out], check=True, capture_output=True, text=True).stdout
        for row in table.splitlines():
            words = row.split()
            if "F" in words and any(mark in words for mark in MARKS):
                self.marked.add(f"{os.path.basename(source)}:{words[-1]}" if words[1] == "l" else words[-1])

    def _read(self, line):
        if match := EDGE.match(line):
            self.calls.append(match.groups())
        elif (match := NODE.match(line)) and match[3]:
            # Remove the suffixes that GCC gives to its clones of a function.
            name = re.sub(r"(\.(part|isra|constprop|cold)(\.\d+)?)+$", "", match[1])
            self.frames[name] = max(int(match[3]), self.frames.get(name, 0))


def loops(graph):
    """Returns the recursive functions."""
    done, found = set(), set()

    def follow(name, above):
        if name in above:
            found.add(name)
        elif name not in done:
            for callee in graph.get(name, ()):
                follow(callee, above | {name})
            done.add(name)

    for name in graph:
        follow(name, frozenset())
    return found


def short(name):
    return name.rpartition(":")[2]


def main():
    at = sys.argv.index("--")
    roots, arguments = sys.argv[1:at], sys.argv[at + 1:]
    sources = [argument for argument in arguments if argument.endswith(".c")]
    command = [argument for argument in arguments if argument not in sources] + ["-DSPANPROF_SHOW_MARKS"]
    plain, optimised = Code(), Code()
    for source in sources:
        plain.add([*command, "-O0"], source)
        optimised.add([*command, "-O2", "-g"], source)

    marked, frames, graph = plain.marked, optimised.frames, {}
    faults = [f"{root} is not marked" for root in roots if root not in map(short, marked)]
    for caller, callee, place in plain.calls:
        if caller not in marked:
            continue
        graph.setdefault(caller, set()).add(callee)
        if callee == "__indirect_call":
            if short(caller) not in POINTERS:
                faults.append(f"{place}: {short(caller)} calls through a pointer")
        elif callee not in marked and short(callee) not in SAFE | FIRST_USE | RUNTIME.keys():
            faults.append(f"{place}: {short(caller)} calls {short(callee)}, which is not marked")
    faults += [f"{short(name)} can call itself" for name in loops(graph)]
    faults += [f"{short(name)} has a frame of {frames[name]} bytes"
               for name in marked if frames.get(name, 0) > FRAME_BYTES_MAX]
    largest = max((frames.get(name, 0), name) for name in marked)
    print(f"{len(marked)} marked functions, largest frame {largest[0]} bytes ({short(largest[1])})")
    print(*sorted(set(faults)), sep="\n", file=sys.stderr)
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
