"""The least rights that an engine's user needs on a server with an access list.

    ACL SETUSER worker on >secret <LEAST>

On a server without expiring hash fields leave `+hpexpire` out: it does not know the word. The
application's boards (`cm:…`) are of use to a console only; `BOARDS` adds them.
"""

KEYS = ("~emq:{*", "~{emq}:version", "~echomq:py:node:*")
"""Every queue, the version fence, and the leases of node numbers."""

CHANNELS = ("&emq:{*",)

_CONNECTION = (
    "asking", "client|setname", "client|tracking", "cluster|slots", "evalsha", "evalsha_ro",
    "info", "ping", "role", "scan", "script|load", "select", "subscribe", "time",
)  # fmt: skip
_DATA = (
    "blpop", "decr", "del", "exists", "get", "hdel", "hexists", "hget", "hgetall", "hincrby",
    "hkeys", "hlen", "hmget", "hpexpire", "hrandfield", "hscan", "hset", "hsetnx", "hstrlen",
    "incrby", "lindex", "llen", "lmove", "lpop", "lpos", "lpush", "lrange", "lrem", "ltrim",
    "persist", "pexpire", "pttl", "publish", "rpush", "sadd", "scard", "set", "sismember",
    "srandmember", "srem", "sscan", "type", "unlink", "xack", "xadd", "xautoclaim", "xclaim",
    "xdel", "xgroup", "xpending", "xrange", "xreadgroup", "xtrim", "zadd", "zcard", "zcount",
    "zpopmin", "zrange", "zrangebyscore", "zrank", "zrem", "zrevrange", "zrevrangebyscore",
    "zrevrank", "zscore",
)  # fmt: skip

COMMANDS = tuple(f"+{name}" for name in sorted((*_CONNECTION, *_DATA)))
"""What the plans send and the scripts call; no category, so that nothing comes with it."""

LEAST = ("resetkeys", "resetchannels", "-@all", *KEYS, *CHANNELS, *COMMANDS)
"""The words of `ACL SETUSER` after the password."""

BOARDS = ("~cm:*",)
