"""Hybrid hierarchical federated learning (HHFL): clients that several edge servers reach."""
