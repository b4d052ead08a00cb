"""From questions to answers: ranking, sensitivity, uncertainty, and the search over counts."""
