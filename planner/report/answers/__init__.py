"""What each command answers beside `recommend`, one file each."""
