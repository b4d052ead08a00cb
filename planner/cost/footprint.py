"""Energy, carbon and money of one global round, by part; what no number is known for is named, and not guessed.

Clients that take part draw power all round long: at their local steps, while they send or receive, and while they wait
for others. The network takes energy for each byte. Servers are not counted. Sources of the parts: Qiu et al., 2021
(arXiv:2102.07627) and Savazzi et al., 2021 (arXiv:2103.10346) count training and communication likewise.
"""

from __future__ import annotations

from dataclasses import dataclass

from planner.cost.patterns import schedules
from planner.cost.round import RoundCost, RoundSpec
from planner.cost.uneven import at_work, on_air
from planner.cost.wires import wire
from planner.scenario.footprint import BYTES_PER_GB, J_PER_KWH, Coefficient, Rates, total
from planner.scenario.network import link_names


@dataclass(frozen=True, slots=True)
class Footprint:
    """What one global round takes."""

    joules: dict[str, Coefficient]  # by part: ``training``, ``radio``, ``waiting``, ``network``; those that are known
    energy: Coefficient | None  # their sum [J]
    carbon: Coefficient | None  # of that energy [kg CO2e]; None where the grid is not known
    # of devices, electricity and traffic, in the currency of the prices; None where no price is known
    money: Coefficient | None
    unknown: tuple[str, ...]  # parts that are left out, for want of a number


def footprint(spec: RoundSpec, cost: RoundCost, rates: Rates) -> Footprint:
    """Work out what a round takes, from its time, its traffic and what devices and links draw.

    A client sends and receives at the full rate of its link here, also where the rate is shared. Without a power of the
    radio, that time counts as waiting.
    """
    if spec.topology.uneven:
        devices, work = at_work(spec)
    else:
        devices = spec.topology.taking_part
        work = spec.topology.work(spec.K) * spec.compute.step_time  # device-seconds, as all below
    air = _on_air(spec) if "radio_power" in rates else 0.0
    seconds = {"training": work, "radio": air, "waiting": max(devices * cost.seconds - work - air, 0.0)}
    powers = {"training": "training_power", "radio": "radio_power", "waiting": "idle_power"}
    joules = {part: rates[power].times(seconds[part]) for part, power in powers.items() if power in rates}
    unknown = [part for part, power in powers.items() if power not in rates and part != "radio"]
    device = total(joules.values()) if joules else None
    links = link_names(spec.topology.depth)
    carried = {link: moved for link, moved in zip(links, cost.bytes_by_tier, strict=True) if moved}
    if any(f"{link}.energy" not in rates for link in carried):
        unknown.append("network")
    if known := [rates[rate].times(moved) for link, moved in carried.items() if (rate := f"{link}.energy") in rates]:
        joules["network"] = total(known)
    energy = total(joules.values()) if joules else None
    bill: list[Coefficient] = []
    if "device_hour" in rates:
        bill.append(rates["device_hour"].times(devices * cost.seconds / 3600))
    if "kwh" in rates and device:
        bill.append(rates["kwh"].times(device.times(1 / J_PER_KWH)))
    prices = {f"{link}.price": moved / BYTES_PER_GB for link, moved in carried.items()}
    bill += [rates[price].times(gigabytes) for price, gigabytes in prices.items() if price in rates]
    carbon = rates["carbon"].times(energy) if "carbon" in rates and energy else None
    return Footprint(joules, energy, carbon, total(bill) if bill else None, tuple(unknown))


def _on_air(spec: RoundSpec) -> float:
    """Device-seconds of sending and receiving on the links of clients."""
    if spec.topology.uneven:
        return on_air(spec)
    tier, link = spec.topology.tiers[-1], spec.network.links[-1]
    nodes = tier.passes
    for above in spec.topology.tiers[:-1]:
        nodes *= above.passes * above.taking_part
    return nodes * schedules()[tier.pattern.id].on_air(tier.taking_part, wire(link, spec.model_bytes))
