"""Questions, and the predictors that answer them."""
