"""``hfl-plan serve``: a local page on which a fleet is built and the answer moves; the light path answers it.

Needs the extra ``web``. `planner.serve.app` imports it; nothing else here does.
"""

from planner.io.packages import called

called(__name__)
