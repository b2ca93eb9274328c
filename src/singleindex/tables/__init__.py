"""Tables as people have them: what each column is, and how columns become the numbers a model takes."""
