"""Where simulated jobs run: one pool of GPUs, or nodes that have them and can fail."""

from schedmate.simulator.cluster.base import Cluster, Place
from schedmate.simulator.cluster.kinds import Kinds
from schedmate.simulator.cluster.nodes import Nodes
from schedmate.simulator.cluster.pool import Pool

__all__ = ["Cluster", "Kinds", "Nodes", "Place", "Pool"]
