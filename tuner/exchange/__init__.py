"""What tuning found, as files that go from one database to another."""
