"""The operations: one module each, each a builder that computes a draft from a snapshot."""
