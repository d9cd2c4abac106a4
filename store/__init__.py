"""PostgreSQL: named queries and migrations; the place where "only once" is enforced."""
