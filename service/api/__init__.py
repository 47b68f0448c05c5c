"""REST features: routes, schemas and services."""
