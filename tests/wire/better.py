"""Where we do better than the record (protocol part 10), step by step.

From its first step listed here a file is replayed from the recorded state before each step; a
listed step must answer and leave exactly what stands here, every other what was recorded.

`FALL_BACK` lists in the same way what differs on a server that cannot expire a hash field.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.wire.values import Json


@dataclass(frozen=True)
class Better:
    """One step that differs: the row of part 10 it improves on, the reply where it differs, and
    the keys that differ afterwards (None: the key is not there)."""

    file: str
    step: int
    row: int
    reply: Json = None
    keys: Mapping[str, Json] = field(default_factory=dict)


def _hash(fields: Json) -> Json:
    return {"type": "hash", "value": fields}


def _zset(scores: Json) -> Json:
    return {"type": "zset", "value": scores}


def _list(items: Json) -> Json:
    return {"type": "list", "value": items}


def _string(text: Json) -> Json:
    return {"type": "string", "value": text}


BETTER = [
    Better("b09-retry-refusals", 0, 9, reply={"error": "gone"}),
    Better("b12-retry-dead-again", 5, 5, keys={"emq:{gq}:dead": None}),
    Better("b13-complete-dead", 3, 5, keys={"emq:{gq}:dead": None}),
    Better("b14-complete-scheduled-ghost", 3, 5, keys={"emq:{gq}:schedule": None}),
    Better(
        "b14-complete-scheduled-ghost",
        6,
        6,
        reply={"ok": 0},
        keys={"emq:{gq}:job:JOB09nSpIKi5uX": None, "emq:{gq}:pending": None},
    ),
    Better(
        "b14-complete-scheduled-ghost",
        8,
        6,
        reply={"empty": True},
        keys={"emq:{gq}:active": None, "emq:{gq}:job:JOB09nSpIKi5uX": None},
    ),
    Better(
        "c10-reap-missing-row",
        4,
        6,
        reply={"ok": 0},
        keys={"emq:{gq}:job:JOB09nSpIKi5uX": None, "emq:{gq}:pending": None},
    ),
    Better(
        "c10-reap-missing-row",
        6,
        6,
        reply={"empty": True},
        keys={"emq:{gq}:active": None, "emq:{gq}:job:JOB09nSpIKi5uX": None},
    ),
    Better(
        "d04-extend-not-active", 5, 4, reply={"error": "not_held"}, keys={"emq:{gq}:active": None}
    ),
    Better(
        "d04-extend-not-active",
        6,
        4,
        reply={"ok": ["JOB09nSpMo2C0A"]},
        keys={"emq:{gq}:active": _zset({"JOB09nSpIKi5uX": {"now_plus": 5000, "step": 5}})},
    ),
    Better(
        "d05-extend-grouped-after-reap",
        8,
        4,
        reply={"error": "not_held"},
        keys={"emq:{gq}:active": _zset({"JOB09nSpMo2C0A": {"now_plus": 600000, "step": 5}})},
    ),
    Better(
        "d05-extend-grouped-after-reap",
        9,
        3,
        keys={"emq:{gq}:g:TEN09nSpITnIC9:pending": _zset({"JOB09nSpRHMI5n": 0})},
    ),
    Better(
        "d05-extend-grouped-after-reap",
        10,
        6,
        reply={
            "ok": {
                "id": "JOB09nSpRHMI5n",
                "payload": "p3",
                "attempts": 1,
                "group": "TEN09nSpITnIC9",
            }
        },
        keys={
            "emq:{gq}:active": _zset(
                {
                    "JOB09nSpMo2C0A": {"now_plus": 600000, "step": 5},
                    "JOB09nSpRHMI5n": {"now_plus": 600000, "step": 10},
                }
            ),
            "emq:{gq}:g:TEN09nSpITnIC9:pending": None,
            "emq:{gq}:job:JOB09nSpIKi5uX": None,
            "emq:{gq}:job:JOB09nSpRHMI5n": _hash(
                {"attempts": "1", "group": "TEN09nSpITnIC9", "payload": "p3", "state": "active"}
            ),
            "emq:{gq}:ring": None,
        },
    ),
    Better(
        "d07-lock-track-missing",
        0,
        28,
        reply={"error": "gone"},
        keys={"emq:{gq}:job:JOB09nSpIKi5uX": None, "emq:{gq}:job:JOB09nSpIKi5uX:lock": None},
    ),
    Better("d07-lock-track-missing", 1, 28, reply={"ok": "unknown"}),
    Better(
        "e09-remove-grouped-active",
        4,
        10,
        keys={
            "emq:{gq}:gactive": None,
            "emq:{gq}:ring": _list(["TEN09nSpITnIC9"]),
            "emq:{gq}:wake": _list(["1", "1"]),
        },
    ),
    Better(
        "g27-grouped-delay",
        4,
        2,
        keys={
            "emq:{gq}:gactive": None,
            "emq:{gq}:ring": _list(["TEN09nSpITnIC9"]),
            "emq:{gq}:wake": _list(["1", "1"]),
        },
    ),
    Better("h05-drain-leaves-subkeys", 2, 25, keys={"emq:{gq}:job:JOB09nSpMo2C0A:lock": None}),
    Better("i04-state-grouped-waiting", 1, 30, reply={"ok": "in_lane"}),
    Better(
        "j04-grouped-dead-no-ring",
        5,
        13,
        keys={"emq:{gq}:ring": _list(["TEN09nSpITnIC9"]), "emq:{gq}:wake": _list(["1", "1"])},
    ),
    Better(
        "j07-stalled-flow-child",
        3,
        13,
        keys={
            "emq:{gq}:dead": _zset({"JOB09nSpIKi5uX": 0, "JOB09nSpMo2C0A": 0}),
            "emq:{gq}:job:JOB09nSpIKi5uX": _hash(
                {"attempts": "0", "payload": "p", "state": "dead"}
            ),
            "emq:{gq}:job:JOB09nSpIKi5uX:failed": _hash({"JOB09nSpMo2C0A": "stalled"}),
        },
    ),
    Better(
        "k07-child-complete-not-active",
        4,
        8,
        keys={
            "emq:{gq}:job:JOB09nSps7IsdZ": _hash(
                {"attempts": "0", "payload": "parent9", "state": "pending"}
            ),
            "emq:{gq}:job:JOB09nSps7IsdZ:dependencies": _string("0"),
            "emq:{gq}:job:JOB09nSps7IsdZ:processed": _hash({"JOB09nSpIKi5uX": "lost"}),
            "emq:{gq}:pending": _zset({"JOB09nSps7IsdZ": 0}),
        },
    ),
    # Not in part 10: part 7.3 lets a death climb only from a parent that it killed.
    Better("k17-tree-ignored-death-reemitted", 3, 33, keys={"emq:{gq2}:flow:outbox": None}),
    Better(
        "k19-no-children",
        0,
        31,
        reply={"error": "invalid"},
        keys={
            "emq:{gq}:job:JOB09nSps7IsdZ": None,
            "emq:{gq}:job:JOB09nSps7IsdZ:dependencies": None,
        },
    ),
    Better(
        "k21-reprocessed-child",
        6,
        33,
        keys={
            "emq:{gq}:job:JOB09nSps7IsdZ": _hash(
                {"attempts": "0", "payload": "parent9", "state": "dead"}
            ),
            "emq:{gq}:pending": None,
        },
    ),
    Better(
        "k23-cross-kind",
        0,
        31,
        keys={
            "emq:{gq2}:job:JOB09nSpIKi5uX": None,
            "emq:{gq2}:pending": None,
            "emq:{gq}:job:JOB09nSps7IsdZ": None,
            "emq:{gq}:job:JOB09nSps7IsdZ:dependencies": None,
        },
    ),
    Better(
        "k25-cross-complete-not-active",
        4,
        8,
        keys={
            "emq:{gq2}:flow:outbox": _list(
                [{"b64": "Z3EASk9CMDluU3BzN0lzZFoASk9CMDluU3BJS2k1dVgAbG9zdA=="}]
            )
        },
    ),
    Better(
        "r01-random",
        12,
        10,
        keys={"emq:{ra}:g:USR09nSpN6CYRG:pending": _zset({"JOB09nSrot3X5Y": 0})},
    ),
    Better("r04-random", 34, 2, keys={"emq:{ra}:gactive": None}),
    Better(
        "r07-random",
        36,
        4,
        reply={"ok": ["JOB09nStleoBXX", "JOB09nT4f4l0BS", "JOB09nT1hgSySf"]},
        keys={"emq:{rb}:active": _zset({"JOB09nTFGbPPOn": {"now_plus": 600000, "step": 10}})},
    ),
    Better("r13-random", 40, 10, keys={"emq:{ra}:gactive": None}),
    Better("r22-random", 18, 2, keys={"emq:{rb}:gactive": None}),
    Better("r22-random", 25, 10, keys={"emq:{rb}:gactive": _hash({"LAN09nSpRibogN": "1"})}),
    Better(
        "r22-random",
        33,
        4,
        reply={"ok": ["JOB09nTHQn8M7f", "JOB09nSu81Qfzg", "JOB09nTCsziBT6"]},
        keys={"emq:{rb}:active": _zset({"JOB09nT2LwNrHK": {"now_plus": 1, "step": 28}})},
    ),
    Better(
        "r22-random",
        42,
        3,
        keys={"emq:{rb}:pending": _zset({"JOB09nTB9dvpI0": 0, "JOB09nTBN3u7Yt": 0})},
    ),
    Better(
        "r28-random",
        31,
        11,
        keys={
            "emq:{rb}:g:TEN09nSpITnIC9:pending": _zset({"JOB09nTAQugqNi": 0}),
            "emq:{rb}:pending": None,
            "emq:{rb}:ring": _list(["LAN09nSpRibogN", "TEN09nSpITnIC9"]),
            "emq:{rb}:wake": _list(["1", "1", "1", "1"]),
        },
    ),
    Better(
        "r28-random",
        37,
        4,
        reply={"ok": ["JOB09nTAQugqNi", "JOB09nT4Ii8VjJ", "JOB09nT3wLW1HA"]},
        keys={"emq:{rb}:active": _zset({"JOB09nSrot3X5Y": {"now_plus": 600000, "step": 15}})},
    ),
    Better("r34-random", 26, 9, reply={"error": "gone"}),
    Better("r43-random", 35, 9, reply={"error": "gone"}),
    Better(
        "r46-random",
        21,
        11,
        keys={
            "emq:{rb}:g:USR09nSpN6CYRG:pending": _zset({"JOB09nSr69oYBG": 0, "JOB09nT98Or4kO": 0}),
            "emq:{rb}:pending": _zset({"JOB09nT2HT3lBh": 0, "JOB09nTHZjmYIv": 0}),
        },
    ),
    Better(
        "r46-random",
        29,
        3,
        keys={"emq:{rb}:pending": _zset({"JOB09nSr69oYBG": 0, "JOB09nT2HT3lBh": 0})},
    ),
    Better(
        "r49-random",
        29,
        11,
        keys={
            "emq:{ra}:g:USR09nSpN6CYRG:pending": _zset({"JOB09nT9HLVGve": 0, "JOB09nTFYUhnlJ": 0}),
            "emq:{ra}:pending": _zset({"JOB09nT7KZkcTf": 0, "JOB09nTHDNA3qm": 0}),
        },
    ),
    Better("r49-random", 36, 2, keys={"emq:{ra}:gactive": None}),
    Better("r52-random", 24, 25, keys={"emq:{rb}:gweight": None}),
    Better("r55-random", 13, 25, keys={"emq:{ra}:gweight": None}),
    Better(
        "r58-random",
        25,
        4,
        reply={"ok": ["JOB09nT3rsBvBX", "JOB09nSrAd8eGt"]},
        keys={"emq:{ra}:active": _zset({"JOB09nSq13x4op": {"now_plus": 1, "step": 25}})},
    ),
    Better(
        "r58-random",
        36,
        3,
        keys={
            "emq:{ra}:pending": _zset(
                {
                    "JOB09nSviQYpzW": 0,
                    "JOB09nT0BkeuYS": 0,
                    "JOB09nT5xaakki": 0,
                    "JOB09nTD1wMNeM": 0,
                    "JOB09nTGmXDTJ0": 0,
                }
            )
        },
    ),
    Better("t02-batch-edge", 1, 42, reply={"ok": []}),
    Better(
        "x15-jobs-in-both-sets-1", 4, 4, reply={"error": "not_held"}, keys={"emq:{gq}:active": None}
    ),
    Better("x15-jobs-in-both-sets-1", 5, 3, keys={"emq:{gq}:pending": None}),
    Better("x15-jobs-in-both-sets-1", 8, 5, keys={"emq:{gq}:schedule": None}),
]

_HELD = {"attempts": "1", "payload": "p1", "state": "active"}

FALL_BACK = [
    # The marker field that an engine of the record has left there stays, and never expires.
    *(
        Better(
            "d07-lock-track-missing",
            step,
            28,
            keys={"emq:{gq}:job:JOB09nSpIKi5uX": _hash({"lock": "1"})},
        )
        for step in (1, 2)
    ),
    # We write no marker field, which would refuse every removal for ever; the lock's own key
    # alone tells that a job is held.
    *(
        Better("t07-lock-beat", step, 28, keys={"emq:{gq}:job:JOB09nSpIKi5uX": _hash(_HELD)})
        for step in (4, 6, 7)
    ),
    Better(
        "t07-lock-beat",
        5,
        28,
        keys={
            "emq:{gq}:job:JOB09nSpIKi5uX": _hash(_HELD),
            "emq:{gq}:job:JOB09nSpMo2C0A": _hash(_HELD | {"payload": "p2"}),
        },
    ),
]
"""Steps that leave other keys where hash fields do not expire: `HPEXPIRE` came with Valkey 9.0 and
Redis 7.4."""
