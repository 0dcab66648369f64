"""Child processes of an API process: long work, in fair shares.

A thread is no place for long work in Python, since it takes the interpreter from the event loop again and again. One
optimization made another tenant's list 86 times as slow. So what can pass 20 ms (`heavy` in its row) is a function of
an area's `child.py`, called by `shared.in_child` in a calculator: a warm confined child with a lower priority. An
order is a pickle with its arrays behind it; 100,000 loans take 5 ms to arrive. The first calculator starts five
seconds after its process.
"""
