"""Our agent beside those that ship with Home Assistant, in one Home Assistant, against one scripted model server.

Run it with `script/bench`. Each part can be read alone: `model_server` plays the
services, `home` starts a home of any size, `agents` sets everybody up in it, `turns`
says something and listens, `cost`, `prompts`, `growth`, `memory` and `start` each
measure one kind of thing, `worker` is the process in which they do, `__main__` runs
them all, and `results`, `targets`, `page` and `plots` make sense of what comes out.
"""
