"""From answers to documents, and from documents to bytes."""
