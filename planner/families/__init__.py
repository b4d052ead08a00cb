"""What other families of algorithms would take: single tiers, HHFL, HSL and HGA-FL."""
