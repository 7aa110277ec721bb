"""The console in a shell: the same actions and looks as its pages, for eyes and for programs."""
