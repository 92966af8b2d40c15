"""The continuity axis: which crashes there are, and how a batch of them is carried out."""
