"""Work in a process of its own, with limits: asked from outside (`process`), done inside (`serving`) within a `budget`.

`process` imports nothing slow, so that a worker can be started before anything else.
"""
