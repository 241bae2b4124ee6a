"""Animals and orders as CSV, for spreadsheets: what goes out, and what comes in."""
