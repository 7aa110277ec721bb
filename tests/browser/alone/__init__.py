"""Tests that kill, stop or spoil what others would share."""
