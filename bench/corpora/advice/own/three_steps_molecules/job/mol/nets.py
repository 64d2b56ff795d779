import torch
from ogb.graphproppred.mol_encoder import AtomEncoder, BondEncoder
from torch import nn
from torch_geometric.nn import GINEConv, global_mean_pool


class GINENet(nn.Module):
    def __init__(self, hidden, layers, dropout):
        super().__init__()
        self.atom = AtomEncoder(hidden)
        self.bonds = nn.ModuleList(BondEncoder(hidden) for _ in range(layers))
        self.convs = nn.ModuleList(
            GINEConv(nn.Sequential(nn.Linear(hidden, 2 * hidden), nn.ReLU(), nn.Linear(2 * hidden, hidden)))
            for _ in range(layers))
        self.norms = nn.ModuleList(nn.BatchNorm1d(hidden) for _ in range(layers))
        self.drop = nn.Dropout(dropout)
        self.out = nn.Linear(hidden, 1)

    def forward(self, g):
        x = self.atom(g.x)
        for conv, norm, bond in zip(self.convs, self.norms, self.bonds):
            x = x + self.drop(torch.relu(norm(conv(x, g.edge_index, bond(g.edge_attr)))))
        return self.out(global_mean_pool(x, g.batch)).squeeze(-1)
