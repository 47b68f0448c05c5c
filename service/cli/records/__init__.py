"""xetune records: results of other tuners."""
