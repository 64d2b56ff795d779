"""What a model is good for: fixed questions with known answers, and the tier that follows."""
