"""Pages of records: results of other tuners."""
