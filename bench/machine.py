"""Where the figures were seen."""

import os
import platform
from pathlib import Path


def machine() -> str:
    """Processor, memory and versions of where this runs."""
    model = platform.processor() or platform.machine()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [line for line in cpuinfo.read_text().splitlines() if line.startswith("model name")]
        model = names[0].partition(":")[2].strip() if names else model
    return (
        f"{os.cpu_count()} cores ({model}), {memory:.0f} GiB, {platform.system()} "
        f"{platform.release().split('-')[0]}, Python {platform.python_version()}"
    )
