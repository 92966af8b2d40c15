"""The paper's four-arm study: conversations, tasks, split, hypotheses, published values."""
