#!/usr/bin/env python
"""Django's commands, and those of EchoMQ: `manage.py echomq --help`."""

import os
import sys

from django.core.management import execute_from_command_line

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "echomq_admin.settings")
    execute_from_command_line(sys.argv)
