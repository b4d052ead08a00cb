"""How sure an answer is: what it was told is drawn, and other proofs are asked."""
