"""The 16 tools of the text-retail environment (DESIGN §10), each workflow on a store of its own."""
