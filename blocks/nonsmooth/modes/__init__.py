"""Which elements stick or touch, and with what effort, between events?

Words: an element is *idle* where its law leaves it no choice, *dead* where nothing it does changes
its own rate, *open* where the motion does not determine its effort (static indeterminacy), and it
*pins* a state that it holds constant.
"""
