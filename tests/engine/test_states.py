"""The table verb by state, held against the verbs themselves."""

import pytest

from queue_core.outcomes import OUTCOME_OF, Outcome, Word
from queue_core.reads.jobs import get_job_state
from queue_core.states import MOVES, VERBS, State, step
from queue_core.verbs import admission, claims, due, jobs, lanes, settle
from tests.builders import HOUR, a_lane, command

DO = {
    "enqueue": lambda q, job: admission.enqueue(q, job.id, b""),
    "enqueue_at": lambda q, job: admission.enqueue_at(q, job.id, b"", HOUR),
    "lane_enqueue": lambda q, job: admission.lane_enqueue(q, a_lane(), job.id, b""),
    "complete": lambda q, job: settle.complete(q, job.id, job.token),
    "retry": lambda q, job: settle.retry(q, job.id, job.token, HOUR, 99, b"e"),
    "retry_at_cap": lambda q, job: settle.retry(q, job.id, job.token, HOUR, 0, b"e"),
    "delay": lambda q, job: settle.delay(q, job.id, job.token, HOUR),
    "extend_lock": lambda q, job: settle.extend_lock(q, job.id, job.token, HOUR),
    "update_data": lambda q, job: jobs.update_data(q, job.id, b"new"),
    "update_progress": lambda q, job: jobs.update_progress(q, job.id, b"50"),
    "add_log": lambda q, job: jobs.add_log(q, job.id, b"line"),
    "remove_job": lambda q, job: jobs.remove_job(q, job.id),
    "reprocess_job": lambda q, job: jobs.reprocess_job(q, job.id),
    "reschedule": lambda q, job: jobs.reschedule(q, job.id, 5),
    "run_now": lambda q, job: jobs.run_now(q, job.id),
}
MOVE = {
    "claim": lambda q: claims.claim(q, HOUR),
    "lane_claim": lambda q: claims.lane_claim(q, HOUR),
    "promote": lambda q: due.promote(q, 9),
    "reap": lambda q: due.reap(q),
    "check_stalled": lambda q: due.check_stalled(q),
}


@pytest.mark.parametrize("verb", DO)
def test_a_verb_leads_from_each_state_where_the_table_says(run, q, make, verb):
    for state in State:
        job = make.state(state)
        answer = run(DO[verb](q, job))
        expected = step(verb, state)
        word = Word.ok if isinstance(answer, int) else answer
        assert word is expected.word, f"{verb} of a job that is {state}"
        assert run(get_job_state(q, job.id)).value in expected.to, f"{verb} from {state}"


def test_a_job_moves_to_another_lane_only_while_it_waits_in_one(run, q, make):
    for state in State:
        job = make.state(state)
        if state not in (State.absent, State.in_lane):
            run(command("HSET", q.row(job.id), "group", a_lane()))
        expected = step("lane_reassign", state)
        assert run(lanes.reassign(q, job.id, a_lane())) is expected.word
        assert run(get_job_state(q, job.id)).value in expected.to


@pytest.mark.parametrize("move", MOVE)
def test_a_move_takes_only_the_states_it_is_told_for(run, q, make, move):
    for state in State:
        job = make.state(state)
        run(command("ZADD", q.active, "XX", 1, job.id))
        run(command("ZADD", q.schedule, "XX", 1, job.id))
        run(MOVE[move](q))
        reached = MOVES[move].get(state, (state,))
        assert run(get_job_state(q, job.id)).value in reached, f"{move} of {state}"
        run(jobs.remove_job(q, job.id))


def test_every_verb_of_the_table_is_tried(run):
    assert set(DO) | {"lane_reassign"} == set(VERBS)
    assert set(MOVE) | {"fan_in", "fail_parent"} == set(MOVES)


def test_a_refusal_says_why_and_moves_nothing():
    for verb, states in VERBS.items():
        assert set(states) == set(State), verb
        for state, entry in states.items():
            if OUTCOME_OF[entry.word] is Outcome.done:
                assert entry.allowed
            else:
                assert entry.why, f"{verb} of {state} is refused without a reason"
                assert entry.to == (state,)
