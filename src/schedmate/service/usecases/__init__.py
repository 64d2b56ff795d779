"""What a person can ask for, one module each: shared by the verbs and by an API."""
