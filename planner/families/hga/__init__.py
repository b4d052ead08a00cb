"""Asynchronous hierarchical federated learning (HGA-FL): a server with a buffer for the updates of slow regions."""
