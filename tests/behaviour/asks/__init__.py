"""How often people are asked for a yes: 60 everyday requests, the recorded runs and the attacks of the hostile suite.

The home, the agent, its rules and its loop are real; the model says what a good one
would. `script/asks` counts.
"""
