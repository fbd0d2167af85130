"""Every service fails in every way at once, and every turn still ends well.

Thousands of turns of the real conversation entity, in a real Home Assistant, with
servers on loopback that refuse, reset, stall, cut, send garbage and talk nonsense. What
happens in a turn is drawn from a seed and the number of the turn; turns overlap, some
are broken off, and after each one it is checked that

- something is said, at its end and while it streams, and nothing of a call or of markup
  (`verdict.py`);
- it ended by its deadline, or so little after it that nobody notices
  (`tests/support/loop_clock.py`);
- no tool ran twice for the same call, and none after the end of its turn (`home.py`);
- nothing that needs a yes was done without one, and nothing more often than was agreed
  (`people.py`): people say yes, no and nonsense, in the right room and in another, by
  voice, by phone and by both at once, and too late;
- every call in the ChatLog has its one result, also where the person broke in;
- nothing was logged as an error, and no exception was left to the event loop.

Over all turns memory, tasks and open files stay as they were (`footprint.py`).

    script/test tests/behaviour/chaos                        as in the whole test run: 2,000 turns
    script/test tests/behaviour/chaos --chaos-turns 10000    before a release, or after a change of the loop
    script/test tests/behaviour/chaos --numprocesses 2       both kinds of agents at once, as the whole run does it
    script/test tests/behaviour/chaos --chaos-seed 7         other turns
    script/test tests/behaviour/chaos --chaos-seed 7 --chaos-turn 4711
                                                             one turn, after those before it in its conversation

Beside these turns, a server of its own sends more than a hundred harmful answers
(`harmful_answers.py`): floods, bombs, redirects, wrong lengths, endless words. After
each one, something was said, the event loop was held for no more than 50 ms of
processor time at a stretch, and memory has grown by no more than 50 MB
(`test_harmful_answers.py`).

A failure prints the last line for itself. What the services do in a turn is the same in
a replay; how it meets what other turns do at that moment is not, so a replay that
passes points to something that turns share.

Knows the entity, its options and the wire formats from the servers' side
(`tests/agent/providers/contract`). Must not know anything else of the inside of
Chatterbox.
"""
