"""Bounded looks at a bus as plans: what they answer is a `Snapshot` with the server's clock."""
