"""The agent host: a durable LangGraph graph that asks the memory before it acts (DESIGN §4, §5).

One workflow is one thread of the graph with one checkpoint file. The host dispatches what it is
allowed to, once an attempt, and recovers only by asking the memory again.
"""

import os

# Before anything of LangChain is imported: nothing is traced, nothing leaves this process, and a
# checkpoint can only bring back types that are expected in one.
os.environ["LANGSMITH_TRACING"] = "false"
os.environ["LANGCHAIN_TRACING_V2"] = "false"
os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"
