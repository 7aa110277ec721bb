"""Real browsers at real consoles. A package, so that its tests share one browser."""
