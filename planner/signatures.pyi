"""What type checkers and editors read of the functions of `planner`; written by docs/signatures.py."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypedDict, Unpack

from planner.decide.recommendation import Recommendation
from planner.io.answers import Answer
from planner.io.frames import Frame
from planner.scenario.values import Scenario
from planner.serve.widget import WhatIf

Words = str | float | Sequence[str | float]
File = str | Path | Frame
Config = str | Path | Mapping[str, Any]

class Common(TypedDict, total=False):
    """Keywords that say one thing everywhere."""

    clients: int | str | None
    clients_per_group: int | str | None
    M: int | str | None
    groups_per_round: int | str | None
    S1: int | str | None
    clients_per_round: int | str | None
    S2: int | str | None
    order: Literal['fixed', 'random'] | None
    fleet: File | Answer | None
    weights: Literal['samples', 'equal'] | None
    samples: str | None
    sigma: float | str | None
    smoothness: float | str | None
    L: float | str | None
    curvature_scatter: float | str | None
    fading: float | str | None
    decay: float | str | None
    initial_gap: float | str | None
    A: float | str | None
    rounds: int | str | None
    R: int | str | None
    target: float | str | None
    target_loss: float | str | None
    target_accuracy: float | str | None
    pilot: File | Answer | None
    model_size: str | None
    tiers: float | str | None
    network: str | None
    sites: str | None
    access: str | None
    bandwidth: str | None
    client_link: Literal['lan', 'datacenter', 'wifi', '5g', '4g', 'broadband', 'wan'] | None
    uplink: str | None
    downlink: str | None
    latency: str | None
    link_sharing: Literal['per-client', 'per-server'] | None
    payload: float | str | None
    hop: Literal['relayed', 'direct'] | None
    server_link: Literal['lan', 'datacenter', 'wifi', '5g', '4g', 'broadband', 'wan'] | None
    server_uplink: str | None
    server_downlink: str | None
    server_latency: str | None
    step_time: str | None
    straggler: float | str | None
    availability: float | str | None
    on_failure: Literal['fail', 'skip', 'timeout'] | None
    device: Literal['phone', 'raspberry-pi-4'] | None
    grid: Literal['world', 'china', 'finland', 'france', 'germany', 'india'] | None
    metric: Literal['loss', 'accuracy', 'gradient'] | None
    predictor: str | None
    bounds: str | None
    cap: float | str | None
    resolution: float | str | None

class Options(Common, total=False):
    """Keywords that say a scenario."""

    groups: int | str | None
    G: int | str | None
    group_rounds: int | str | None
    P: int | str | None
    local_steps: int | str | None
    K: int | str | None
    heterogeneity: File | Answer | Mapping[str, Any] | None
    data: File | Answer | Mapping[str, Any] | None
    objective: Literal['rounds', 'time', 'traffic', 'energy', 'carbon', 'money'] | None
    cost: Literal['schedule', 'formula', 'diluted'] | None
    seed: int | str | None

def load_scenario(config: Config | None = ..., settings: Mapping[str, Any] | None = ..., **options: Unpack[Options]) -> Scenario: ...

def recommend(config: Config | Scenario | None = ..., settings: Mapping[str, Any] | None = ..., *, details: bool = ..., coverage: File | None = ..., edges: int | str | None = ..., region_times: str | Sequence[str] | None = ..., save: str | Path | None = ..., output: str | Path | None = ..., report: str | Path | None = ..., force: bool = ..., **options: Unpack[Options]) -> Recommendation: ...

def what_if(config: Config | None = ..., settings: Mapping[str, Any] | None = ..., **options: Unpack[Options]) -> WhatIf: ...

def async_(config: Config | Scenario | None = ..., *, region_times: Words | None = ..., slowdowns: Words | None = ..., speed_ratio: Words | None = ..., jitter: float = ..., buffers: Words | None = ..., sub_rounds: Words | None = ..., max_staleness: int | None = ..., alpha: float | None = ..., settings: Mapping[str, Any] | None = ..., output: str | Path | None = ..., force: bool = ..., report: str | Path | None = ..., **options: Unpack[Options]) -> Answer: ...

def audit(*, paper: Words | None = ..., only: str = ..., output: str | Path | None = ..., force: bool = ..., report: str | Path | None = ...) -> Answer: ...

class bounds:
    """List, show, compare, export and check convergence bounds."""

    @staticmethod
    def check(bounds: Sequence[str] | str | None = ..., *, paper: Words | None = ..., output: str | Path | None = ..., force: bool = ..., report: str | Path | None = ...) -> Answer: ...
    @staticmethod
    def compare(first: str, second: str, *, over: Words | None = ..., x: Words | None = ..., range: Words | None = ..., settings: Mapping[str, Any] | Sequence[str] | str | None = ..., tuned: bool = ..., cap: str = ..., assume_both: bool = ..., output: str | Path | None = ..., force: bool = ..., report: str | Path | None = ...) -> Answer: ...
    @staticmethod
    def export(bounds: Sequence[str] | str | None = ..., *, all: bool = ..., format: Words | None = ..., output: str = ..., force: bool = ..., standalone: bool = ..., aligned: bool = ..., macros: bool = ..., notation: str = ..., letter: Sequence[str] | str | None = ..., settings: Mapping[str, Any] | Sequence[str] | str | None = ..., label: Words | None = ..., bare: bool = ..., tiers: Words | None = ..., passes: Words | None = ..., drawn: Words | None = ..., order: Words | None = ..., draws: Words | None = ...) -> str: ...
    @staticmethod
    def list(*, search: str = ..., paper: Words | None = ..., status: Words | None = ..., metric: Words | None = ..., output: str | Path | None = ..., force: bool = ..., report: str | Path | None = ...) -> Answer: ...
    @staticmethod
    def plot(bounds: Sequence[str] | str, *, over: str, x: str = ..., output: str | Path, range: Words | None = ..., settings: Mapping[str, Any] | Sequence[str] | str | None = ..., cap: str = ..., force: bool = ..., report: str | Path | None = ...) -> Answer: ...
    @staticmethod
    def show(bound: Words | None = ..., *, settings: Mapping[str, Any] | Sequence[str] | str | None = ..., notation: str = ..., tiers: Words | None = ..., passes: Words | None = ..., drawn: Words | None = ..., order: Words | None = ..., draws: Words | None = ..., output: str | Path | None = ..., force: bool = ..., report: str | Path | None = ...) -> Answer: ...
    @staticmethod
    def worst_case(bound: Words | None = ..., *, settings: Mapping[str, Any] | Sequence[str] | str | None = ..., tiers: Words | None = ..., passes: Words | None = ..., drawn: Words | None = ..., deltas: Words | None = ..., order: Words | None = ..., draws: str = ..., output: str | Path | None = ..., force: bool = ..., report: str | Path | None = ...) -> Answer: ...

def compare(first: File, second: File, config: Config | Scenario | None = ..., *, settings: Mapping[str, Any] | None = ..., output: str | Path | None = ..., force: bool = ..., report: str | Path | None = ..., **options: Unpack[Options]) -> Answer: ...

def estimate(model: Any, clients: Any = ..., *, loss: Callable[[Any, Any], Any] | None = ..., steps: int = ..., rate: float | None = ..., batch: int = ..., local_steps: int = ..., points: int = ..., gradients: str = ..., batches: int | None = ..., curvature_clients: int = ..., follow: int = ..., gram: File | None = ..., seed: int = ..., output: str | Path | None = ..., force: bool = ..., report: str | Path | None = ...) -> Answer: ...

def explain(code: Words | None = ..., *, output: str | Path | None = ..., force: bool = ..., report: str | Path | None = ...) -> Answer: ...

def export(source: File | None = ..., config: Config | Scenario | None = ..., *, to: str = ..., topology: Words | None = ..., rate: float | None = ..., groups_file: File | None = ..., output: str | Path | None = ..., settings: Mapping[str, Any] | None = ..., force: bool = ..., report: str | Path | None = ..., **options: Unpack[Options]) -> Answer: ...

def flip(config: Config | Scenario | None = ..., *, parameter: Sequence[str] | str | None = ..., among: Words | None = ..., map: Words | None = ..., cells: int | None = ..., settings: Mapping[str, Any] | None = ..., output: str | Path | None = ..., force: bool = ..., report: str | Path | None = ..., **options: Unpack[Options]) -> Answer: ...

def group(counts: File, config: Config | Scenario | None = ..., *, groups: int | None = ..., G: int | None = ..., sizes: Words | None = ..., min_size: int | None = ..., max_size: int | None = ..., free: bool = ..., pairs: File | None = ..., cost: File | None = ..., cost_weight: Words | None = ..., weighting: str = ..., gram: File | None = ..., moves: int | None = ..., restarts: int | None = ..., skip_empty: bool = ..., seed: int = ..., settings: Mapping[str, Any] | None = ..., group_rounds: int | str | None = ..., local_steps: int | str | None = ..., objective: Literal['rounds', 'time', 'traffic', 'energy', 'carbon', 'money'] | None = ..., output: str | Path | None = ..., force: bool = ..., report: str | Path | None = ..., **options: Unpack[Common]) -> Answer: ...

def hubs(config: Config | Scenario | None = ..., *, nodes: Words | None = ..., edges: Words | None = ..., per_node: Words | None = ..., per_hub: Words | None = ..., hubs: Words | None = ..., b_hs: Words | None = ..., b_hh: Words | None = ..., b_sh: Words | None = ..., settings: Mapping[str, Any] | None = ..., heterogeneity: File | Answer | Mapping[str, Any] | None = ..., sigma: float | str | None = ..., smoothness: float | str | None = ..., L: float | str | None = ..., initial_gap: float | str | None = ..., A: float | str | None = ..., rounds: int | str | None = ..., R: int | str | None = ..., target: float | str | None = ..., model_size: str | None = ..., client_link: Literal['lan', 'datacenter', 'wifi', '5g', '4g', 'broadband', 'wan'] | None = ..., uplink: str | None = ..., downlink: str | None = ..., latency: str | None = ..., hub_link: Literal['lan', 'datacenter', 'wifi', '5g', '4g', 'broadband', 'wan'] | None = ..., step_time: str | None = ..., objective: Literal['rounds', 'time', 'traffic', 'energy', 'carbon', 'money'] | None = ..., seed: int | str | None = ..., output: str | Path | None = ..., force: bool = ..., report: str | Path | None = ...) -> Answer: ...

def init(*, example: Words | None = ..., output: Words | None = ..., yes: bool = ..., settings: Mapping[str, Any] | None = ..., force: bool = ..., report: str | Path | None = ..., **options: Unpack[Options]) -> Answer: ...

def measure(counts: File, *, gram: File | None = ..., scale: Words | None = ..., weighting: Words | None = ..., counts_are: str = ..., groups_are: Words | None = ..., skip_empty: bool = ..., seed: int = ..., output: str | Path | None = ..., force: bool = ..., report: str | Path | None = ...) -> Answer: ...

def network(action: str, source: File, config: Config | Scenario | None = ..., *, fleet: File | None = ..., server: Words | None = ..., group_servers: File | None = ..., tiers: Words | None = ..., bandwidth: Words | None = ..., latency_model: Words | None = ..., up: Words | None = ..., down: Words | None = ..., bandwidths: File | None = ..., access: File | None = ..., fill: Words | None = ..., routing: str = ..., counts: File | None = ..., layout: str | Path | None = ..., settings: Mapping[str, Any] | None = ..., group_rounds: int | str | None = ..., P: int | str | None = ..., local_steps: int | str | None = ..., K: int | str | None = ..., heterogeneity: File | Answer | Mapping[str, Any] | None = ..., data: File | Answer | Mapping[str, Any] | None = ..., sigma: float | str | None = ..., smoothness: float | str | None = ..., L: float | str | None = ..., initial_gap: float | str | None = ..., A: float | str | None = ..., rounds: int | str | None = ..., R: int | str | None = ..., model_size: str | None = ..., step_time: str | None = ..., seed: int | str | None = ..., output: str | Path | None = ..., force: bool = ..., report: str | Path | None = ...) -> Answer: ...

def overlap(coverage: File, config: Config | Scenario | None = ..., *, strong_convexity: Words | None = ..., mu: Words | None = ..., target: Words | None = ..., upload: str = ..., objective: str = ..., settings: Mapping[str, Any] | None = ..., edge_rounds: int | str | None = ..., Ge: int | str | None = ..., local_steps: int | str | None = ..., E: int | str | None = ..., heterogeneity: File | Answer | Mapping[str, Any] | None = ..., data: File | Answer | Mapping[str, Any] | None = ..., sigma: float | str | None = ..., smoothness: float | str | None = ..., L: float | str | None = ..., initial_gap: float | str | None = ..., A: float | str | None = ..., rounds: int | str | None = ..., R: int | str | None = ..., pilot: File | Answer | None = ..., model_size: str | None = ..., client_link: Literal['lan', 'datacenter', 'wifi', '5g', '4g', 'broadband', 'wan'] | None = ..., uplink: str | None = ..., downlink: str | None = ..., latency: str | None = ..., link_sharing: Literal['per-client', 'per-server'] | None = ..., server_link: Literal['lan', 'datacenter', 'wifi', '5g', '4g', 'broadband', 'wan'] | None = ..., step_time: str | None = ..., seed: int | str | None = ..., output: str | Path | None = ..., force: bool = ..., report: str | Path | None = ...) -> Answer: ...

def picture(kind: str, config: Config | Scenario | None = ..., *, output: str | Path, data: Sequence[File] | File | None = ..., force: bool = ..., settings: Mapping[str, Any] | None = ..., groups: int | str | None = ..., group_rounds: int | str | None = ..., local_steps: int | str | None = ..., heterogeneity: File | Answer | Mapping[str, Any] | None = ..., objective: Literal['rounds', 'time', 'traffic', 'energy', 'carbon', 'money'] | None = ..., cost: Literal['schedule', 'formula', 'diluted'] | None = ..., seed: int | str | None = ..., report: str | Path | None = ..., **options: Unpack[Common]) -> Answer: ...

def pilot(model: Any = ..., clients: Any = ..., *, loss: Callable[[Any, Any], Any] | None = ..., test: tuple[Any, Any] | None = ..., topologies: Sequence[str] = ..., data: File | None = ..., proxy: Words | None = ..., rounds: int = ..., metric: str = ..., within: Words | None = ..., local_steps: int = ..., K: int = ..., group_rounds: Words | None = ..., P: Words | None = ..., drawn: Words | None = ..., order: str = ..., weights: str = ..., topology: Words | None = ..., systems: str = ..., coverage: Words | None = ..., edges: Words | None = ..., slowdowns: Words | None = ..., speed_ratio: Words | None = ..., buffer: Words | None = ..., rates: Words | None = ..., seeds: int = ..., batch: int = ..., measured: int = ..., workers: int = ..., engine: str = ..., device: str = ..., seed: int = ..., output: str | Path | None = ..., force: bool = ..., report: str | Path | None = ...) -> Answer: ...

def rerun(manifest: File, *, check: bool = ..., tolerance: float = ..., output: str | Path | None = ..., force: bool = ..., report: str | Path | None = ...) -> Answer: ...

def schema(of: Words | None = ..., *, output: str | Path | None = ..., force: bool = ...) -> str: ...

def serve(*, config: File | None = ..., port: int = ..., expose: Words | None = ..., open: bool = ..., output: str | Path | None = ..., force: bool = ...) -> None: ...

def tune(config: Config | Scenario | None = ..., *, local_steps: Words | None = ..., K: Words | None = ..., group_rounds: Words | None = ..., P: Words | None = ..., topology: Words | None = ..., within: Words | None = ..., traffic: Words | None = ..., budget: Sequence[str] | str | None = ..., objective: Words | None = ..., settings: Mapping[str, Any] | None = ..., groups: int | str | None = ..., heterogeneity: File | Answer | Mapping[str, Any] | None = ..., cost: Literal['schedule', 'formula', 'diluted'] | None = ..., seed: int | str | None = ..., output: str | Path | None = ..., force: bool = ..., report: str | Path | None = ..., **options: Unpack[Common]) -> Answer: ...

class validate:
    """Run the algorithms to see which predictions hold."""

    @staticmethod
    def export(*, store: str | Path = ..., output: str | Path | None = ..., force: bool = ..., report: str | Path | None = ...) -> Answer: ...
    @staticmethod
    def list(*, output: str | Path | None = ..., force: bool = ..., report: str | Path | None = ...) -> Answer: ...
    @staticmethod
    def report(*, store: str | Path = ..., pictures: str | Path | None = ..., output: str | Path | None = ..., force: bool = ..., report: str | Path | None = ...) -> Answer: ...
    @staticmethod
    def resume(*, store: str | Path = ..., workers: int = ..., engine: str = ..., device: str = ..., memory: float | None = ..., local_steps: Words | None = ..., output: str | Path | None = ..., force: bool = ..., report: str | Path | None = ...) -> Answer: ...
    @staticmethod
    def run(claims: Sequence[str] | str | None = ..., *, quick: bool = ..., store: str | Path = ..., workers: int = ..., engine: str = ..., device: str = ..., memory: float | None = ..., local_steps: Words | None = ..., output: str | Path | None = ..., force: bool = ..., report: str | Path | None = ...) -> Answer: ...
