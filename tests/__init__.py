"""All tests. A package, so that the parts that are packages are named below it."""
