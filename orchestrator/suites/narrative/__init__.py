"""What people told the memory over days and weeks, asked back (ATANT; DESIGN §4)."""
