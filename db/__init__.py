"""Tables, transactions and queries. Strings, numbers and JSON go in; rows come out. Imports no other room."""
