"""What people and machines read of a run: terminal table, report.html, junit.xml."""
