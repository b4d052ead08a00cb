"""Networks as they are: links between places, what a transfer takes, where servers stand, in which order rings run."""

from planner.io.packages import called

called(__name__)
