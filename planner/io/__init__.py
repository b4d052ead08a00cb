"""Files and documents that others wrote, and files that are written whole or not at all."""
