"""codemojex, the running example: a guessing game whose players make the load of a demo bus.

Everything runs on the real engine; the only simulated part is the chat endpoint.
"""
