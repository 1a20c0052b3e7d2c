"""The viewer in the browser: a live simulation, or the replay of a run.

`Live` and `Replay` step or read in a thread of their own and publish what there is to see by swapping one reference. A
`Broadcaster` looks at the newest of it and sends it to the browsers, as often as they can bear. Who looks never slows what is
looked at.
"""
